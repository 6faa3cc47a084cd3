"""Grades from elsewhere are brought in, and what they leave out is graded, in Chromium; a judge is tried."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from pytest_django.fixtures import Settings as SettingsWrapper

from collection.models import Judgment, Rater, Study, User
from judging.judges.registry import load_shipped
from judging.models import GradingJob
from tests.browser import SignIn, check_accessibility
from tests.judging.world import work_through

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def shipped(settings: SettingsWrapper, tmp_path: Path, transactional_db: None) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    load_shipped()


def a_file(tmp_path: Path, *lines: dict[str, object]) -> Path:
    path = tmp_path / "ratings.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def fits(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_rosa_brings_grades_in_and_lets_another_judge_fill_what_is_missing(
    page: Page, sign_in: SignIn, rosa: User, judged_study: Study, tmp_path: Path
) -> None:
    sign_in(page, rosa)
    page.set_viewport_size({"width": 390, "height": 800})
    _is_told_of_a_bad_file_and_removes_it(page, judged_study, tmp_path)

    path = a_file(
        tmp_path,
        {"id": "t0", "docid": "t0-p0", "rating": [5, -1, 3]},
        {"id": "t0", "docid": "t0-p9", "rating": [1, 1, 1]},
    )
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 800})
        _brings_the_file_in(page, judged_study, path)
        _has_the_missing_graded(page)
        GradingJob.objects.all().delete()
        Judgment.objects.filter(rater__kind="judge").delete()
        Rater.objects.filter(name="llama-70b").delete()


def _is_told_of_a_bad_file_and_removes_it(page: Page, study: Study, folder: Path) -> None:
    page.goto(f"/studies/{study.name}/judging/imported/")
    page.get_by_role("radio", name="CRUX ratings").check()
    page.get_by_label("File", exact=True).set_input_files(
        a_file(folder, {"id": "t0", "docid": "t0-p0", "rating": [9, 1, 1]})
    )
    page.get_by_label("Judge name").fill("llama-70b")
    page.get_by_label("Tool", exact=True).fill("CRUX")
    page.get_by_role("button", name="Preview").click()

    expect(page.get_by_role("alert")).to_contain_text("cannot be imported: 1 problem.")
    expect(page.get_by_role("row").filter(has_text="holds 9")).to_be_visible()
    check_accessibility(page)
    fits(page)
    page.get_by_role("button", name="Remove the file").click()
    expect(page.get_by_text("The file is removed; nothing was imported.")).to_be_visible()
    assert not Rater.objects.filter(name="llama-70b").exists()


def _brings_the_file_in(page: Page, study: Study, path: Path) -> None:
    page.goto(f"/studies/{study.name}/judging/")

    page.get_by_role("link", name="Import a file").press("Enter")
    check_accessibility(page)
    fits(page)
    page.get_by_role("radio", name="CRUX ratings").check()
    expect(page.get_by_label("Grades that mean no grade")).to_be_hidden()
    page.get_by_label("File", exact=True).set_input_files(path)
    page.get_by_label("Judge name").fill("llama-70b")
    page.get_by_label("Tool", exact=True).fill("CRUX")
    page.get_by_label("Model").fill("llama-3-70b")
    page.get_by_role("button", name="Preview").press("Enter")

    expect(page.get_by_text("3 pairs left out: texts that are not in the collection.")).to_be_visible()
    expect(page.get_by_role("row", name="ungraded: unreadable 1")).to_be_visible()
    check_accessibility(page)
    fits(page)
    page.get_by_role("button", name="Import", exact=True).press("Enter")

    expect(page.get_by_role("heading", name="llama-70b", level=1)).to_be_visible()
    expect(page.get_by_role("row", name="missing: not in its files 9")).to_be_visible()
    check_accessibility(page)
    fits(page)


def _has_the_missing_graded(page: Page) -> None:
    page.get_by_label("Grade these 10 with another judge").select_option("lexical-rating")
    page.get_by_role("button", name="Estimate…").press("Enter")

    expect(page.get_by_label("Only pairs without a grade")).to_have_value("judge:llama-70b")
    check_accessibility(page)
    fits(page)
    page.get_by_role("button", name="Start grading").press("Enter")
    expect(page.get_by_text("only pairs without a grade by llama-70b")).to_be_visible()
    work_through(GradingJob.objects.get())
    expect(page.get_by_text("10 of 10 pairs")).to_be_visible()


def test_a_baseline_is_tried_on_five_items(page: Page, sign_in: SignIn, rosa: User, judged_study: Study) -> None:
    sign_in(page, rosa)
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 800})
        page.goto("/judges/judge/lexical-rating/")

        page.get_by_role("link", name="Trial run").press("Enter")
        expect(page.get_by_role("heading", name="Input for one item")).to_be_visible()
        check_accessibility(page)
        fits(page)
        page.get_by_role("button", name="Run on five items").press("Enter")

        table = page.get_by_role("region", name="Replies and human grades")
        expect(table.get_by_role("rowheader")).to_have_count(5)
        check_accessibility(page)
        fits(page)
