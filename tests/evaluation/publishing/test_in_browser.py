from __future__ import annotations

import pytest
from django.utils.timezone import localdate
from playwright.sync_api import Page, expect

from collection.models import Rater, Study, User
from evaluation.formats.zip_files import read_archive
from stats.audit_verification import verify
from tests.browser import SignIn, check_accessibility
from tests.evaluation.judged import a_ranking, criterion_of, judge_items, passage_items
from tests.looks import check_pages

pytestmark = pytest.mark.browser

PUBLISH = "/studies/bridges-study/publish/"
CARD = f"{PUBLISH}card/"
QRELS = "/studies/bridges-study/qrels/?criterion=rating"
PAGES = [PUBLISH, CARD, QRELS]


@pytest.fixture
def ranked(judged: Study, ada_as_rater: Rater, ben_as_rater: Rater) -> Study:
    """Two people have rated what a run ranks, but for one passage."""
    items = passage_items(judged)
    judge_items(criterion_of(judged, "rating"), ada_as_rater, items, [5, 1, 2, 0])
    judge_items(criterion_of(judged, "rating"), ben_as_rater, items, [3, 1, 2, 4])
    a_ranking(judged, {"t0": ["t0-p0", "unseen"], "t1": ["t1-p0"]})
    return judged


def test_rosa_takes_a_bundle_that_holds_the_card_and_qrels_of_which_she_saw_the_holes(
    page: Page, phone: Page, sign_in: SignIn, ranked: Study, rosa: User
) -> None:
    sign_in(page, rosa)
    check_pages(page, PAGES, "light", "dark")
    sign_in(phone, rosa)
    check_pages(phone, PAGES)

    page.goto(PUBLISH)
    page.get_by_label("Use assessors’ names").check()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the bundle").click()
    assert download.value.suggested_filename == f"bridges-study-bundle-{localdate()}.zip"
    files = read_archive(download.value.path())
    assert verify(files).holds
    assert b",ada," in files["judgments.csv"]

    page.get_by_role("link", name="Read").click()
    expect(page.get_by_role("heading", name="Known limits")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the Markdown").click()
    assert download.value.path().read_text().startswith("# Data card: bridges-study")

    page.goto(QRELS)
    expect(page.get_by_role("cell", name="1 of 3")).to_be_visible()
    page.get_by_label("ties go to the higher grade").check()
    page.get_by_text("t0 0 t0-p0 5").wait_for()
    page.get_by_label("Unjudged in top k").fill("1")
    page.get_by_role("heading", name="Qrels").click()
    page.get_by_role("columnheader", name="judged@1", exact=True).wait_for()

    expect(page.get_by_role("cell", name="0 of 2")).to_be_visible()
    check_accessibility(page)
