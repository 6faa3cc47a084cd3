"""People of crowd sites arrive, work, and come to one of several ends."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from rest_framework.test import APIClient

from annotate.assignments.assignments import claim_next
from annotate.crowd.prolific import Submission
from annotate.crowd.returns import return_session, take_statuses
from annotate.models import (
    Assignment,
    CrowdEntry,
    CrowdIdentity,
    CrowdSession,
    Enrolment,
    Participant,
    Place,
    ScreenOut,
)
from annotate.participants.arriving import arrive
from annotate.participants.participants import NotLetIn
from annotate.quality.screening import readmit, screen_out
from annotate.sessions.outcomes import Because, end, end_if_full, resume
from annotate.sessions.sessions import n_submitted, session_of
from annotate.studies.lifecycle import close_study, unenrol
from collection.models import EarlierJudgment, Judgment, Study, User
from tests.annotate.crowd_factories import PID, a_session, an_arrival, an_entry, rater_of_session, submit_a_report
from tests.annotate.factories import NOON, a_report_task, an_open_study
from tests.factories import a_user

LATER = NOON + timedelta(hours=1)


@pytest.fixture
def entry(study: Study) -> CrowdEntry:
    return an_entry(an_open_study(study))


# --- Arriving -----------------------------------------------------------------------------------


def test_a_newcomer_gets_an_account_whose_name_tells_nothing(entry: CrowdEntry) -> None:
    session = a_session(entry)

    user = session.participant.user
    assert user.username.startswith("worker-")
    assert PID not in user.username
    assert not user.has_usable_password()
    assert (user.rater.name, user.is_researcher, user.is_staff) == (user.username, False, False)
    assert Enrolment.objects.get().user == user
    assert CrowdIdentity.objects.get().crowd_id == PID


def test_the_same_id_comes_back_to_the_same_person_and_session(entry: CrowdEntry) -> None:
    sessions = [a_session(entry) for _ in range(3)]

    assert len({session.pk for session in sessions}) == 1
    assert Participant.objects.count() == 1


def test_a_later_submission_of_the_same_person_is_another_session(entry: CrowdEntry) -> None:
    first = a_session(entry)

    second = a_session(entry, session=2, at=LATER)

    first.refresh_from_db()
    assert (first.participant, first.state) == (second.participant, CrowdSession.State.TIMED_OUT)
    assert session_of(study=entry.study, user=second.participant.user) == second


def test_the_same_id_at_another_site_is_another_pseudonym(entry: CrowdEntry) -> None:
    other = an_entry(entry.study, "mturk")

    here, there = a_session(entry), a_session(other)

    assert here.participant.user != there.participant.user


def test_somebody_elses_session_is_refused(entry: CrowdEntry) -> None:
    a_session(entry, 1)

    with pytest.raises(NotLetIn, match="Somebody else has already used this session"):
        a_session(entry, 2, session=1)

    assert Participant.objects.count() == 1


@pytest.mark.parametrize("right", ["is_researcher", "is_staff", "is_superuser"])
def test_an_id_never_opens_an_account_with_rights(entry: CrowdEntry, right: str) -> None:
    user = a_session(entry).participant.user
    User.objects.filter(pk=user.pk).update(**{right: True})

    with pytest.raises(NotLetIn, match="opens only with its password"):
        a_session(entry)


def test_an_id_that_is_a_persons_username_opens_nothing_of_theirs(entry: CrowdEntry) -> None:
    rosa_like = a_user(PID)

    session = a_session(entry)

    assert session.participant.user != rosa_like


def test_an_entry_that_takes_no_newcomers_lets_the_begun_go_on(entry: CrowdEntry) -> None:
    a_session(entry, 1)
    entry.takes_newcomers = False
    entry.save()

    with pytest.raises(NotLetIn, match="takes no new participants"):
        a_session(entry, 2)

    assert a_session(entry, 1).state == CrowdSession.State.ACTIVE


def test_a_closed_study_lets_nobody_begin_and_still_knows_who_was_there(entry: CrowdEntry) -> None:
    session = a_session(entry, 1)
    close_study(study=entry.study, at=NOON)

    with pytest.raises(NotLetIn, match="gives out no work now"):
        a_session(entry, 2)

    assert a_session(entry, 1) == session


def test_whom_the_researcher_removed_does_not_come_back_by_the_link(entry: CrowdEntry) -> None:
    session = a_session(entry)
    unenrol(study=entry.study, user=session.participant.user, at=NOON)

    for number in (1, 2):
        with pytest.raises(NotLetIn, match="no longer in this study"):
            a_session(entry, session=number)

    assert Enrolment.objects.get().left_at == NOON


def test_no_more_people_come_in_than_the_site_has_places(entry: CrowdEntry) -> None:
    CrowdEntry.objects.update(most_people=2)
    first, second = a_session(entry, 1), a_session(entry, 2)

    with pytest.raises(NotLetIn, match="All places of this study are taken"):
        a_session(entry, 3)
    return_session(session=first, at=LATER)

    assert a_session(entry, 2) == second
    assert a_session(entry, 3).state == CrowdSession.State.ACTIVE


# --- The ends -----------------------------------------------------------------------------------


def test_a_session_ends_with_its_last_task_and_not_before(entry: CrowdEntry) -> None:
    entry.tasks_per_person = 2
    entry.save()
    for _ in range(3):
        a_report_task(entry.study, f"Words {entry.study.tasks.count()} of a report.")
    session = a_session(entry)

    ended = []
    for _ in range(2):
        submit_a_report(session)
        session = session_of(study=entry.study, user=session.participant.user) or session
        ended.append(end_if_full(session=session, at=LATER))

    assert ended == [False, True]
    assert (session.state, session.finished_at) == (CrowdSession.State.COMPLETED, LATER)


def test_a_second_session_counts_its_own_tasks(entry: CrowdEntry) -> None:
    a_report_task(entry.study)
    first = a_session(entry, at=NOON - timedelta(hours=1))
    submit_a_report(first)
    end(first, Because.NOTHING_LEFT, at=NOON + timedelta(minutes=1))

    second = a_session(entry, session=2, at=LATER)

    assert (n_submitted(first), n_submitted(second)) == (1, 0)


def test_whoever_finds_no_work_completed_nothing(entry: CrowdEntry) -> None:
    session = a_session(entry)

    end(session, Because.NOTHING_LEFT, at=LATER)

    assert session.state == CrowdSession.State.NO_WORK


def test_a_session_that_was_returned_meanwhile_is_not_completed(entry: CrowdEntry) -> None:
    a_report_task(entry.study)
    session = a_session(entry)
    submit_a_report(session)
    as_read_before = CrowdSession.objects.select_related("entry", "participant__user").get(pk=session.pk)
    return_session(session=session, at=LATER)

    end(as_read_before, Because.NOTHING_LEFT, at=LATER)

    assert CrowdSession.objects.get().state == CrowdSession.State.RETURNED
    assert as_read_before.state == CrowdSession.State.RETURNED


def test_a_session_that_was_returned_meanwhile_does_not_go_on(entry: CrowdEntry) -> None:
    session = a_session(entry)
    end(session, Because.NOTHING_LEFT, at=LATER)
    as_read_before = CrowdSession.objects.get()
    return_session(session=session, at=LATER)

    resume(as_read_before)

    assert CrowdSession.objects.get().state == CrowdSession.State.RETURNED


def test_the_api_ends_a_session_and_goes_on_with_it_as_the_pages_do(entry: CrowdEntry) -> None:
    session = a_session(entry)
    client = APIClient()
    client.force_authenticate(session.participant.user)
    address = f"/api/v1/assignments/next/{entry.study.name}/"

    none = client.post(address)
    found_no_work = CrowdSession.objects.get().state
    a_report_task(entry.study)
    one = client.post(address)

    assert (none.status_code, found_no_work) == (204, CrowdSession.State.NO_WORK)
    assert (one.status_code, CrowdSession.objects.get().state) == (200, CrowdSession.State.ACTIVE)


@pytest.mark.parametrize(
    ("reason", "state"), [("training", "screened_out"), ("attention", "screened_out"), ("consent", "no_consent")]
)
def test_being_screened_out_ends_the_session(entry: CrowdEntry, reason: str, state: str) -> None:
    a_report_task(entry.study)
    session = a_session(entry)
    claim_next(study=entry.study, rater=rater_of_session(session), at=NOON)

    screen_out(study=entry.study, user=session.participant.user, reason=ScreenOut.Reason(reason), at=LATER)

    session.refresh_from_db()
    assert (session.state, session.finished_at) == (state, LATER)
    assert Place.objects.exclude(holder=None).count() == 0


def test_the_screened_out_do_not_come_in_by_another_session_until_they_are_readmitted(entry: CrowdEntry) -> None:
    user = a_session(entry).participant.user
    screen_out(study=entry.study, user=user, reason=ScreenOut.Reason.TRAINING, at=NOON)

    second = a_session(entry, session=2, at=LATER)
    readmit(study=entry.study, user=user, at=LATER)
    third = a_session(entry, session=3, at=LATER + timedelta(hours=1))

    assert (second.state, third.state) == (CrowdSession.State.SCREENED_OUT, CrowdSession.State.ACTIVE)
    assert Enrolment.objects.get().left_at is None


# --- What the site says -------------------------------------------------------------------------


def test_a_returned_session_gives_its_places_back_and_keeps_the_history(entry: CrowdEntry) -> None:
    a_report_task(entry.study, "The first report.", k=1)
    a_report_task(entry.study, "The second report.", k=1)
    session = a_session(entry)
    submit_a_report(session)
    claim_next(study=entry.study, rater=rater_of_session(session), at=LATER)

    changed = [return_session(session=session, at=LATER) for _ in range(2)]

    assert changed == [True, False]
    assert set(Assignment.objects.values_list("state", flat=True)) == {"returned"}
    assert Place.objects.exclude(holder=None).count() == 0
    assert Judgment.objects.count() == 0
    assert EarlierJudgment.objects.filter(reason="returned").count() == 3
    assert Enrolment.objects.get().left_at == LATER


def test_returning_an_early_session_leaves_a_later_one_alone(entry: CrowdEntry) -> None:
    a_report_task(entry.study)
    first = a_session(entry, at=NOON - timedelta(hours=1))
    submit_a_report(first)
    end(first, Because.NOTHING_LEFT, at=NOON)
    a_report_task(entry.study, "Another report.")
    second = a_session(entry, session=2, at=LATER)
    assignment = claim_next(study=entry.study, rater=rater_of_session(second), at=LATER)

    return_session(session=first, at=LATER)

    assert assignment is not None
    assignment.refresh_from_db()
    assert assignment.state == Assignment.State.OPEN
    assert Enrolment.objects.get().left_at is None
    assert Judgment.objects.count() == 0


def statuses(*pairs: tuple[int, str]) -> list[Submission]:
    arrivals = [(an_arrival(number), status) for number, status in pairs]
    return [
        Submission(line, arrival.session_id, arrival.crowd_id, status)
        for line, (arrival, status) in enumerate(arrivals, start=2)
    ]


def test_statuses_from_the_site_free_the_places_of_those_who_left(entry: CrowdEntry) -> None:
    a_report_task(entry.study, k=4)
    sessions = [a_session(entry, number) for number in range(1, 5)]
    for session in sessions[:2]:
        submit_a_report(session)
        end(session, Because.NOTHING_LEFT, at=LATER)
    for session in sessions[2:]:
        claim_next(study=entry.study, rater=rater_of_session(session), at=NOON)
    told = statuses((1, "APPROVED"), (2, "TIMED-OUT"), (3, "TIMED-OUT"), (4, "RETURNED"), (9, "RETURNED"))

    read = take_statuses(entry=entry, submissions=told, at=LATER)
    again = take_statuses(entry=entry, submissions=told, at=LATER)

    assert (read.known, read.unknown) == (4, 1)
    assert (read.timed_out_but_completed, read.timed_out, read.returned) == (
        [sessions[1]],
        [sessions[2]],
        [sessions[3]],
    )
    assert (again.timed_out, again.returned) == ([], [])
    assert Place.objects.filter(holder=None).count() == 2
    assert Judgment.objects.count() == 6
    assert list(CrowdSession.objects.values_list("site_status", flat=True)) == [
        "APPROVED",
        "TIMED-OUT",
        "TIMED-OUT",
        "RETURNED",
    ]


def test_whoever_returned_may_come_again_by_a_new_session(entry: CrowdEntry) -> None:
    return_session(session=a_session(entry), at=LATER)

    again = arrive(entry=entry, arrival=replace(an_arrival(), session_id="another-one"), at=LATER + timedelta(hours=1))

    assert again.state == CrowdSession.State.ACTIVE
    assert Enrolment.objects.get().left_at is None
