from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from collection.models import Rater, Study, User
from tests.browser import SignIn, chart_on, check_accessibility
from tests.evaluation.ranked import three_systems
from tests.looks import check_pages

pytestmark = pytest.mark.browser

PAGE = "/studies/bridges-study/leaderboard/"
CORRELATIONS = "/studies/bridges-study/leaderboard/correlations/"


@pytest.fixture
def ranked(study: Study, ada_as_rater: Rater, ben_as_rater: Rater) -> Study:
    three_systems(study, [ada_as_rater, ben_as_rater])
    return study


def test_rosa_sorts_by_the_judge_and_asks_for_another_measure(
    page: Page, phone: Page, sign_in: SignIn, ranked: Study, rosa: User
) -> None:
    sign_in(page, rosa)
    check_pages(page, [CORRELATIONS, PAGE], "dark")

    page.get_by_role("link", name="small-judge", exact=True).click()
    first = page.get_by_role("region", name="Scores of the systems").locator("tbody th").first
    expect(first).to_have_text(re.compile(r"^\s*middle"))
    expect(chart_on(page, "Systems by")).to_be_visible()
    check_accessibility(page)
    page.get_by_text("Measure and options").click()
    page.get_by_label("Measure", exact=True).fill("Cover@2>=3")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("heading", name="Cover@2 ≥ 3")).to_be_visible()

    Rater.objects.filter(name="small-judge").update(name="laboratory/a-model-70b · " + "VeryLongPromptName" * 4)
    sign_in(phone, rosa)
    check_pages(phone, [CORRELATIONS, PAGE])
    expect(phone.get_by_text("VeryLongPromptName").first).to_be_attached()
