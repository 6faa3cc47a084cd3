"""How a task comes into an assessor's hands, and that it comes into no more hands than it has places."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import IntegrityError, connection

from annotate.assignments.assignments import claim_next, drawn_items, return_assignment, submit_assignment
from annotate.models import Assignment, Place
from collection.models import RubricElement, Study, User
from tests.annotate.factories import (
    NOON,
    a_key_point_task,
    a_rating_task,
    a_report_task,
    a_submitted_report,
    an_open_study,
    answer_report,
    elements_of,
    enrolled,
    in_hands_of,
)
from tests.factories import a_user


def test_ada_gets_the_task_that_comes_first(study: Study, ada: User) -> None:
    first = a_report_task(study)
    a_key_point_task(study)
    rater = enrolled(ada, an_open_study(study))

    assignment = claim_next(study=study, rater=rater, at=NOON)

    assert assignment is not None
    assert assignment.task == first
    assert assignment.place.holder == rater
    assert [row.item.element for row in assignment.asked.all()] == elements_of(first)


def test_ada_gets_the_open_assignment_again(study: Study, ada: User) -> None:
    assignment = in_hands_of(ada, a_report_task(study))

    again = claim_next(study=study, rater=assignment.rater, at=NOON)

    assert again == assignment
    assert Place.objects.filter(holder=assignment.rater).count() == 1


def test_a_task_goes_to_as_many_as_it_has_places(study: Study, ada: User, ben: User) -> None:
    task = a_report_task(study, k=1)
    in_hands_of(ada, task)

    claimed = claim_next(study=study, rater=enrolled(ben, study), at=NOON)

    assert claimed is None


def test_nobody_gets_a_task_twice(study: Study, ada: User) -> None:
    assignment = in_hands_of(ada, a_report_task(study))
    return_assignment(assignment=assignment, at=NOON)

    claimed = claim_next(study=study, rater=assignment.rater, at=NOON)

    assert claimed is None


def test_a_returned_place_goes_to_the_next_assessor(study: Study, ada: User, ben: User) -> None:
    task = a_report_task(study, k=1)
    return_assignment(assignment=in_hands_of(ada, task), at=NOON)

    assignment = in_hands_of(ben, task)

    assert assignment.place.holder == assignment.rater


@pytest.mark.parametrize("state", [Study.State.DRAFT, Study.State.PAUSED, Study.State.CLOSED])
def test_a_study_that_is_not_open_gives_out_nothing(study: Study, ada: User, state: Study.State) -> None:
    a_report_task(study)
    rater = enrolled(ada, study)
    Study.objects.update(state=state)

    claimed = claim_next(study=study, rater=rater, at=NOON)

    assert claimed is None


def test_a_stranger_gets_nothing(study: Study, ada: User, mallory: User) -> None:
    task = a_report_task(study)
    in_hands_of(ada, task)
    stranger = enrolled(mallory, study)
    mallory.enrolments.update(left_at=NOON)

    claimed = claim_next(study=study, rater=stranger, at=NOON)

    assert claimed is None


def test_a_passage_waits_for_its_report(study: Study, ada: User) -> None:
    report = a_report_task(study)
    passage = a_rating_task(study, after=report)
    assignment = in_hands_of(ada, report)
    answer_report(assignment, [1, 0, 0])
    before = claim_next(study=study, rater=assignment.rater, at=NOON)
    submit_assignment(assignment=assignment, at=NOON)

    after = claim_next(study=study, rater=assignment.rater, at=NOON)

    assert before == assignment
    assert after is not None
    assert after.task == passage


def test_another_assessors_report_opens_no_passage(study: Study, ada: User, ben: User) -> None:
    report = a_report_task(study, k=1)
    a_rating_task(study, after=report)
    a_submitted_report(in_hands_of(ada, report), [1, 0, 0])

    claimed = claim_next(study=study, rater=enrolled(ben, study), at=NOON)

    assert claimed is None


def test_masked_sub_questions_are_not_asked(study: Study, ada: User) -> None:
    task = a_report_task(study)
    masked = elements_of(task)[1]
    RubricElement.objects.filter(pk=masked.pk).update(masked=True)

    assignment = in_hands_of(ada, task)

    assert masked.pk not in assignment.asked.values_list("item__element", flat=True)
    assert assignment.asked.count() == 2


# --- The two questions of a rating --------------------------------------------------------------


def drawn_after(study: Study, ada: User, grades: list[int]) -> list[tuple[int, float]]:
    """What Ada is asked of a passage after these answers to its report: the question's index and probability."""
    report = a_report_task(study)
    a_rating_task(study, after=report)
    submitted = a_submitted_report(in_hands_of(ada, report), grades)
    assignment = claim_next(study=study, rater=submitted.rater, at=NOON)
    assert assignment is not None
    elements: list[int | None] = [element.pk for element in elements_of(report)]
    return [(elements.index(row.item.element_id), row.inclusion_probability) for row in assignment.asked.all()]


def test_draws_one_answerable_and_one_unanswerable_question(study: Study, ada: User) -> None:
    drawn = dict(drawn_after(study, ada, [0, 1, 0]))

    assert len(drawn) == 2
    assert drawn.pop(1) == 1
    assert list(drawn.values()) == [0.5]


@pytest.mark.parametrize("grades", [[1, 1, 1], [0, 0, 0]])
def test_draws_both_from_one_side_where_the_other_is_empty(study: Study, ada: User, grades: list[int]) -> None:
    drawn = drawn_after(study, ada, grades)

    assert len({index for index, _ in drawn}) == 2
    assert [probability for _, probability in drawn] == [pytest.approx(2 / 3)] * 2


def test_draws_two_of_all_where_no_report_was_read(study: Study, ada: User) -> None:
    assignment = in_hands_of(ada, a_rating_task(study))

    assert [row.inclusion_probability for row in assignment.asked.all()] == [pytest.approx(2 / 3)] * 2


def test_draws_once_and_keeps_it(study: Study, ada: User) -> None:
    assignment = in_hands_of(ada, a_rating_task(study))
    drawn = list(assignment.asked.values_list("item", flat=True))

    again = claim_next(study=study, rater=assignment.rater, at=NOON)

    assert again is not None
    assert list(again.asked.values_list("item", flat=True)) == drawn


def test_every_question_is_drawn_as_often_as_its_probability_says(study: Study, ada: User) -> None:
    task = a_rating_task(study)
    rater = enrolled(ada, study)

    times = Counter(asked.item.pk for _ in range(300) for asked in drawn_items(task, rater))

    assert len(times) == 3
    assert all(160 <= n <= 240 for n in times.values())  # 200 expected, standard deviation 8


# --- Many at once -------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_sixteen_assessors_at_once_get_no_more_than_the_places(study: Study) -> None:
    for _ in range(3):
        a_report_task(study, "One report of several.", k=2)
    an_open_study(study)
    raters = [enrolled(a_user(f"assessor-{n}"), study) for n in range(16)]

    def claim(number: int) -> Assignment | None:
        try:
            return claim_next(study=study, rater=raters[number], at=NOON)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        claimed = list(pool.map(claim, range(16)))

    held = Counter(assignment.task_id for assignment in claimed if assignment)
    assert sorted(held.values()) == [2, 2, 2]
    assert Assignment.objects.count() == 6


@pytest.mark.django_db(transaction=True)
def test_two_tabs_of_one_assessor_get_one_task(study: Study, ada: User) -> None:
    a_report_task(study)
    a_report_task(study, "Another report.")
    rater = enrolled(ada, an_open_study(study))

    def claim(_: int) -> Assignment | None:
        try:
            return claim_next(study=study, rater=rater, at=NOON)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        claimed = list(pool.map(claim, range(4)))

    assert len({assignment.pk for assignment in claimed if assignment}) == 1
    assert Assignment.objects.count() == 1


def test_the_database_refuses_a_second_holder_of_a_place(study: Study, ada: User, ben: User) -> None:
    assignment = in_hands_of(ada, a_report_task(study))
    other = enrolled(ben, study)

    with pytest.raises(IntegrityError, match=r"one_assignment_occupies_a_place|place_id"):
        Assignment.objects.create(
            task=assignment.task, place=assignment.place, rater=other, opened_at=NOON, touched_at=NOON
        )
