"""Masking and redundancy in a browser: by keyboard, on a phone, and without complaints."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from collection.models import Judgment, Rater, RubricElement, Study, User
from tests.browser import SignIn, check_accessibility, check_no_sideways_scroll
from tests.evaluation.ranked import three_systems

pytestmark = pytest.mark.browser

MASKING = "/studies/bridges-study/masking/"
REDUNDANCY = "/studies/bridges-study/redundancy/"


@pytest.fixture
def rated(study: Study, ada_as_rater: Rater) -> Study:
    """No passage of t2 answers its third sub-question."""
    three_systems(study, [ada_as_rater])
    of_topic = Judgment.objects.filter(item__task_type="rating", item__topic__topic_id="t2")
    of_topic.filter(item__element__position=2).update(grade=0, ungraded="")
    return study


def topic_page(study: Study) -> str:
    topic = study.collection.topics.get(topic_id="t0")
    return f"/collections/{study.collection.name}/topics/{topic.pk}/"


def test_rosa_masks_by_keyboard_on_the_topics_page_and_the_pages_fit_a_phone(
    page: Page, phone: Page, sign_in: SignIn, rated: Study, rosa: User
) -> None:
    for shown in (phone, page):
        sign_in(shown, rosa)
        for address in (MASKING, REDUNDANCY, topic_page(rated)):
            shown.goto(address)
            for details in shown.locator("main details").all():
                details.evaluate("one => one.open = true")
            check_no_sideways_scroll(shown)
            check_accessibility(shown)

    page.reload()
    page.get_by_label("Choose t0-q0").press("Space")
    page.get_by_text("Mask or unmask the selected elements").press("Enter")
    page.get_by_label("Reason").fill("ill-posed")
    page.get_by_role("button", name="Mask", exact=True).press("Enter")

    expect(page.get_by_text("1 masked.")).to_be_visible()
    assert RubricElement.objects.get(element_id="t0-q0").masked
