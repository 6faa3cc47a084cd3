"""How confident assessors are: asked once a question, with its passages, in a study that wants it."""

from __future__ import annotations

import pytest
from django.test import Client

from annotate.assignments.assignments import Unfinished, submit_assignment
from annotate.assignments.errors import NotAsked
from annotate.studies.design import StudyDesign
from annotate.studies.edits import copy_study
from annotate.studies.layout import lay_out_tasks
from annotate.studies.lifecycle import make_study
from collection.models import EarlierJudgment, Judgment, Report, Run, Study, System, User
from collection.models.studies import TaskType
from tests.annotate.evaluated_answers import (
    NOON,
    a_question,
    a_study_of_answers,
    in_hands,
    judge_the_answers_alone,
    judge_the_rest,
    rows_of,
    say,
    see_the_passages,
)


def made(rosa: User, *, confidence: bool) -> Study:
    return make_study(
        StudyDesign(collection=a_question(rosa), name="made", task_types=["answer_evaluation"], confidence=confidence),
        by=rosa,
        at=NOON,
    )


def test_a_study_asks_it_where_its_researcher_wants_it(rosa: User) -> None:
    study = made(rosa, confidence=True)
    lay_out_tasks(study=study, at=NOON)

    assert [one.name for one in study.criteria.filter(task_type=TaskType.CONFIDENCE)] == ["confident"]
    assert [one.item_id for one in study.items.filter(task_type=TaskType.CONFIDENCE)] == ["confidence/hum"]


def test_a_study_that_does_not_want_it_has_neither_criterion_nor_item(rosa: User) -> None:
    study = made(rosa, confidence=False)
    lay_out_tasks(study=study, at=NOON)

    assert not study.criteria.filter(task_type=TaskType.CONFIDENCE).exists()
    assert not study.items.filter(task_type=TaskType.CONFIDENCE).exists()


def test_a_copy_of_the_study_asks_it_too(rosa: User) -> None:
    copy = copy_study(study=made(rosa, confidence=True), title="Again", by=rosa)
    lay_out_tasks(study=copy, at=NOON)

    assert copy.items.filter(task_type=TaskType.CONFIDENCE).count() == 1


@pytest.mark.parametrize(("sent", "asked"), [({"confidence": True}, 1), ({}, 0)])
def test_the_api_makes_such_a_study(client: Client, rosa: User, sent: dict[str, object], asked: int) -> None:
    a_question(rosa)
    client.force_login(rosa)

    response = client.post(
        "/api/v1/studies/",
        {"collection": "humming", "name": "by-api", "task_types": ["answer_evaluation"], **sent},
        content_type="application/json",
    )

    assert response.status_code == 201
    assert Study.objects.get().criteria.filter(name="confident").count() == asked


@pytest.mark.parametrize("retrieved", [False, True])
def test_it_is_asked_once_of_a_question_however_many_answers(rosa: User, ada: User, retrieved: bool) -> None:
    assignment = in_hands(ada, a_study_of_answers(rosa, retrieved=retrieved, confidence=True))

    [row] = rows_of(assignment, TaskType.CONFIDENCE)
    assert row.inclusion_probability == 1
    assert row.item.passage is not None
    assert row.item.passage.passage_id == "wind"


def test_it_is_not_asked_again_when_a_system_comes_later(rosa: User) -> None:
    study = a_study_of_answers(rosa, confidence=True)
    system = System.objects.create(collection=study.collection, name="elm")
    run = Run.objects.create(collection=study.collection, system=system, name="elm-run")
    Report.objects.create(run=run, topic=study.collection.topics.get(), text="Nobody knows.")

    lay_out_tasks(study=study, at=NOON)

    assert study.tasks.count() == 2
    assert study.items.filter(task_type=TaskType.CONFIDENCE).count() == 1


def test_it_waits_for_the_passages(rosa: User, ada: User) -> None:
    assignment = in_hands(ada, a_study_of_answers(rosa, confidence=True))
    judge_the_answers_alone(assignment)

    with pytest.raises(NotAsked, match="when the passages are shown"):
        say(assignment, rows_of(assignment, TaskType.CONFIDENCE)[0], confident=4)


def test_the_task_is_not_done_without_it_and_a_change_keeps_what_was_said(rosa: User, ada: User) -> None:
    assignment = in_hands(ada, a_study_of_answers(rosa, confidence=True))
    see_the_passages(assignment)
    judge_the_rest(assignment)
    [row] = rows_of(assignment, TaskType.CONFIDENCE)

    say(assignment, row, confident=None)
    with pytest.raises(Unfinished, match="Confidence"):
        submit_assignment(assignment=assignment, at=NOON)
    say(assignment, row, confident=2)
    submit_assignment(assignment=assignment, at=NOON)

    assert Judgment.objects.get(criterion__name="confident").grade == 2
    assert EarlierJudgment.objects.get(criterion__name="confident").grade == 3


def test_the_page_asks_it_first_beside_the_passages(client: Client, rosa: User, ada: User) -> None:
    assignment = in_hands(ada, a_study_of_answers(rosa, confidence=True))
    client.force_login(ada)
    before = client.get(f"/work/{assignment.pk}/").content.decode()
    see_the_passages(assignment)

    shown = client.get(f"/work/{assignment.pk}/").content.decode()

    assert 'id="confidence"' not in before
    panel = shown[shown.index('<section class="panel confidence"') :].split("</section>")[0]
    assert "The wind makes a bridge hum." in panel
    assert [f'data-key="{key}"' in panel for key in range(6)] == [False, True, True, True, True, False]
    assert shown.index('<section class="panel confidence"') < shown.index('<section class="panel grounded"')
