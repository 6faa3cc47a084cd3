"""A report, a passage and key points from start to finish, by touch alone at 390 px."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from collection.models import Judgment, Study, User
from tests.annotate.factories import a_key_point_task, a_rating_task, a_report_task, an_open_study, enrolled
from tests.annotate.test_assignment_in_browser import quotes, saved
from tests.browser import SignIn, check_no_sideways_scroll

pytestmark = pytest.mark.browser


def start(phone: Page) -> None:
    phone.goto("/work/")
    phone.get_by_role("button", name="Start").tap()
    expect(phone.locator("#assignment.live")).to_be_visible()


def choose(phone: Page, name: str) -> None:
    phone.locator(".question:visible label.choice:visible", has_text=re.compile(f"^{name}")).first.tap()


def go_on(phone: Page) -> None:
    phone.get_by_role("button", name=re.compile("^Next")).tap()


def submit(phone: Page) -> None:
    saved(phone)
    check_no_sideways_scroll(phone)
    phone.locator("#submit-button").tap()


def test_all_three_by_touch(phone: Page, sign_in: SignIn, study: Study, ada: User) -> None:
    a_rating_task(study, after=a_report_task(study))
    a_key_point_task(study)
    enrolled(ada, an_open_study(study))
    sign_in(phone, ada)
    start(phone)

    choose(phone, "answerable")
    phone.evaluate(
        """() => {  // what a long press and its handles do
            const node = document.getElementById("text").firstChild.firstChild;
            getSelection().setBaseAndExtent(node, 0, node, 6);
        }"""
    )
    phone.get_by_role("button", name="Mark", exact=True).tap()
    for _ in range(2):
        go_on(phone)
        choose(phone, "unanswerable")
    submit(phone)
    expect(phone.locator("[data-task-type=rating].live")).to_be_visible()
    choose(phone, "fully")
    go_on(phone)
    choose(phone, "none")
    submit(phone)
    expect(phone.locator("[data-task-type=key_point].live")).to_be_visible()
    choose(phone, "yes")
    choose(phone, "agree")
    go_on(phone)
    choose(phone, "no")
    submit(phone)
    expect(phone.get_by_role("heading", name="All done. Thank you!")).to_be_visible()

    assert quotes() == [["Fact 0"], [], []]
    grades = Judgment.objects.order_by("criterion__position", "grade").values_list("criterion__name", "grade")
    assert list(grades) == [
        *[("answerability", 0), ("answerability", 0), ("answerability", 1)],
        *[("rating", 0), ("rating", 5)],
        *[("grounded", 0), ("grounded", 1)],
        ("utility", 1),
    ]
