"""CRUX's 30 reports × 15 sub-questions as a grading job, and RUBRIC's model grades as a judge, on the real files."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from django.utils.timezone import now

from collection.models import Judgment, Rater, Study
from judging.engines.embedded import INSTALL, missing_packages
from judging.grading.jobs import start_job
from judging.judges.registry import make_judge
from judging.models import Completion, Judge
from tests.factories import a_user
from tests.judging.world import ScriptedEngine, criterion_of, saying, work_through

DATA = Path(settings.BASE_DIR).parent / "shared" / "data"
pytestmark = [pytest.mark.django_db, pytest.mark.slow]
# Of the 450 pairs, these are not masked.
ASKED = 435


@pytest.fixture
def crux() -> Study:
    if not (DATA / "crux").is_dir():
        pytest.skip(f"CRUX's labels are not at {DATA / 'crux'}")
    call_command("import_crux", str(DATA / "crux"), study="crux", quiet=True)
    return Study.objects.get(name="crux")


def grade(crux: Study, engine_name: str, engine: ScriptedEngine | None = None, items: int | None = None) -> Judge:
    criterion = criterion_of(crux)
    judge, _ = make_judge(
        engine=engine_name, task_type=criterion.task_type, criterion_name=criterion.name, scale=criterion.scale
    )
    chosen = crux.items.filter(task_type=criterion.task_type).order_by("report", "element").values_list("pk", flat=True)
    job = start_job(criterion=criterion, judge=judge, items=list(chosen[:items]) if items else None, by=None, at=now())
    work_through(job, engine)
    job.refresh_from_db()
    assert (job.state, job.done) == ("done", items or ASKED)
    return judge


def test_all_thirty_reports_are_graded_beside_the_three_assessors(crux: Study) -> None:
    judge = grade(crux, "lexical")

    judged = Judgment.objects.filter(criterion=criterion_of(crux), rater=judge.rater)
    people = Judgment.objects.filter(criterion=criterion_of(crux), rater__kind="assessor")
    assert judged.count() == ASKED
    assert judged.values("item__report").distinct().count() == 30
    assert set(people.values_list("item", flat=True)) == set(judged.values_list("item", flat=True))
    assert people.values("rater").distinct().count() == 3


def test_the_fifteen_questions_of_a_report_are_asked_one_after_the_other(crux: Study) -> None:
    engine = saying("1")

    grade(crux, "lexical", engine)

    reports = dict(Completion.objects.values_list("item_id", "item__report_id"))
    in_order = [reports[item] for item in engine.asked]
    assert sum(one != other for one, other in pairwise(in_order)) == 29


@pytest.mark.nightly
@pytest.mark.skipif(bool(missing_packages()), reason=f"{', '.join(missing_packages())} not installed: {INSTALL}")
def test_the_embedded_model_grades_a_report(crux: Study) -> None:
    judge = grade(crux, "embedded", items=5)

    completions = Completion.objects.filter(judge=judge)
    assert set(completions.values_list("ungraded", flat=True)) == {""}
    assert all(score is not None for score in completions.values_list("score", flat=True))


@pytest.mark.nightly
def test_the_model_grades_of_rubric_are_those_of_a_judge_with_its_file() -> None:
    graded = DATA / "rubric" / "DL19-graded-t5-rating-genq-exam-qrels-runs-with-text.jsonl.gz"
    if not graded.is_file():
        pytest.skip(f"RUBRIC's graded file is not at {graded}")
    a_user("rosa", is_researcher=True)

    call_command(
        "import_rubric",
        str(graded),
        study="dl19",
        owner="rosa",
        bank=DATA / "rubric" / "dl19-genq.jsonl.gz",
        quiet=True,
    )

    (judge,) = Rater.objects.filter(kind="judge", collection__studies__name="dl19")
    assert judge.origin == "imported"
    assert judge.attributes["files"][0]["file"] == graded.name
    assert len(judge.attributes["files"][0]["sha256"]) == 64
