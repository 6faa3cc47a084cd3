"""Judging citations like a person: by keyboard, with marks in two passages, and on a phone."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from annotate.models import Assignment
from collection.models import Collection, Highlight, Judgment, User
from tests.annotate.cited_reports import with_cited_reports
from tests.annotate.task_types.test_relevance_and_nuggets import first_assignment, opened
from tests.annotate.work.test_assignment_in_browser import press, saved
from tests.browser import SignIn, check_accessibility, check_no_sideways_scroll

pytestmark = pytest.mark.browser


def picture(page: Page, name: str) -> None:
    if folder := os.environ.get("PICTURES"):
        page.screenshot(path=Path(folder) / f"citation-{name}.png", full_page=True)


def test_citations_are_judged_by_keyboard_and_on_a_phone(
    page: Page, phone: Page, sign_in: SignIn, collection: Collection, ada: User, ben: User
) -> None:
    with_cited_reports(collection)
    said = {"text": "Der Rat zahlte.", "language": "de", "by": "Ada", "kind": "human"}
    collection.passages.filter(passage_id="c-2").update(translation=said)
    opened(collection, "citation_support", ada, overlap=1)
    sign_in(page, ada)
    assignment = first_assignment(page, ada)
    check_accessibility(page)

    _a_citation_in_the_report_leads_to_its_question(page)
    _judges_citations_with_marks_in_two_passages(page, assignment)

    opened(collection, "citation_support", ben, overlap=1)
    sign_in(phone, ben)
    _judges_citations_by_touch(phone, ben)


def _a_citation_in_the_report_leads_to_its_question(page: Page) -> None:
    page.locator("a.cite").nth(2).click()

    expect(page.locator(".report-sentence.at-hand")).to_contain_text("It cost nine hundred")
    expect(page.locator("a.cite[aria-current]")).to_have_text("2")
    page.locator("a.cite").first.click()


def _judges_citations_with_marks_in_two_passages(page: Page, assignment: Assignment) -> None:
    at_hand, passage = page.locator(".report-sentence.at-hand"), page.locator(".cited:visible")

    expect(at_hand).to_contain_text("The bridge was built of oak.")
    expect(passage).to_contain_text("The first bridge")
    press(page, "t", "s", "Enter", "Escape", "4")
    expect(passage).to_contain_text("The council paid")
    _undoing_in_another_passage_keeps_its_marks(page)
    press(page, "4")
    expect(passage).to_contain_text("The council paid")
    expect(passage.get_by_role("complementary", name="Translation")).to_contain_text("Der Rat zahlte.")
    check_accessibility(page)
    picture(page, "translation")
    press(page, "2")
    expect(at_hand).to_contain_text("It cost nine hundred florins.")
    press(page, "t", "s", "Enter", "Escape", "3")
    expect(at_hand).to_contain_text("What follows")
    expect(passage).to_have_text("This sentence cites nothing.")
    press(page, "0")
    page.wait_for_url(re.compile(rf"/work/(?!{assignment.pk}/)"))

    given = Judgment.objects.filter(item__asked__assignment=assignment).order_by("item")
    assert list(given.values_list("criterion__name", "grade")) == [
        ("citation_support", 2),
        ("citation_support", 0),
        ("citation_support", 1),
        ("citation_need", 0),
    ]
    marks = Highlight.objects.filter(judgment__in=given).order_by("judgment__item")
    assert list(marks.values_list("quote", "purpose")) == [
        ("The first bridge, of 1380, was of oak.", "rationale"),
        ("The council paid nine hundred florins for a bridge of stone.", "rationale"),
    ]


def _undoing_in_another_passage_keeps_its_marks(page: Page) -> None:
    press(page, "u")
    saved(page)

    expect(page.locator(".cited:visible")).to_contain_text("The first bridge")
    expect(page.locator(".question:visible .chip")).to_contain_text("The first bridge, of 1380, was of oak.")


def _judges_citations_by_touch(phone: Page, ben: User) -> None:
    assignment = first_assignment(phone, ben)
    check_no_sideways_scroll(phone)
    check_accessibility(phone)

    for number in range(1, 5):
        expect(phone.locator(".question:visible")).to_have_attribute("data-number", str(number))
        phone.locator(".question:visible label.choice").nth(1).tap()
    phone.wait_for_url(re.compile(rf"/work/(?!{assignment.pk}/)"))

    assignment.refresh_from_db()
    assert assignment.state == Assignment.State.SUBMITTED
