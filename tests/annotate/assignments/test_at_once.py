"""What happens when somebody submits at the moment at which their work is taken back: two real connections.

On PostgreSQL the second waits for the row, on SQLite for the whole database.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TypeVar

import pytest
from django.db import connection, transaction
from rest_framework.test import APIClient

from annotate.assignments.assignments import return_stale, submit_assignment
from annotate.assignments.places import release_next_batch
from annotate.crowd.returns import return_session, undo_return
from annotate.models import Assignment, CrowdSession
from annotate.sessions.sessions import session_of
from annotate.studies.lifecycle import open_study, unenrol
from annotate.work.saving import save_choice
from collection.models import Collection, Draw, Judgment, Study, User
from tests.annotate.crowd_factories import a_session, an_entry
from tests.annotate.factories import (
    NOON,
    a_report_task,
    an_open_study,
    answer_report,
    enrolled,
    in_hands_of,
    the_criterion,
)
from tests.annotate.studies.test_lifecycle import a_study_of

pytestmark = pytest.mark.django_db(transaction=True)

Result = TypeVar("Result")
LONG_AFTER = NOON + timedelta(hours=5)
WHILE_IT_IS_HELD = 0.4  # seconds in which the other comes to the lock


def while_held(change: Callable[[], object], other: Callable[[], Result]) -> Result:
    """Make the change, call `other` on another connection before it is committed, and return what that gave."""

    def on_its_own_connection() -> Result:
        try:
            return other()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            change()
            later = pool.submit(on_its_own_connection)
            time.sleep(WHILE_IT_IS_HELD)
        return later.result(30)


def ready_to_submit(study: Study, user: User) -> Assignment:
    """A report that the person has answered and not submitted."""
    study.timeout_minutes = 60
    study.save()
    assignment = in_hands_of(user, a_report_task(study, k=1))
    answer_report(assignment, [1, 0, 0])
    return assignment


def is_submitted_with_its_answers(assignment: Assignment) -> bool:
    assignment.refresh_from_db()
    return assignment.state == Assignment.State.SUBMITTED and Judgment.objects.count() == 3


def test_a_task_submitted_at_its_time_out_stays_submitted(study: Study, ada: User, ben: User) -> None:
    assignment = ready_to_submit(study, ada)
    other = enrolled(ben, study)

    n_returned = while_held(
        lambda: submit_assignment(assignment=assignment, at=LONG_AFTER),
        lambda: return_stale(study=study, at=LONG_AFTER, but_of=other),
    )

    assert n_returned == 0
    assert is_submitted_with_its_answers(assignment)


def test_a_task_saved_at_its_time_out_stays_in_hand(study: Study, ada: User, ben: User) -> None:
    assignment = ready_to_submit(study, ada)
    other = enrolled(ben, study)
    first = assignment.asked.select_related("item")[0]

    n_returned = while_held(
        lambda: save_choice(
            assignment=assignment,
            item=first.item,
            criterion=the_criterion(study, "answerability"),
            grade=0,
            at=LONG_AFTER,
        ),
        lambda: return_stale(study=study, at=LONG_AFTER, but_of=other),
    )

    assert n_returned == 0
    assignment.refresh_from_db()
    assert assignment.state == Assignment.State.OPEN


def test_what_a_person_submits_while_they_are_taken_out_stays(study: Study, ada: User) -> None:
    assignment = ready_to_submit(study, ada)

    while_held(
        lambda: submit_assignment(assignment=assignment, at=LONG_AFTER),
        lambda: unenrol(study=study, user=ada, at=LONG_AFTER),
    )

    assert is_submitted_with_its_answers(assignment)


def test_what_is_submitted_cannot_be_given_back_at_the_same_time(study: Study, ada: User) -> None:
    assignment = ready_to_submit(study, ada)
    client = APIClient()
    client.force_authenticate(ada)
    client.get(f"/api/v1/assignments/{assignment.pk}/")  # all that is loaded at the first request is loaded

    response = while_held(
        lambda: submit_assignment(assignment=assignment, at=LONG_AFTER),
        lambda: client.post(f"/api/v1/assignments/{assignment.pk}/return/"),
    )

    assert response.status_code == 409
    assert is_submitted_with_its_answers(assignment)


def test_a_session_returned_while_its_task_is_submitted_comes_back_submitted(study: Study) -> None:
    session = a_session(an_entry(an_open_study(study)))
    person = session.participant.user
    assignment = ready_to_submit(study, person)

    while_held(
        lambda: submit_assignment(assignment=assignment, at=LONG_AFTER),
        lambda: return_session(session=CrowdSession.objects.get(pk=session.pk), at=LONG_AFTER),
    )
    returned = session_of(study=study, user=person)
    assert returned is not None
    undo_return(session=returned, at=LONG_AFTER)

    assert is_submitted_with_its_answers(assignment)


# --- What stands in the study's own row -----------------------------------------------------------


def test_who_opens_a_study_together_draws_one_sample(collection: Collection) -> None:
    study = a_study_of(collection, "answerability", "key_point", sample_sizes={"answerability": 1, "key_point": 2})
    another = Study.objects.get(pk=study.pk)

    while_held(lambda: open_study(study=study, at=NOON), lambda: open_study(study=another, at=NOON))

    study.refresh_from_db()
    assert {kind: sample["drawn"] for kind, sample in study.samples.items()} == {"answerability": 1, "key_point": 2}
    texts = Draw.objects.filter(item__study=study).values("item__report", "item__passage").distinct()
    assert (study.tasks.count(), texts.count()) == (3, 3)


def test_a_batch_released_while_the_study_is_opened_again_stays_released(collection: Collection) -> None:
    study = a_study_of(collection, "answerability", sample_sizes={"answerability": 1})
    open_study(study=study, at=NOON)
    samples = Study.objects.get(pk=study.pk).samples
    study.tasks.update(batch=3)
    another = Study.objects.get(pk=study.pk)

    while_held(
        lambda: release_next_batch(study, at=NOON, by_hand=True), lambda: open_study(study=another, at=LONG_AFTER)
    )
    while_held(
        lambda: release_next_batch(Study.objects.get(pk=study.pk), at=NOON, by_hand=True),
        lambda: release_next_batch(another, at=LONG_AFTER),
    )

    study.refresh_from_db()
    assert (study.released_batch, [*study.batches_released_at], study.samples) == (3, ["2", "3"], samples)
