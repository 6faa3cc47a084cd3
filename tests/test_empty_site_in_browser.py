"""From an empty site to numbers, in a browser: a collection, a study with its own η, a plan, measures that disagree."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from django.core.management import call_command
from playwright.sync_api import Page, expect
from pytest_django.fixtures import Settings

from collection.models import Criterion, ThresholdChange, User
from tests.browser import SignIn, check_accessibility

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

TOPICS = [f"t{number}" for number in range(8)]
# By topic: two passages of grade 3, three of 2, and others. Which come first decides what measures prefer.
GRADES = [3, 3, 2, 2, 2, 0, 1, 0, 1, 0]
RANKINGS = {
    "best": [0, 1, 2, 3, 4],
    "few-but-good": [0, 1, 5, 6, 7],
    "many-but-middling": [2, 3, 4, 5, 6],
    "worst": [5, 6, 0, 7, 8],
}
LABELLED = [0, 2, 5, 6, 8]


@pytest.fixture(autouse=True)
def _media(settings: Settings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """Topics, passages and the systems' rankings in one file."""
    lines: list[dict[str, object]] = [
        {"type": "topic", "topic_id": one, "request": f"What of {one}?"} for one in TOPICS
    ]
    lines += [
        {"type": "passage", "passage_id": f"{topic}-p{place}", "text": f"Passage {place} says this of {topic}."}
        for topic in TOPICS
        for place in range(len(GRADES))
    ]
    for system, order in RANKINGS.items():
        lines += [{"type": "system", "name": system}, {"type": "run", "name": system, "system": system}]
        lines += [
            {
                "type": "ranking",
                "run": system,
                "topic_id": topic,
                "passage_id": f"{topic}-p{place}",
                "rank": rank,
                "score": 10 - rank,
            }
            for topic in TOPICS
            for rank, place in enumerate(order, start=1)
        ]
    path = tmp_path / "piers.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


def qrels(path: Path, places: list[int], *, by_judge: bool = False) -> Path:
    """Write grades of these passages; the judge errs about one or two of each topic."""
    lines = []
    for number, topic in enumerate(TOPICS):
        for place in places:
            errs = by_judge and place == (6 if number % 2 else 2)
            lines.append(f"{topic} 0 {topic}-p{place} {3 - GRADES[place] if errs else GRADES[place]}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def import_file(page: Page, label: str, path: Path) -> None:
    page.goto("/collections/piers/import/")
    page.get_by_role("radio", name=re.compile(f"^{label}")).check()
    page.get_by_label("Files", exact=True).set_input_files(path)


def take_it(page: Page) -> None:
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_text("is imported")).to_be_visible()


def test_from_nothing_to_a_plan_and_measures_that_disagree(
    page: Page, sign_in: SignIn, rosa: User, texts: Path, tmp_path: Path
) -> None:
    sign_in(page, rosa)
    page.goto("/new-collection/")
    page.get_by_label("Title").fill("Piers")
    page.get_by_label("Name").fill("piers")
    page.get_by_role("button", name="Create collection").click()
    import_file(page, "Assize JSONL", texts)
    take_it(page)

    import_file(page, "Judgments table", qrels(tmp_path / "any.qrels", [0]))
    expect(page.get_by_label("Study", exact=True)).to_have_count(0)
    check_accessibility(page)
    page.get_by_role("link", name="Create one").click()
    expect(page.get_by_label("Collection", exact=True)).to_have_value("piers")
    page.get_by_label("Title", exact=True).fill("Piers by hand")
    page.get_by_role("checkbox", name=re.compile("^relevance", re.IGNORECASE)).check()
    page.get_by_role("button", name="Create draft").click()

    expect(page.get_by_role("heading", name="Piers by hand")).to_be_visible()
    for grade, summary in [("1", "Threshold η, changed 1 time"), ("2", "Threshold η, changed 2 times")]:
        page.get_by_text("Threshold η").click()
        page.get_by_label("Positive from, relevance").select_option(grade)
        page.get_by_role("button", name="Change", exact=True).click()
        expect(page.get_by_text(summary)).to_be_visible()
    page.get_by_text("Threshold η").click()
    expect(page.get_by_text(re.compile(r"From 2 to 1,\s.*, by rosa", re.DOTALL))).to_be_visible()
    expect(page.get_by_text(re.compile(r"From 1 to 2,\s.*, by rosa", re.DOTALL))).to_be_visible()
    check_accessibility(page)
    assert ThresholdChange.objects.count() == 2

    import_file(page, "TREC qrels", qrels(tmp_path / "nist.qrels", LABELLED))
    page.get_by_label("Study", exact=True).select_option("piers-by-hand")
    page.get_by_label("Rater", exact=True).fill("NIST")
    take_it(page)
    judged = qrels(tmp_path / "owl.qrels", list(range(len(GRADES))), by_judge=True)
    call_command("import_qrels", judged, study="piers-by-hand", rater="owl", rater_kind="judge", verbosity=0)
    assert Criterion.objects.get(study__name="piers-by-hand").threshold == 2

    study = "/studies/piers-by-hand"
    page.goto(f"{study}/calibration/?criterion=relevance")
    page.get_by_role("link", name="Declarations").first.click()
    page.get_by_label("I declare the labelled items a simple random sample").check()
    check_accessibility(page)
    page.get_by_role("button", name="Save").click()
    page.goto(f"{study}/calibration/?criterion=relevance")
    plan = page.locator("#plan")
    plan.get_by_label("Measure").select_option("")
    for width, answer in [
        ("0.1", "is not possible here: with all 80 items of these 8 topics labelled"),
        ("0.15", r"people must label \d+ items in all"),
    ]:
        plan.get_by_label("Half-width of the interval").fill(width)
        plan.get_by_role("button", name="Plan").click()
        expect(plan.get_by_text(re.compile(answer))).to_be_visible()
    expect(plan.get_by_text("Pilot: 40 labels among 80 items of 8 topics")).to_be_visible()
    check_accessibility(page)

    page.goto(f"{study}/leaderboard/correlations/")
    page.get_by_label("Reference order").select_option("nDCG@10 · owl")
    page.get_by_label("Divergent systems compared with").select_option("P(rel=η)@10 · owl")
    page.get_by_role("button", name="Show").click()
    apart = page.get_by_role("region", name="Divergent systems")
    expect(apart.get_by_role("row", name=re.compile(r"few-but-good .* 2 .* 3 1"))).to_be_visible()
    expect(apart.get_by_role("row", name=re.compile(r"many-but-middling .* 3 .* 2 −1"))).to_be_visible()
    check_accessibility(page)
