"""Leaderboards of answers say how confident people were, and count the confident alone where that is asked."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.test import Client

from collection.models import Criterion, Judgment, Rater, Study, User
from collection.questions.shapes import TASK_TYPES
from evaluation.leaderboards.export import leaderboard_as_dict
from evaluation.leaderboards.leaderboard import Leaderboard, measure_leaderboard
from evaluation.leaderboards.measures.board import measure_board
from evaluation.leaderboards.sources import Scorer
from stats.ranking.measure_names import NoLeaderboard, parse_measure
from tests.evaluation.answered import an_answered_study, an_item, give, report_of
from tests.factories import a_judge_rater


@pytest.fixture
def answers(rosa: User, ada_as_rater: Rater, ben_as_rater: Rater) -> Study:
    """On two questions Ada (sure, then not) calls the long answer 4, Ben (not sure, then sure) 1; a judge says 2."""
    study = an_answered_study(rosa)
    shape = TASK_TYPES["confidence"].criteria[0]
    Criterion.objects.create(
        study=study, task_type="confidence", name=shape.name, question=shape.question, scale=shape.scale.stored(),
        threshold=shape.threshold, position=99,
    )  # fmt: skip
    judge = a_judge_rater(study.collection)
    for topic, sure in zip(study.collection.topics.order_by("pk")[:2], ((4, 2), (1, 3)), strict=True):
        item = an_item(study, "confidence", topic, passage=study.collection.passages.first())
        pair = an_item(
            study, "preference", topic, report=report_of(topic, "long"), other_report=report_of(topic, "short")
        )
        one = an_item(study, "answer_evaluation", topic, report=report_of(topic, "long"))
        for rater, confident, grade in zip((ada_as_rater, ben_as_rater), sure, (4, 1), strict=True):
            give(study, "confident", rater, item, confident)
            give(study, "faithful", rater, one, grade)
            give(study, "preference", rater, pair, 1 if grade == 4 else -1)
        give(study, "faithful", judge, one, 2)
    return study


def board_of(study: Study, measure: str, confidence: float | None = None) -> Leaderboard:
    return measure_leaderboard(Scorer.of(study, confidence=confidence), parse_measure(measure))


def means(board: Leaderboard) -> list[dict[str, float]]:
    return [column.means for column in board.columns]


def test_a_board_says_how_confident_people_were(answers: Study) -> None:
    board = board_of(answers, "faithful")

    assert board.confidence is not None
    assert dict(board.confidence.counts) == {"1 not at all": 1, "2 a little": 1, "3 mostly": 1, "4 fully": 1}
    assert board.notes[-1].startswith("People’s confidence: mean 2.50 of 4 answers (1 not at all 1, ")
    assert leaderboard_as_dict(board)["confidence"]["n_below"] == 0
    assert means(board) == [{"long": 2.5}, {"long": 2.0}]


@pytest.mark.parametrize(
    ("at_least", "by_question", "n_below"), [(1, (2.5, 2.5), 0), (2, (2.5, 1.0), 1), (3, (4.0, 1.0), 2)]
)
def test_only_the_grades_of_the_confident_count_question_by_question(
    answers: Study, at_least: float, by_question: tuple[float, float], n_below: int
) -> None:
    board = board_of(answers, "faithful", at_least)

    assert means(board) == [{"long": pytest.approx(sum(by_question) / 2)}, {"long": 2.0}]
    assert board.confidence is not None
    assert board.confidence.n_below == n_below


def test_a_question_of_which_nobody_was_confident_has_no_score(answers: Study) -> None:
    board = board_of(answers, "faithful", 4)

    assert means(board)[0] == {"long": 4.0}
    assert board.columns[0].n_topics == 1


def test_preferences_count_by_confidence_too(answers: Study) -> None:
    assert means(board_of(answers, "win-rate"))[0] == {"long": 0.5, "short": 0.5}
    assert means(board_of(answers, "win-rate", 4))[0] == {"long": 1.0, "short": 0.0}


def test_the_board_of_several_measures_takes_it_too(answers: Study) -> None:
    board = measure_board(Scorer.of(answers, confidence=4), ["faithful · people", "win-rate · people"])

    assert [one.column.means["long"] for one in board.columns] == [4.0, 1.0]
    assert board.confidence is not None
    assert board.confidence.n_below == 3


def test_a_study_that_did_not_ask_says_so(answers: Study) -> None:
    Judgment.objects.filter(criterion__name="confident").delete()
    answers.criteria.filter(name="confident").delete()

    assert board_of(answers, "faithful").confidence is None
    with pytest.raises(NoLeaderboard, match="did not ask people how confident"):
        board_of(answers, "faithful", 3)


def test_page_api_and_command_take_the_option(client: Client, rosa: User, answers: Study) -> None:
    client.force_login(rosa)
    out = StringIO()

    page = client.get(f"/studies/{answers.name}/leaderboard/", {"measure": "faithful", "confidence": "4"})
    several = client.get(f"/studies/{answers.name}/leaderboard/measures/", {"confidence": "4"})
    api = client.get(f"/api/v1/studies/{answers.name}/leaderboard/", {"measure": "faithful", "confidence": "4"})
    call_command("leaderboard", study=answers.name, measure="faithful", confidence="4", json=True, stdout=out)

    assert "said at least 4 of the question count: 3 of 4 are below" in page.content.decode()
    assert 'name="confidence"' in page.content.decode()
    assert "3 of 4 are below" in several.content.decode()
    assert api.json()["confidence"] == json.loads(out.getvalue())["confidence"]
    assert api.json()["confidence"]["at_least"] == 4
