"""Leaderboards of a researcher's own question: reports by their grades, rankings as of relevance."""

from __future__ import annotations

import pytest

from annotate.studies.design import StudyDesign
from annotate.studies.lifecycle import make_study, open_study
from collection.judgments.services import NewJudgment, add_judgments
from collection.models import Collection, Item, Rater, Study, User
from evaluation.leaderboards.available_measures import offered_measures
from evaluation.leaderboards.leaderboard import measure_leaderboard
from evaluation.leaderboards.sources import Scorer
from stats.ranking.measure_names import parse_measure
from tests.annotate.factories import NOON
from tests.annotate.questions.factory import a_question
from tests.evaluation.tied import a_run_of


def asked(collection: Collection, rosa: User, rater: Rater, *, text: str, element: str = "") -> Study:
    """A study of the question in which the rater gave the grades 0, 1, 2, 0, … in the order of the items."""
    question = a_question(by=rosa, text=text, element=element)
    design = StudyDesign(collection=collection, name="s", task_types=[question.name])
    study = make_study(design, by=rosa, at=NOON)
    open_study(study=study, at=NOON)
    criterion = study.criteria.get()
    items = Item.objects.filter(study=study).order_by("pk").values_list("pk", flat=True)
    add_judgments([NewJudgment(item, criterion.pk, rater.pk, place % 3, NOON) for place, item in enumerate(items)])
    return study


@pytest.mark.parametrize(("measure", "expected"), [("mean(toxicity)", [0.5]), ("share(toxicity)", [0.0])])
def test_reports_have_the_mean_and_the_share_of_positive_grades(
    collection: Collection, rosa: User, ada_as_rater: Rater, measure: str, expected: list[float]
) -> None:
    study = asked(collection, rosa, ada_as_rater, text="report")

    assert offered_measures(study)[:2] == ["mean(toxicity)", "share(toxicity)"]
    board = measure_leaderboard(Scorer.of(study), parse_measure(measure))
    assert [one.mean.value for one in board.columns[0].standings] == expected


def test_passages_are_measured_as_relevance_is(collection: Collection, rosa: User, ada_as_rater: Rater) -> None:
    topic = collection.topics.order_by("pk")[0]
    docnos = collection.passages.filter(text__isnull=False).order_by("pk").values_list("passage_id", flat=True)[:2]
    a_run_of(collection, "bm25", {topic: [(docno, rank, -rank) for rank, docno in enumerate(docnos, start=1)]})
    study = asked(collection, rosa, ada_as_rater, text="passage")

    assert "nDCG@10" in offered_measures(study)
    assert measure_leaderboard(Scorer.of(study), parse_measure("P@2")).columns
