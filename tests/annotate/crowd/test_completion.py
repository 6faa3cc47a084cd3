"""For the completion code a share of the tasks must be judged, and not skipped."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client

from annotate.assignments.assignments import claim_next, return_assignment, return_stale
from annotate.models import Assignment, CrowdEntry, CrowdSession
from annotate.sessions.outcomes import Because, end, end_if_full
from annotate.sessions.sessions import share_of
from annotate.work.pace import SkipReason, skip_assignment
from collection.models import Study, User
from tests.annotate.crowd_factories import a_session, address, an_entry, rater_of_session, submit_a_report
from tests.annotate.factories import NOON, a_report_task, an_open_study, enrolled

LATER = NOON + timedelta(hours=1)
N_TASKS = 4


@pytest.fixture
def entry(study: Study) -> CrowdEntry:
    for number in range(N_TASKS):
        a_report_task(study, f"Report {number}.")
    return an_entry(an_open_study(study), too_few_code="CFEW")


def a_claimed(session: CrowdSession) -> Assignment:
    assignment = claim_next(study=session.entry.study, rater=rater_of_session(session), at=NOON)
    assert assignment is not None
    return assignment


def skip(session: CrowdSession) -> None:
    skip_assignment(assignment=a_claimed(session), reason=SkipReason.UNCLEAR, words="", at=NOON)


def ended(session: CrowdSession) -> str:
    end(session, Because.NOTHING_LEFT, at=LATER)
    return session.state


def test_one_task_submitted_and_all_others_skipped_is_not_completed(entry: CrowdEntry) -> None:
    session = a_session(entry)
    submit_a_report(session)
    for _ in range(N_TASKS - 1):
        skip(session)

    assert ended(session) == CrowdSession.State.TOO_FEW


def test_half_of_the_tasks_are_enough_where_nothing_else_is_said(entry: CrowdEntry) -> None:
    session = a_session(entry)
    for _ in range(2):
        submit_a_report(session)
        skip(session)

    assert ended(session) == CrowdSession.State.COMPLETED


@pytest.mark.parametrize(("percent", "state"), [(75, "completed"), (76, "too_few"), (100, "too_few")])
def test_rosa_says_how_many_are_enough(entry: CrowdEntry, percent: int, state: str) -> None:
    entry.least_judged = percent
    entry.save()
    session = a_session(entry)
    for _ in range(3):
        submit_a_report(session)
    skip(session)

    assert ended(session) == state


def test_whoever_does_the_tasks_that_one_person_does_has_completed(entry: CrowdEntry) -> None:
    entry.tasks_per_person = 1
    entry.save()
    session = a_session(entry)
    for _ in range(N_TASKS - 1):
        skip(session)
    submit_a_report(session)

    assert end_if_full(session=session, at=LATER)
    assert session.state == CrowdSession.State.COMPLETED


def test_the_share_is_of_the_tasks_that_one_person_does(entry: CrowdEntry) -> None:
    entry.tasks_per_person = 2
    entry.save()
    session = a_session(entry)
    submit_a_report(session)
    for _ in range(N_TASKS - 1):
        skip(session)

    assert ended(session) == CrowdSession.State.COMPLETED


def test_whoever_skips_all_of_them_did_not_find_no_work(entry: CrowdEntry) -> None:
    session = a_session(entry)
    for _ in range(N_TASKS):
        skip(session)

    assert ended(session) == CrowdSession.State.TOO_FEW


def test_a_task_given_back_or_left_alone_counts_as_one_not_judged(entry: CrowdEntry, ada: User) -> None:
    session = a_session(entry)
    return_assignment(assignment=a_claimed(session), at=NOON)
    a_claimed(session)
    entry.study.timeout_minutes = 10
    return_stale(study=entry.study, at=LATER, but_of=enrolled(ada, entry.study))

    share = share_of(session)

    assert (share.judged, share.passed_on, share.needed) == (0, 2, 1)


def test_a_session_answers_for_its_own_tasks_alone(entry: CrowdEntry) -> None:
    first = a_session(entry)
    for _ in range(3):
        skip(first)
    later = a_session(entry, session=2, at=LATER)
    submit_a_report(later)

    assert ended(later) == CrowdSession.State.COMPLETED
    assert share_of(first).passed_on == 3


# --- What people are told ---------------------------------------------------------------------------


def test_people_know_the_share_before_and_while_they_skip(entry: CrowdEntry, client: Client) -> None:
    welcome = client.get(address(entry)).text
    arrival = welcome.split('name="arrival" value="')[1].split('"')[0]
    client.post(address(entry), {"arrival": arrival})
    assignment = Assignment.objects.get()

    skipped = client.post(f"/work/{assignment.pk}/skip/", {"reason": "unclear"}, follow=True).text

    assert "you judge at least 50 % of your tasks" in welcome
    assert "You judged 0 of 1 task so far" in skipped


def test_the_end_shows_another_code_and_says_why(entry: CrowdEntry, client: Client) -> None:
    session = a_session(entry)
    for _ in range(N_TASKS):
        skip(session)
    client.force_login(session.participant.user)

    page = client.post(f"/work/next/{entry.study.name}/", follow=True).text

    assert "You judged 0 of the 4 tasks that you had" in page
    assert "CFEW" in page
    assert "CDONE" not in page


def test_the_researcher_is_told(entry: CrowdEntry, client: Client, rosa: User) -> None:
    session = a_session(entry)
    submit_a_report(session)
    for _ in range(N_TASKS - 1):
        skip(session)
    ended(session)
    client.force_login(rosa)

    page = client.get(f"/studies/{entry.study.name}/crowd/").text

    assert "1 session ended without the completion code" in page
    assert "too few judged" in page
