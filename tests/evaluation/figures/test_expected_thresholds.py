"""A threshold on a judge's expected grade: its curve beside people, and the judge that it makes on a leaderboard."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils.timezone import now

from collection.models import Item, Judgment, Rater, Study, User
from collection.splits import make_split
from evaluation.figures.figure import NoFigure
from evaluation.figures.studies import draw_figure, offered_figures
from judging.judges.combining import combine
from judging.judges.ensembles import make_ensemble
from judging.judges.registry import load_shipped, make_judge
from judging.models import Completion, GradingJob, Judge, PromptTemplate
from tests.evaluation.judged import AT, criterion_of, judge_items
from tests.evaluation.ranked import three_systems

NAME = "expected-thresholds"
PAGE = f"/studies/bridges-study/figures/{NAME}/"


@pytest.fixture
def graded(study: Study, ada_as_rater: Rater) -> Judge:
    """A judge that says yes to every report, with .9 where Ada says yes and .6 where not; one item without it."""
    three_systems(study, [ada_as_rater])
    load_shipped()
    criterion = criterion_of(study)
    judge, _ = make_judge(
        engine=Judge.Engine.OPENAI,
        model="sure",
        template=PromptTemplate.objects.get(name="answerability"),
        task_type=criterion.task_type,
        criterion_name=criterion.name,
        scale=criterion.scale,
        name="sure",
    )
    items = list(Item.objects.filter(study=study, task_type="answerability").order_by("pk"))
    judge_items(criterion, judge.rater, items, [1] * len(items))
    said = dict(Judgment.objects.filter(rater=ada_as_rater, criterion=criterion).values_list("item_id", "grade"))
    job = GradingJob.objects.create(
        study=study, criterion=criterion, judge=judge, total=len(items), created_at=now(), queued_at=now()
    )
    Completion.objects.bulk_create(
        Completion(
            job=job, judge=judge, item=item, criterion=criterion, grade=1, completed_at=now(),
            expected_grade=None if item == items[0] else 0.9 if said[item.pk] else 0.6,
        )
        for item in items
    )  # fmt: skip
    return judge


def test_the_curve_has_precision_recall_and_kappa_by_threshold(graded: Judge, study: Study) -> None:
    found = draw_figure(study, NAME)

    rows = {row[0]: dict(zip(found.head, row, strict=True)) for row in found.rows}
    n_yes = Judgment.objects.filter(criterion__name="answerability", rater__kind="assessor", grade=1).count() - 1
    assert len(rows) == 20
    assert (rows[0.7]["judge_yes"], rows[0.7]["precision"], rows[0.7]["recall"], rows[0.7]["kappa"]) == (n_yes, 1, 1, 1)
    assert (rows[0.6]["judge_yes"], rows[0.6]["kappa"]) == (53, 0)
    assert rows[0.6]["precision"] == pytest.approx(n_yes / 53)
    assert rows[0.95]["judge_yes"] == 0
    assert "53 items have people’s grade and an expected grade. 1 item without one" in found.notes[0]
    assert "θ = 0.65, κ 1.00 there (27 items) and 1.00 on the other half (26 items)" in found.notes[1]


def test_a_split_study_shows_its_development_topics(graded: Judge, study: Study) -> None:
    make_split(study=study, test_share=0.5, by=None, at=AT, seed="1")

    found = draw_figure(study, NAME)

    assert found.visibility.part == "development"
    assert "27 items" in found.notes[0] or "26 items" in found.notes[0]


def test_the_threshold_is_a_judge_on_the_leaderboard(graded: Judge, study: Study) -> None:
    out = StringIO()
    ensemble, _ = make_ensemble([graded], rule="expected", at=0.7, name="from-70")
    done = combine(ensemble=ensemble, criterion=criterion_of(study), at=now())

    arguments = ("--study", study.name, "--measure", "coverage", "--source", "people", "--source", "from-70")
    call_command("leaderboard", *arguments, "--json", stdout=out)

    assert (done.graded, done.ungraded, done.waiting) == (53, 1, 0)
    board = json.loads(out.getvalue())
    assert "from-70" in json.dumps(board)
    grades = Judgment.objects.filter(rater=ensemble.rater, grade=1).count()
    assert grades == next(row[1] for row in draw_figure(study, NAME).rows if row[0] == 0.7)


@pytest.mark.slow
def test_page_and_offer(client: Client, graded: Judge, study: Study, rosa: User) -> None:
    client.force_login(rosa)

    page = client.get(PAGE)

    assert NAME in offered_figures(study)
    assert "looks better than it is" in page.content.decode()
    assert client.get(f"{PAGE}figure.svg").status_code == 200
    assert client.get(PAGE, {"judge": "nobody"}).status_code == 422


def test_without_expected_grades_it_is_not_offered(study: Study, ada_as_rater: Rater) -> None:
    three_systems(study, [ada_as_rater])

    assert NAME not in offered_figures(study)
    with pytest.raises(NoFigure, match="no criterion with expected grades"):
        draw_figure(study, NAME)
