"""How many clicks, taps or keys an item takes, going on and submitting included. docs/assessors.md has the table."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from collection.models import Collection, Judgment, Study, User
from tests.annotate.factories import a_key_point_task, a_rating_task, a_report_task, an_open_study, enrolled
from tests.annotate.studies.test_lifecycle import rank_everything
from tests.annotate.task_types.test_relevance_and_nuggets import opened, with_nuggets
from tests.browser import SignIn, close_new_guidelines

pytestmark = pytest.mark.browser

# What is answered about the items in turn, by the keys of the grades, and the most actions an item that this may take.
ANSWERS = {
    "relevance": (["0", "3"], 1.1),
    "rating": (["2", "5"], 1.1),
    "answerability": (["0"], 1.1),  # nothing answerable: nothing to mark
    "key_point": (["0", "14"], 1.5),  # a yes is asked on; with two in five 1.4
    "nugget": (["03", "24"], 2),
}


def a_study_of(task_type: str, study: Study, collection: Collection, ada: User) -> Study:
    if task_type in {"relevance", "nugget"}:
        with_nuggets(collection)
        rank_everything(collection)
        return opened(collection, task_type, ada, overlap=1)
    tasks: dict[str, Callable[[Study], object]] = {
        "rating": a_rating_task,
        "answerability": a_report_task,
        "key_point": a_key_point_task,
    }
    tasks[task_type](study)
    enrolled(ada, an_open_study(study))
    return study


def work_through(page: Page, answers: list[str], choose: Callable[[Locator], None]) -> tuple[int, int]:
    """Answer everything until nothing is left. Returns how many actions and items that were."""
    n_actions = n_items = 0
    over = page.get_by_role("heading", name="All done. Thank you!")
    page.goto("/work/")
    page.get_by_role("button", name="Start").click()
    while True:
        expect(page.locator("#assignment.live").or_(over)).to_be_visible()
        if over.count():
            return n_actions, n_items
        close_new_guidelines(page)
        item = page.locator(".question:visible").get_attribute("data-item")
        for key in answers[n_items % len(answers)]:
            choose(page.locator(f".question:visible fieldset:visible label:has(input[data-key='{key}'])"))
            n_actions += 1
        n_items += 1
        expect(page.locator(f".question:visible[data-item='{item}']")).to_have_count(0)


@pytest.mark.parametrize("way", ["mouse", "keyboard", "touch"])
@pytest.mark.parametrize("task_type", ANSWERS)
def test_an_item_takes_hardly_more_than_its_choices(
    open_page: Callable[..., Page],
    sign_in: SignIn,
    study: Study,
    collection: Collection,
    ada: User,
    task_type: str,
    way: str,
) -> None:
    on_a_phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    page = open_page(**on_a_phone if way == "touch" else {})
    study = a_study_of(task_type, study, collection, ada)
    sign_in(page, ada)
    answers, most = ANSWERS[task_type]
    choose: Callable[[Locator], None] = {
        "mouse": lambda choice: choice.click(),
        "touch": lambda choice: choice.tap(),
        "keyboard": lambda choice: page.keyboard.press(choice.locator("input").get_attribute("data-key") or ""),
    }[way]

    n_actions, n_items = work_through(page, answers, choose)

    assert n_items >= 2
    assert Judgment.objects.filter(item__study=study).count() == n_actions
    assert n_actions / n_items <= most
