"""From signing in to submitting, in Hebrew: pages and texts run from right to left, and marks stay in their places."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from annotate.models import Assignment
from collection.models import Highlight, Judgment, RubricElement, Study, Topic, User
from tests.annotate.factories import a_report_task, an_open_study, enrolled
from tests.browser import check_accessibility, check_no_sideways_scroll, close_new_guidelines
from tests.factories import PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.by_hand]

REPORT = "הדבורים מחפשות בית חדש. הסיירות רוקדות ריקוד נענוע, והוא אומר לאן לעוף.\nבסוף הנחיל עף אל העץ החלול.\n"
QUESTION = "מה אומר ריקוד הנענוע?"


@pytest.fixture
def hebrew(study: Study, ada: User, ben: User) -> Study:
    """An open study whose pages, topic, question and report are in Hebrew."""
    Study.objects.update(language="he", title="דבורים")
    User.objects.update(language="he")
    Topic.objects.update(attributes={"language": "he"}, title="נחיל", request="כתבו על הדרך שבה נחיל בוחר בית.")
    RubricElement.objects.update(text=QUESTION)
    study.refresh_from_db()
    a_report_task(study, REPORT)
    for person in (ada, ben):
        enrolled(person, an_open_study(study))
    return study


def picture(page: Page, name: str) -> None:
    """Keep a screenshot where SCREENSHOTS says."""
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=Path(folder) / f"{name}.png")


def test_people_sign_in_mark_and_submit(open_page: Callable[..., Page], hebrew: Study) -> None:
    laptop: ViewportSize = {"width": 1366, "height": 768}
    phone: ViewportSize = {"width": 390, "height": 844}
    for username, size, scheme in (("ada", laptop, "light"), ("ben", phone, "dark")):
        page = open_page(locale="he-IL", viewport=size, color_scheme=scheme)
        name = f"hebrew-{size['width']}"

        _signs_in_and_begins(page, username, name)
        _marks_and_submits(page, name)

        judgments = Judgment.objects.filter(rater__user__username=username).order_by("item")
        assert Assignment.objects.get(rater__user__username=username).state == Assignment.State.SUBMITTED, username
        assert Highlight.objects.get(judgment__in=judgments).quote == "הסיירות רוקדות ריקוד נענוע, והוא אומר לאן לעוף."
        assert list(judgments.values_list("grade", "unsure")) == [
            (1, True), (0, False), (0, False),
        ], username  # fmt: skip


def _signs_in_and_begins(page: Page, username: str, name: str) -> None:
    page.goto("/sign-in/")
    expect(page.locator("html[lang=he][dir=rtl]")).to_have_count(1)
    check_accessibility(page)
    picture(page, f"{name}-1-sign-in")
    page.locator("[name=username]").fill(username)
    page.locator("[name=password]").fill(PASSWORD)
    page.locator("[name=password]").press("Enter")

    expect(page).to_have_url("/work/")
    picture(page, f"{name}-2-work")
    check_no_sideways_scroll(page)
    page.locator("main form button").first.click()

    expect(page.locator("#assignment.live")).to_be_visible()
    close_new_guidelines(page)
    text = page.locator("#text p").first
    assert text.evaluate("one => getComputedStyle(one).direction") == "rtl"
    check_accessibility(page)
    check_no_sideways_scroll(page)
    picture(page, f"{name}-3-task")
    _reads_the_guidelines_beside_the_task(page)


def _reads_the_guidelines_beside_the_task(page: Page) -> None:
    page.keyboard.press("g")
    panel, questions = page.locator("#guidelines").bounding_box(), page.locator("#questions").bounding_box()
    assert panel
    assert questions
    on_a_phone = panel["y"] > 100
    assert panel["x"] == 0
    assert on_a_phone or panel["width"] <= questions["x"]
    page.keyboard.press("g")
    expect(page.locator("#guidelines")).to_be_hidden()


def _marks_and_submits(page: Page, name: str) -> None:
    page.keyboard.press("t")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("s")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    page.keyboard.press("q")
    expect(page.locator(".question:visible .chip")).to_have_count(1)
    expect(page.locator("#saving")).to_have_attribute("data-state", "saved")
    picture(page, f"{name}-4-marked")
    for _ in range(2):
        page.keyboard.press("ArrowLeft")  # the next question stands on the left
        page.keyboard.press("0")
    page.keyboard.press("?")
    picture(page, f"{name}-5-keys")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+Enter")

    expect(page.locator("#assignment")).to_have_count(0)
    picture(page, f"{name}-6-done")
