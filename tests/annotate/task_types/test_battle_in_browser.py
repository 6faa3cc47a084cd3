"""Battles like a person: by keyboard at a laptop, and with a thumb on a phone."""

from __future__ import annotations

import re

import pytest
from django.db.models import Value
from django.db.models.functions import Concat
from playwright.sync_api import Page, expect

from annotate.models import Assignment
from collection.models import Judgment, Report, User
from collection.models.studies import TaskType
from tests.annotate.battles import a_collection_with_reports, a_study_of_battles
from tests.annotate.evaluated_answers import rows_of
from tests.annotate.task_types.test_relevance_and_nuggets import first_assignment
from tests.annotate.work.test_grades_in_view import LAPTOPS, LONG_TEXT, UNSEEN, lists_of_grades, picture
from tests.browser import SignIn, check_accessibility, check_no_sideways_scroll

pytestmark = pytest.mark.browser


@pytest.fixture
def long_reports(rosa: User, ada: User, ben: User) -> None:
    a_study_of_battles(a_collection_with_reports(rosa), ada, ben)
    Report.objects.filter(run__name="birch-1").update(text=Concat("text", Value("\n" + LONG_TEXT)))
    Report.objects.exclude(run__name="birch-1").update(text=Concat("text", Value("\n" + LONG_TEXT * 2)))


def grade_of(assignment: Assignment) -> float | None:
    return Judgment.objects.get(item__asked__assignment=assignment).grade


def test_two_reports_are_compared_by_keyboard_and_on_a_phone(
    page: Page, phone: Page, sign_in: SignIn, long_reports: None, ada: User, ben: User
) -> None:
    sign_in(page, ada)
    assignment = first_assignment(page, ada)
    check_accessibility(page)

    for width, height in LAPTOPS:
        page.set_viewport_size({"width": width, "height": height})
        _both_reports_have_equal_room_and_all_grades_are_in_view(page, width, height)
    page.set_viewport_size({"width": 1280, "height": 800})
    _reports_scroll_each_on_their_own_or_together(page)
    _one_key_judges_a_pair_and_goes_on(page, assignment)

    sign_in(phone, ben)
    _on_a_phone_one_report_is_seen_at_a_time(phone, ben)


def _both_reports_have_equal_room_and_all_grades_are_in_view(page: Page, width: int, height: int) -> None:
    expect(page.locator("#assignment.live")).to_be_visible()
    boxes = [one.bounding_box() for one in page.locator(".side").all()]

    left, right = (box for box in boxes if box)
    picture(page, f"battle-{width}")
    assert [left[name] for name in ("y", "width", "height")] == pytest.approx(
        [right[name] for name in ("y", "width", "height")], abs=0.1
    )
    assert left["x"] + left["width"] < right["x"]
    assert left["height"] > height / 3
    assert lists_of_grades(page).evaluate_all(UNSEEN) == []


def _reports_scroll_each_on_their_own_or_together(page: Page) -> None:
    left, right = page.locator(".side").all()
    tops = "sides => sides.map((side) => side.scrollTop / (side.scrollHeight - side.clientHeight))"

    left.evaluate("side => side.scrollTo(0, side.scrollHeight)")
    page.wait_for_timeout(100)
    assert page.locator(".side").evaluate_all(tops) == pytest.approx([1, 0], abs=0.01)
    page.get_by_role("button", name="Scroll together").click()
    left.evaluate("side => side.scrollTo(0, (side.scrollHeight - side.clientHeight) / 2)")
    page.wait_for_function(
        f"() => ({tops})([...document.querySelectorAll('.side')]).every((top) => Math.abs(top - 0.5) < 0.02)"
    )

    page.wait_for_timeout(100)  # what the other side's own scrolling would move has moved
    assert page.locator(".side").evaluate_all(tops) == pytest.approx([0.5, 0.5], abs=0.02)
    right.evaluate("side => side.scrollTo(0, 0)")
    page.wait_for_function("() => document.querySelector('[data-side=left]').scrollTop < 1")
    page.reload()
    expect(page.get_by_role("button", name="Scroll together")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#assignment.live")).to_be_visible()


def _one_key_judges_a_pair_and_goes_on(page: Page, assignment: Assignment) -> None:
    [row] = rows_of(assignment, TaskType.BATTLE)

    page.keyboard.press("1")
    page.wait_for_url(re.compile(rf"/work/(?!{assignment.pk}/)"))

    assert grade_of(assignment) == (-1 if row.swapped else 1)
    assignment.refresh_from_db()
    assert assignment.state == Assignment.State.SUBMITTED
    expect(page.locator("#assignment.live")).to_be_visible()
    expect(page.locator("#side-tools")).to_be_visible()
    second = Assignment.objects.get(pk=int(page.url.rstrip("/").rpartition("/")[2]))
    page.keyboard.press("2")
    page.wait_for_url(re.compile(rf"/work/(?!{second.pk}/)"))
    assert grade_of(second) == 0


def _on_a_phone_one_report_is_seen_at_a_time(phone: Page, ben: User) -> None:
    assignment = first_assignment(phone, ben)
    check_no_sideways_scroll(phone)
    check_accessibility(phone)
    phone.emulate_media(color_scheme="dark")
    picture(phone, "battle-390")

    expect(phone.locator(".side:visible")).to_have_attribute("data-side", "left")
    phone.get_by_role("button", name="Right report").tap()
    expect(phone.locator(".side:visible")).to_have_attribute("data-side", "right")
    assert lists_of_grades(phone).evaluate_all(UNSEEN) == []
    phone.locator("label.choice:visible", has_text="Right").tap()
    phone.wait_for_url(re.compile(rf"/work/(?!{assignment.pk}/)"))

    [row] = rows_of(assignment, TaskType.BATTLE)
    assert grade_of(assignment) == (1 if row.swapped else -1)
