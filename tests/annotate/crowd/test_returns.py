"""Marking a session as returned is undone as long as nobody else has its places."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from pytest_django.asserts import assertContains, assertNotContains
from rest_framework.test import APIClient

from annotate.assignments.assignments import claim_next, submit_assignment
from annotate.assignments.kept_work import PlacesGone
from annotate.crowd.privacy import erase_person
from annotate.crowd.returns import NotToBeUndone, return_session, take_statuses, undo_return
from annotate.models import Assignment, CrowdEntry, CrowdSession, Draft, Enrolment, Place
from annotate.sessions.outcomes import Because, end
from collection.exporting.judgments import exported_judgments
from collection.models import AnswerToRevise, EarlierJudgment, Judgment, Study, User
from tests.annotate.crowd_factories import a_session, an_entry, rater_of_session, submit_a_report
from tests.annotate.evaluated_answers import a_study_of_answers, in_hands, judge_the_rest, see_the_passages
from tests.annotate.factories import NOON, a_report_task, an_open_study
from tests.annotate.participants.test_sessions import statuses
from tests.annotate.writers import ALL_CONFIRMED, ANSWER, COMPLETE, a_study_of_writing, next_of, save
from tests.factories import rater_of

LATER = NOON + timedelta(hours=1)
MUCH_LATER = NOON + timedelta(hours=2)
State = CrowdSession.State


@pytest.fixture
def entry(study: Study) -> CrowdEntry:
    return an_entry(an_open_study(study))


@pytest.fixture
def session(entry: CrowdEntry) -> CrowdSession:
    """Somebody submitted one report, and has begun another with a place to spare."""
    a_report_task(entry.study, "The first report.", k=1)
    session = a_session(entry)
    submit_a_report(session)
    a_report_task(entry.study, "The second report.", k=2)
    begun = claim_next(study=entry.study, rater=rater_of_session(session), at=NOON)
    assert begun is not None
    item = begun.asked.all()[0].item
    Draft.objects.create(
        assignment=begun, item=item, criterion=entry.study.criteria.get(name="answerability"), grade=1, saved_at=NOON
    )
    return session


def work_of(study: Study) -> Any:
    """What counts: the judgments as they are exported, and how assignments, places and drafts stand."""
    return (
        list(exported_judgments(study, table="jsonl")),
        list(Assignment.objects.order_by("pk").values_list("pk", "state", "place", "submitted_at", "active_seconds")),
        list(Place.objects.order_by("pk").values_list("pk", "holder")),
        list(Draft.objects.values_list("assignment", "item", "criterion", "grade", "spans", "answer", "saved_at")),
        list(Enrolment.objects.values_list("user", "left_at")),
    )


def test_what_was_returned_by_mistake_is_as_it_was(entry: CrowdEntry, session: CrowdSession) -> None:
    before = work_of(entry.study)
    return_session(session=session, at=LATER)
    returned = work_of(entry.study)

    undo_return(session=session, at=MUCH_LATER)

    assert returned != before
    assert work_of(entry.study) == before
    session.refresh_from_db()
    assert (session.state, session.finished_at, session.taken_back) == (State.ACTIVE, None, None)
    assert Judgment.objects.count() == 3
    assert EarlierJudgment.objects.filter(reason="returned").count() == 3


def test_a_completed_session_is_completed_again(entry: CrowdEntry, session: CrowdSession) -> None:
    end(session, Because.NOTHING_LEFT, at=LATER)
    return_session(session=session, at=MUCH_LATER)

    undo_return(session=session, at=MUCH_LATER)

    session.refresh_from_db()
    assert (session.state, session.finished_at) == (State.COMPLETED, LATER)


def test_it_may_be_returned_and_undone_again(entry: CrowdEntry, session: CrowdSession) -> None:
    before = work_of(entry.study)
    for hours in (1, 2, 3):
        assert return_session(session=session, at=NOON + timedelta(hours=hours))
        undo_return(session=session, at=NOON + timedelta(hours=hours, minutes=30))

    assert work_of(entry.study) == before


def test_nothing_comes_back_when_somebody_else_has_a_place(entry: CrowdEntry, session: CrowdSession) -> None:
    return_session(session=session, at=LATER)
    other = a_session(entry, 2, at=LATER)
    submit_a_report(other)
    before = work_of(entry.study)

    with pytest.raises(PlacesGone, match="1 of its 2 tasks went to others"):
        undo_return(session=session, at=MUCH_LATER)

    assert work_of(entry.study) == before
    assert CrowdSession.objects.get(pk=session.pk).state == State.RETURNED


def test_another_free_place_of_the_same_task_will_do(entry: CrowdEntry, session: CrowdSession) -> None:
    return_session(session=session, at=LATER)
    task = entry.study.tasks.get(report__text="The first report.")
    [taken] = task.places.all()
    spare = Place.objects.create(task=task, number=2)
    submit_a_report(a_session(entry, 2, at=LATER))

    undo_return(session=session, at=MUCH_LATER)

    taken.refresh_from_db()
    spare.refresh_from_db()
    assert taken.holder != spare.holder == rater_of_session(session)
    assert Judgment.objects.count() == 6


def test_whoever_goes_on_in_a_later_session_is_left_alone(entry: CrowdEntry, session: CrowdSession) -> None:
    return_session(session=session, at=LATER)
    a_session(entry, session=2, at=MUCH_LATER)

    with pytest.raises(NotToBeUndone, match="continued in another session"):
        undo_return(session=session, at=MUCH_LATER)


def test_a_session_that_was_not_returned_cannot_be_undone(entry: CrowdEntry, session: CrowdSession) -> None:
    with pytest.raises(NotToBeUndone):
        undo_return(session=session, at=LATER)


def test_nothing_of_an_erased_person_comes_back(entry: CrowdEntry, session: CrowdSession, rosa: User) -> None:
    return_session(session=session, at=LATER)
    erase_person(study=entry.study, user=session.participant.user, by=rosa, at=LATER)

    with pytest.raises(NotToBeUndone, match="erased"):
        undo_return(session=session, at=MUCH_LATER)

    assert not Judgment.objects.exists()


def test_the_sites_list_does_not_return_it_again_until_it_says_something_else(
    entry: CrowdEntry, session: CrowdSession
) -> None:
    take_statuses(entry=entry, submissions=statuses((1, "RETURNED")), at=LATER)
    undo_return(session=session, at=MUCH_LATER)

    same = take_statuses(entry=entry, submissions=statuses((1, "RETURNED")), at=MUCH_LATER)
    take_statuses(entry=entry, submissions=statuses((1, "ACTIVE")), at=MUCH_LATER)
    news = take_statuses(entry=entry, submissions=statuses((1, "RETURNED")), at=MUCH_LATER)

    assert (same.returned, news.returned) == ([], [session])


def outside(study: Study, user: User) -> CrowdSession:
    """Let a person of the study count as one who came from Prolific."""
    entry = an_entry(study)
    participant = entry.participants.create(study=study, user=user, joined_at=NOON)
    return CrowdSession.objects.create(
        entry=entry, participant=participant, session_id="session1", cohort="cohort", arrived_at=NOON
    )


def test_a_written_answer_comes_back_with_its_round_2(rosa: User, ada: User) -> None:
    study = a_study_of_writing(owner=rosa, people=[ada])
    assignment = next_of(ada, study)
    save(assignment, COMPLETE, sentences=[0, 2], text=ANSWER, confirmed=ALL_CONFIRMED)
    submit_assignment(assignment=assignment, at=NOON)
    before = list(exported_judgments(study, table="jsonl"))
    session = outside(study, ada)

    return_session(session=session, at=LATER)
    none_to_read = AnswerToRevise.objects.count()
    undo_return(session=session, at=MUCH_LATER)

    assert none_to_read == 0
    assert list(exported_judgments(study, table="jsonl")) == before
    assert AnswerToRevise.objects.get().text == ANSWER


def test_pairs_come_back_as_they_were_seen(rosa: User, ada: User) -> None:
    study = a_study_of_answers(rosa, retrieved=True)
    assignment = in_hands(ada, study)
    see_the_passages(assignment)
    judge_the_rest(assignment)
    submit_assignment(assignment=assignment, at=NOON)
    before = list(exported_judgments(study, table="jsonl"))
    session = outside(study, ada)

    return_session(session=session, at=LATER)
    undo_return(session=session, at=MUCH_LATER)

    assert list(exported_judgments(study, table="jsonl")) == before
    assert any('"orders"' in line for line in before)
    assert rater_of(ada).assignments.get().revealed_at is not None


# --- The page and the API -----------------------------------------------------------------------


def test_rosa_undoes_it_on_the_page(client: Client, entry: CrowdEntry, session: CrowdSession, rosa: User) -> None:
    client.force_login(rosa)
    page = f"/studies/{entry.study.name}/crowd/"
    return_session(session=session, at=LATER)

    offered = client.get(page)
    undone = client.post(f"{page}sessions/{session.pk}/undo-return/", follow=True)

    assertContains(offered, "Undo the return")
    assertContains(undone, "is working again, with its labels")
    assertNotContains(undone, "Undo the return")


def test_the_page_says_why_it_cannot_be_undone(
    client: Client, entry: CrowdEntry, session: CrowdSession, rosa: User
) -> None:
    client.force_login(rosa)
    return_session(session=session, at=LATER)
    submit_a_report(a_session(entry, 2, at=LATER))

    response = client.post(f"/studies/{entry.study.name}/crowd/sessions/{session.pk}/undo-return/", follow=True)

    assertContains(response, "1 of its 2 tasks went to others in the meantime")


def test_a_stranger_undoes_nothing(client: Client, entry: CrowdEntry, session: CrowdSession, mallory: User) -> None:
    client.force_login(mallory)
    return_session(session=session, at=LATER)

    response = client.post(f"/studies/{entry.study.name}/crowd/sessions/{session.pk}/undo-return/")

    assert response.status_code == 404
    assert not Judgment.objects.exists()


def test_the_api_undoes_it_too_and_says_why_it_cannot(entry: CrowdEntry, session: CrowdSession, rosa: User) -> None:
    api = APIClient()
    api.force_authenticate(rosa)
    address = f"/api/v1/studies/{entry.study.name}/crowd/sessions/"
    api.post(f"{address}return/", {"id": session.pk}, format="json")

    undone = api.post(f"{address}undo-return/", {"id": session.pk}, format="json")
    again = api.post(f"{address}undo-return/", {"id": session.pk}, format="json")

    assert (undone.status_code, undone.json()) == (200, {"state": "active", "changed": True})
    assert again.status_code == 409
    assert "was not returned" in again.json()["detail"]
