"""Two papers' studies, made in the browser from their own files: people are asked what the papers asked."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from django.utils.timezone import now
from playwright.sync_api import Page, expect

from collection.formats.problems import InputFile
from collection.importing.datasets.clapnq import import_clapnq
from collection.models import Collection, RankedPassage, Study, TopicDraw, User
from tests.browser import SignIn, check_accessibility, check_no_sideways_scroll
from tests.factories import a_study

DATA = Path(settings.BASE_DIR).parent / "shared" / "data"
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def new_study(page: Page, collection: str, title: str, *task_types: str) -> None:
    page.goto("/studies/new/")
    page.get_by_label("Collection", exact=True).select_option(collection)
    page.get_by_role("textbox", name="Title", exact=True).fill(title)
    page.get_by_text("Everything in the collection, unless you choose").click()
    for task_type in task_types:
        page.get_by_role("checkbox", name=task_type).check()


def create_and_preview(page: Page) -> None:
    page.get_by_role("button", name="Create draft").click()
    page.get_by_role("link", name="Runs, topics and passages").first.click()


def test_crux_asks_ten_topics_of_three_runs_and_the_oracles_passages(
    page: Page, sign_in: SignIn, collection: Collection, rosa: User
) -> None:
    if not (DATA / "crux").is_dir():
        pytest.skip(f"CRUX's files are not at {DATA / 'crux'}")
    call_command("import_crux", str(DATA / "crux"), study="crux", quiet=True)
    crux = Study.objects.get(name="crux").collection
    crux.owner = rosa
    crux.save()
    sign_in(page, rosa)

    new_study(page, crux.name, "Figure 4", "answerability of a report", "rating of a passage")
    page.get_by_role("radio", name="all runs but these").check()
    page.get_by_role("checkbox", name="human_summary").check()
    page.get_by_role("radio", name="topics drawn at random").check()
    page.get_by_label("How many topics").fill("10")
    page.get_by_label("Only topics on which all of the chosen runs have a report").check()
    page.get_by_role("radio", name="one run’s whole context, such as the oracle’s").check()
    page.get_by_label("Run whose passages are asked about").select_option("oracle")
    create_and_preview(page)
    expect(page.get_by_text("30 tasks, each for 3 assessors")).to_be_visible()
    page.get_by_role("link", name="Back to the study").click()
    page.get_by_role("button", name="Open the study").first.click()
    expect(page.get_by_text("The study is open")).to_be_visible()

    study = Study.objects.get(name="figure-4")
    reports = study.tasks.filter(task_type="answerability").values_list("topic__topic_id", "report__run__name")
    passages = study.tasks.filter(task_type="rating").values_list("topic__topic_id", "passage__passage_id")
    oracle = RankedPassage.objects.filter(run__name="oracle", run__collection=crux)
    assert len(set(reports)) == len(reports) == 30
    assert Counter(run for _, run in reports) == {"oracle": 10, "bm25": 10, "dr_rankfirst": 10}
    assert len({topic for topic, _ in reports}) == 10
    assert set(passages) == set(oracle.values_list("topic__topic_id", "passage_id"))
    assert len(passages) == oracle.count() == 57


def test_clapnq_asks_forty_questions_with_an_answer_and_ten_without(
    page: Page, sign_in: SignIn, collection: Collection, rosa: User
) -> None:
    if not (DATA / "clapnq").is_dir():
        pytest.skip(f"CLAPNQ's files are not at {DATA / 'clapnq'}")
    files = a_study(collection, name="clapnq", task_types=["written_answer", "answer_revision"])
    for name in ("answerable", "unanswerable"):
        import_clapnq(file=InputFile(DATA / "clapnq" / f"clapnq_dev_{name}.jsonl"), study=files, at=now())
    sign_in(page, rosa)

    new_study(page, collection.name, "Forty and ten", "written answer, round 1")
    page.get_by_role("radio", name="topics drawn at random").check()
    page.get_by_label("By attribute").select_option("answerable")
    page.get_by_label("Number of each value").fill("none: 40\nfalse: 10")
    create_and_preview(page)
    strata = page.get_by_role("region", name="Strata")
    expect(strata.get_by_role("row", name="answerable=false")).to_contain_text("10")
    page.get_by_role("link", name="Back to the study").click()
    page.get_by_role("button", name="Open the study").first.click()
    expect(page.get_by_text("The study is open, with 50 tasks.")).to_be_visible()

    study = Study.objects.get(name="forty-and-ten")
    asked = Counter(
        attributes.get("answerable") for attributes in study.tasks.values_list("topic__attributes", flat=True)
    )
    draws = Counter(TopicDraw.objects.filter(study=study).values_list("stratum", "inclusion_probability"))
    assert asked == {None: 40, False: 10}
    assert draws == {("answerable=none", 40 / 300): 40, ("answerable=false", 10 / 300): 10}


def test_a_frame_is_chosen_by_keyboard_and_another_collection_brings_its_own_runs(
    page: Page, sign_in: SignIn, collection: Collection, study: Study, rosa: User
) -> None:
    other = Collection.objects.create(name="zebras", title="Zebras", owner=rosa)
    other.runs.create(name="zeta-1", system=other.systems.create(name="zeta"))
    sign_in(page, rosa)

    _chooses_a_frame_by_keyboard(page, study)
    _sees_the_runs_of_another_collection(page, collection)


def _chooses_a_frame_by_keyboard(page: Page, study: Study) -> None:
    page.goto(f"/studies/{study.name}/frame/")

    page.get_by_role("radio", name="all runs", exact=True).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    expect(page.get_by_role("checkbox", name="alpha-1")).to_be_focused()
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    expect(page.get_by_role("radio", name="all topics", exact=True)).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    expect(page.get_by_role("checkbox", name="t0")).to_be_focused()
    page.keyboard.press("Space")
    page.keyboard.press("Enter")

    expect(page.get_by_text("Saved. Below is what the study asks.")).to_be_visible()
    expect(page.get_by_text("Topics: 1 chosen.")).to_be_visible()
    study.refresh_from_db()
    assert study.frame == {"runs": "only", "run_names": ["alpha-1"], "topics": "chosen", "topic_ids": ["t0"]}
    check_accessibility(page)
    check_no_sideways_scroll(page)


def _sees_the_runs_of_another_collection(page: Page, collection: Collection) -> None:
    new_study(page, collection.name, "Any")
    page.get_by_role("radio", name="only these runs").check()
    expect(page.get_by_role("checkbox", name="alpha-1")).to_be_visible()
    page.get_by_label("Collection", exact=True).select_option("zebras")

    expect(page.get_by_role("checkbox", name="alpha-1")).to_have_count(0)
    page.get_by_role("radio", name="only these runs").check()
    expect(page.get_by_role("checkbox", name="zeta-1")).to_be_visible()
