"""The locked test part on the pages that score systems, read by keyboard and on a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from collection.models import Study, TestReading, User
from collection.splits import make_split
from tests.browser import SignIn, check_accessibility
from tests.evaluation.judged import AT
from tests.evaluation.sampled import sampled
from tests.evaluation.test_keyboard_in_browser import tab_to
from tests.looks import check_pages

__all__ = ["sampled"]

pytestmark = pytest.mark.browser

STUDY = "/studies/bridges-study/"


@pytest.fixture
def locked(sampled: Study, rosa: User) -> Study:
    make_split(study=sampled, test_share=0.4, by=rosa, at=AT, seed="s")
    return sampled


def test_rosa_reads_the_test_part_by_keyboard_and_goes_back_and_on_a_phone_nothing_scrolls_sideways(
    page: Page, phone: Page, sign_in: SignIn, locked: Study, rosa: User
) -> None:
    sign_in(page, rosa)
    for name in ("calibration", "leaderboard", "leaderboard/correlations"):
        page.goto(f"{STUDY}{name}/")
        expect(page.get_by_text("development topics: 6 of 10"), name).to_be_visible()

        tab_to(page, page.get_by_role("button", name="Unlock the test topics for stork-7b"))
        page.keyboard.press("Enter")

        expect(page.get_by_text("test topics: 4 of 10"), name).to_be_visible()
        expect(page.get_by_text("stork-7b: unlocked once."), name).to_be_visible()
        check_accessibility(page)
        tab_to(page, page.get_by_role("link", name="Back to the development topics"))
        page.keyboard.press("Enter")
        expect(page.get_by_text("development topics: 6 of 10"), name).to_be_visible()
        expect(page.get_by_text("Test topics, stork-7b unlocked once"), name).to_be_visible()
        assert TestReading.objects.count() == 1, name
        TestReading.objects.all().delete()

    locked.collection.raters.filter(name="stork-7b").update(name="laboratory/a-stork-7b·" + "VeryLongPromptName" * 4)
    sign_in(phone, rosa)
    for address in ("calibration/", "leaderboard/", "leaderboard/?sources=people", "leaderboard/correlations/"):
        check_pages(phone, [f"{STUDY}{address}"])
        part = "all topics" if "people" in address else "topics: 6 of 10"
        expect(phone.get_by_text(part).first, address).to_be_visible()
        if "people" not in address:
            expect(phone.get_by_text("VeryLongPromptName").first, address).to_be_attached()
