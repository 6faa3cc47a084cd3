"""What is masked while people work: it is no longer asked, and what they said of it stays."""

from __future__ import annotations

import pytest
from django.test import Client

from annotate.assignments.assignments import claim_next, submit_assignment
from annotate.assignments.errors import NotAsked
from annotate.assignments.places import batch_is_done
from annotate.assignments.task_page import screen_of
from annotate.models import Assignment, Task
from annotate.review.adjudication import find_disagreements
from annotate.studies.progress import progress_of, progress_of_all
from annotate.work.queue import queues_of
from annotate.work.saving import save_choice
from collection.masking import mask_elements, unmask_elements
from collection.models import Judgment, Study, User
from tests.annotate.factories import (
    NOON,
    a_report_task,
    a_submitted_report,
    a_task,
    an_open_study,
    answer_report,
    elements_of,
    enrolled,
    in_hands_of,
    the_criterion,
)


@pytest.fixture
def reading(study: Study, ada: User) -> Assignment:
    """Ada reads the report of the first topic."""
    return in_hands_of(ada, a_report_task(study))


def mask(task: Task, *places: int) -> None:
    elements = elements_of(task)
    mask_elements(elements=[elements[place] for place in places], reason="ill-posed", by=None, at=NOON)


def test_an_open_task_goes_on_without_what_was_masked(reading: Assignment) -> None:
    answer_report(reading, [1, 0, 0])
    Judgment.objects.filter(item__element__position=1).delete()
    mask(reading.task, 1)

    screen = screen_of(reading)
    submit_assignment(assignment=reading, at=NOON)

    assert [question.number for question in screen.questions] == [1, 3]
    reading.refresh_from_db()
    assert reading.state == Assignment.State.SUBMITTED
    assert Judgment.objects.count() == 2


def test_an_answer_about_what_was_masked_is_refused_and_the_earlier_one_stays(reading: Assignment) -> None:
    answer_report(reading, [1, 0, 0])
    item = reading.asked.all()[0].item
    mask(reading.task, 0)
    item = type(item).objects.select_related("element").get(pk=item.pk)

    with pytest.raises(NotAsked, match="no longer asked"):
        save_choice(
            assignment=reading,
            item=item,
            criterion=the_criterion(reading.task.study, "answerability"),
            grade=0,
            at=NOON,
        )

    assert Judgment.objects.get(item=item).grade == 1


def test_a_task_of_which_everything_was_masked_is_not_handed_out(study: Study, ada: User) -> None:
    first, second = a_report_task(study), a_report_task(study, "Another report.")
    rater = enrolled(ada, an_open_study(study))
    other = a_task(study, "answerability", study.collection.topics.get(topic_id="t1").reports.get())
    mask(first, 0, 1, 2)  # both reports are on one topic

    claimed = claim_next(study=study, rater=rater, at=NOON)

    assert claimed is not None
    assert claimed.task == other
    assert queues_of(ada, at=NOON)[0].n_left == 0
    assert progress_of(study).places == progress_of_all([study])[study.pk][1] == 3
    assert not Assignment.objects.filter(task__in=[first, second]).exists()


def test_nobody_waits_for_a_task_of_which_everything_was_masked(study: Study, ada: User) -> None:
    task = a_report_task(study, k=1)
    an_open_study(study)
    before = batch_is_done(study, 1)

    mask(task, 0, 1, 2)
    masked = batch_is_done(study, 1)
    unmask_elements(elements=elements_of(task), reason="fine", by=None, at=NOON)

    assert (before, masked, batch_is_done(study, 1)) == (False, True, False)


def test_a_disagreement_about_what_was_masked_is_nobodys_to_decide(reading: Assignment, ben: User) -> None:
    a_submitted_report(reading, [0, 0, 0])
    a_submitted_report(in_hands_of(ben, reading.task), [1, 0, 0])
    study = reading.task.study
    before = find_disagreements(study, across_threshold=True, undecided=True)[1]

    mask(reading.task, 0)

    assert (before, find_disagreements(study, across_threshold=True, undecided=True)[1]) == (1, 0)


def test_the_page_of_a_task_without_questions_can_be_left_by_submitting(
    client: Client, reading: Assignment, ada: User
) -> None:
    mask(reading.task, 0, 1, 2)
    client.force_login(ada)

    shown = client.get(f"/work/{reading.pk}/")
    client.post(f"/work/{reading.pk}/submit/")

    assert shown.status_code == 200
    reading.refresh_from_db()
    assert reading.state == Assignment.State.SUBMITTED
