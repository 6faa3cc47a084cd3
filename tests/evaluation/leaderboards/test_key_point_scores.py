"""KPR, KPP and KPF of a study: the question's final key points in reports, the reports' own in documents."""

from __future__ import annotations

import pytest

from annotate.studies.design import StudyDesign
from annotate.studies.lifecycle import make_study, open_study
from annotate.task_types.key_point import ANSWERS
from collection.masking import mask_elements
from collection.models import Item, Rater, RubricElement, Study, User
from evaluation.leaderboards.available_measures import offered_measures
from tests.evaluation.answered import an_answered_study, an_item, element, give, report_of
from tests.evaluation.judged import AT, judge_items
from tests.evaluation.leaderboards.test_answer_scores import board_of, means, topics
from tests.factories import a_judge_rater


@pytest.fixture
def answers(rosa: User) -> Study:
    return an_answered_study(rosa)


def judge_key_points(study: Study, rater: Rater) -> None:
    """On the first topic the long answer says 2 of 3 key points, and of its own 2 one stands in a document."""
    topic = topics(study)[0]
    asked = [element(topic, "key_point", position) for position in range(3)]
    for said, key_point in zip((1, 1, 0), asked, strict=True):
        item = an_item(study, "key_point", topic, element=key_point, report=report_of(topic, "long"))
        give(study, "grounded", rater, item, said)
    own = [element(topic, "key_point", position, attributes={"run": "long"}) for position in (3, 4)]
    for key_point, found in zip(own, ((0, 1), (0, 0)), strict=True):
        for passage, yes in zip(study.collection.passages.order_by("pk"), found, strict=False):
            item = an_item(study, "key_point", topic, element=key_point, passage=passage)
            give(study, "grounded", rater, item, yes)


@pytest.mark.parametrize(("measure", "expected"), [("KPR", 2 / 3), ("KPP", 1 / 2), ("KPF", 4 / 7)])
def test_key_points_of_question_and_answer_are_told_apart(
    answers: Study, ada_as_rater: Rater, measure: str, expected: float
) -> None:
    judge_key_points(answers, ada_as_rater)

    assert means(board_of(answers, measure)) == {"long": round(expected, 4)}
    assert measure in offered_measures(answers)


def test_an_ungraded_key_point_stays_in_the_denominator(answers: Study, ada_as_rater: Rater) -> None:
    judge_key_points(answers, ada_as_rater)
    judged = answers.criteria.get(name="grounded").judgments.filter(item__report__isnull=False).order_by("pk")
    judged.filter(pk=judged[0].pk).update(grade=None, ungraded="refused")

    scored = board_of(answers, "KPR").columns[0].board.scored

    assert scored.table.loc["long", "q0"] == pytest.approx(1 / 3)
    assert (scored.n_ungraded, scored.n_asked) == (1, 3)


def test_a_masked_key_point_is_not_final(answers: Study, ada_as_rater: Rater, rosa: User) -> None:
    judge_key_points(answers, ada_as_rater)
    last = RubricElement.objects.get(element_id="q0-key_point-2")

    mask_elements(elements=[last], reason="not grounded and agreed", by=rosa, at=AT)

    assert means(board_of(answers, "KPR")) == {"long": 1.0}


def test_a_key_point_that_nobody_was_asked_about_stays_in_the_denominator(answers: Study, ada_as_rater: Rater) -> None:
    judge_key_points(answers, ada_as_rater)
    topic = topics(answers)[0]
    element(topic, "key_point", 7)
    element(topic, "key_point", 8, attributes={"run": "long"})  # without a document, or a span

    recall, precision = (board_of(answers, measure).columns[0].board.scored for measure in ("KPR", "KPP"))

    assert recall.table.loc["long"].to_dict() == {"q0": pytest.approx(2 / 4)}
    assert precision.table.loc["long"].to_dict() == {"q0": pytest.approx(1 / 3)}
    assert (recall.n_ungraded, precision.n_ungraded) == (1, 1)


@pytest.fixture
def asked(answers: Study, rosa: User) -> Study:
    """A study of answers on a question with two key points from its document; the long answer makes one of its own."""
    topic = topics(answers)[0]
    passage = answers.collection.passages.get(passage_id="p0")
    for position in (0, 1):
        element(topic, "key_point", position).spans.create(passage=passage, start=0, end=3, quote="The")
    masked = element(topic, "key_point", 2)
    mask_elements(elements=[masked], reason="not agreed", by=rosa, at=AT)
    element(topic, "key_point", 3, attributes={"run": "long"})
    study = make_study(
        StudyDesign(collection=answers.collection, name="said", task_types=["key_point"], key_points_in=ANSWERS),
        by=rosa,
        at=AT,
    )
    open_study(study=study, at=AT)
    return study


def test_a_study_of_answers_asks_reports_for_final_points_and_documents_for_the_answers_own(asked: Study) -> None:
    laid_out = {
        (item.report.run.name if item.report else "", item.passage.passage_id if item.passage else "", item.element_id)
        for item in Item.objects.filter(study=asked).select_related("report__run", "passage", "element")
    }
    points = {one.element_id: one.pk for one in RubricElement.objects.filter(kind="key_point")}

    assert laid_out == {
        *((system, "", points[f"q0-key_point-{number}"]) for system in ("long", "short") for number in (0, 1)),
        ("", "p0", points["q0-key_point-3"]),
    }
    assert list(asked.criteria.values_list("name", flat=True)) == ["grounded"]
    assert asked.tasks.count() == 3


def test_people_and_judges_score_what_the_study_asks(asked: Study, ada_as_rater: Rater) -> None:
    judge = a_judge_rater(asked.collection)
    criterion = asked.criteria.get(name="grounded")
    items = list(Item.objects.filter(study=asked).order_by("report__run__name", "element__position"))
    for rater, grades in ((ada_as_rater, [1, 1, 0, 0, 1]), (judge, [1, 0, 0, None, 0])):
        by_item = dict(zip(sorted(items, key=lambda one: one.report is None), grades, strict=True))
        judge_items(criterion, rater, list(by_item), list(by_item.values()))

    board = board_of(asked, "KPF")

    assert means(board, "people")["long"] == 1.0
    assert means(board, "judge")["long"] == 0.0
    assert means(board_of(asked, "KPR"), "people") == {"long": 1.0, "short": 0.0}
    by_judge = board_of(asked, "KPR").columns[1]
    assert means(board_of(asked, "KPR"), "judge") == {"long": 0.5}
    assert by_judge.scored.table.loc["short"].mean() == 0.0  # half of what it rests on could not be read
    assert by_judge.why_not("short") == "50% of the items of its answers are unjudged, more than 10%"
    assert {"KPR", "KPP", "KPF"} <= set(offered_measures(asked))
