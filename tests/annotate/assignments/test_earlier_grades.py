"""How important a nugget is is said once: at other texts it is copied, with its source, and can be changed there."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils.timezone import now

from annotate.assignments.assignments import claim_next, submit_assignment
from annotate.assignments.task_page import screen_of
from annotate.models import Assignment
from annotate.work.saving import save_choice
from collection.models import Collection, CopiedGrade, EarlierJudgment, Judgment, Study, User
from tests.annotate.factories import the_criterion
from tests.annotate.task_types.test_relevance_and_nuggets import opened, with_nuggets, with_second_reports
from tests.factories import rater_of


@pytest.fixture
def study(collection: Collection, ada: User) -> Study:
    with_nuggets(collection)
    with_second_reports(collection)
    return opened(collection, "nugget", ada, overlap=1)


def next_of_topic(study: Study, user: User, like: Assignment | None = None) -> Assignment:
    """Claim what comes next; where `like` is given, on the same topic."""
    while True:
        assignment = claim_next(study=study, rater=rater_of(user), at=now())
        assert assignment is not None
        if like is None or assignment.task.topic_id == like.task.topic_id:
            return assignment
        answer(assignment, support=0, importance=0)
        submit_assignment(assignment=assignment, at=now())


def answer(assignment: Assignment, **grades: float) -> None:
    for asked in assignment.asked.select_related("item__element", "item__report", "item__passage"):
        for name, grade in grades.items():
            criterion = the_criterion(assignment.task.study, name)
            value = criterion.scale.values[int(grade)]
            save_choice(assignment=assignment, item=asked.item, criterion=criterion, grade=value, at=now())


def importance(assignment: Assignment) -> list[float | None]:
    judged = Judgment.objects.filter(item__asked__assignment=assignment, criterion__name="importance")
    return list(judged.order_by("item__asked__position").values_list("grade", flat=True))


@pytest.fixture
def two(study: Study, ada: User) -> tuple[Assignment, Assignment]:
    """A submitted task, and another on the same topic."""
    first = next_of_topic(study, ada)
    answer(first, support=0, importance=1)
    submit_assignment(assignment=first, at=now())
    return first, next_of_topic(study, ada, like=first)


def test_the_page_knows_what_was_said(two: tuple[Assignment, Assignment]) -> None:
    first, second = two
    answers = {answer.criterion.name: answer for answer in screen_of(second).questions[0].answers}

    assert answers["importance"].before == importance(first)[0]
    assert answers["importance"].grade is None
    assert answers["support"].before is None
    assert importance(second) == []


def test_it_is_copied_with_its_source_once_the_text_is_judged(two: tuple[Assignment, Assignment]) -> None:
    first, second = two
    answer(second, support=0)

    assert importance(second) == importance(first)
    sources = CopiedGrade.objects.order_by("judgment__item__asked__position").values_list("source", flat=True)
    asked = first.asked.order_by("position").values_list("item_id", flat=True)
    assert [int(source) for source in sources] == list(asked)
    submit_assignment(assignment=second, at=now())
    second.refresh_from_db()
    assert second.state == Assignment.State.SUBMITTED


def test_changing_it_changes_it_there_alone(two: tuple[Assignment, Assignment]) -> None:
    first, second = two
    before = importance(first)
    answer(second, support=0)
    answer(second, importance=0)

    assert importance(first) == before
    assert importance(second) != before
    assert not CopiedGrade.objects.exists()
    reasons = EarlierJudgment.objects.values_list("reason", flat=True)
    assert set(reasons) == {"changed (the grade was copied)"}


def test_others_say_it_themselves(two: tuple[Assignment, Assignment], ben: User) -> None:
    _, second = two
    ours = screen_of(second)
    second.rater = rater_of(ben)

    assert all(one.before is None for question in screen_of(second).questions for one in question.answers)
    assert any(one.before is not None for question in ours.questions for one in question.answers)


def test_a_copy_is_unsure_where_its_source_is(study: Study, ada: User) -> None:
    first = next_of_topic(study, ada)
    asked = first.asked.all()[0]
    answer(first, support=0, importance=1)
    Judgment.objects.filter(item=asked.item, criterion__name="importance").update(unsure=True)
    submit_assignment(assignment=first, at=now())
    second = next_of_topic(study, ada, like=first)
    shown = {one.criterion.name: one.unsure for one in screen_of(second).questions[0].answers}

    answer(second, support=0)

    copies = Judgment.objects.filter(item__asked__assignment=second, criterion__name="importance")
    assert shown == {"support": False, "importance": True}
    assert list(copies.order_by("item__asked__position").values_list("unsure", flat=True))[:2] == [True, False]


def test_no_page_is_fetched_ahead_that_changes_with_what_is_said_before_it(
    client: Client, study: Study, ada: User
) -> None:
    first = next_of_topic(study, ada)
    client.force_login(ada)

    claimed = client.post(f"/work/{first.pk}/ahead/")

    assert Assignment.objects.filter(rater=rater_of(ada), task__study=study).open().count() > 1
    assert claimed.json() == {"ahead": []}
