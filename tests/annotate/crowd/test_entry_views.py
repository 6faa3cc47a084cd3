"""The pages by which people from outside come in and go: whom they let in, whom they refuse, who may frame them."""

from __future__ import annotations

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from annotate.assignments.assignments import claim_next
from annotate.crowd.returns import return_session
from annotate.models import Assignment, CrowdEntry, CrowdSession, Participant, ScreenOut
from annotate.participants.arrivals import signed
from annotate.quality.screening import screen_out
from annotate.sessions.outcomes import Because, end
from annotate.work.queue import queues_of
from collection.models import Study, User
from tests.annotate.crowd_factories import (
    COHORT,
    PID,
    SESSION,
    a_session,
    address,
    an_arrival,
    an_entry,
    rater_of_session,
    submit_a_report,
)
from tests.annotate.factories import NOON, a_report_task, an_open_study

HIT = {
    "assignmentId": "3ASSIGNMENT01",
    "hitId": "3HIT0000000001",
    "workerId": "A1WORKER01",
    "turkSubmitTo": "https://www.mturk.com/",
}


@pytest.fixture
def entry(study: Study) -> CrowdEntry:
    return an_entry(an_open_study(study), tasks_per_person=1)


@pytest.fixture
def turk(study: Study) -> CrowdEntry:
    return an_entry(an_open_study(study), "mturk")


def started(entry: CrowdEntry, number: int = 1, client: Client | None = None) -> Client:
    """A browser in which this person pressed the button of the welcome page."""
    client = client or Client()
    response = client.post(f"/p/{entry.token}/", {"arrival": signed(entry, an_arrival(number))})
    assert response.status_code == 302
    return client


# --- Coming in ----------------------------------------------------------------------------------


def test_looking_at_the_welcome_page_keeps_nothing(entry: CrowdEntry, client: Client) -> None:
    response = client.get(address(entry))

    assert response.status_code == 200
    assert "rosa@example.org" in response.content.decode()
    assert Participant.objects.count() == 0
    assert "sessionid" not in client.cookies


def test_starting_leads_to_the_first_task(entry: CrowdEntry, client: Client) -> None:
    a_report_task(entry.study)

    response = client.post(f"/p/{entry.token}/", {"arrival": signed(entry, an_arrival())})

    assignment = Assignment.objects.get()
    assert response["Location"] == f"/work/{assignment.pk}/"
    assert client.get(response["Location"]).status_code == 200


@pytest.mark.parametrize(
    ("query", "complaint"),
    [
        ("", "The link has no PROLIFIC_PID"),
        (f"PROLIFIC_PID={PID}&STUDY_ID={COHORT}", "The link has no SESSION_ID"),
        (f"PROLIFIC_PID=x&STUDY_ID={COHORT}&SESSION_ID={SESSION}", "not an id of Prolific"),
        (f"PROLIFIC_PID={PID}&STUDY_ID={COHORT}&SESSION_ID=%3Cscript%3E", "not an id of Prolific"),
        ("PROLIFIC_PID={{%25PROLIFIC_PID%25}}&STUDY_ID=a&SESSION_ID=b", "placeholders"),
        (f"PROLIFIC_PID={'a' * 65}&STUDY_ID={COHORT}&SESSION_ID={SESSION}", "not an id of Prolific"),
    ],
)
def test_an_odd_link_says_what_is_odd(entry: CrowdEntry, client: Client, query: str, complaint: str) -> None:
    response = client.get(f"/p/{entry.token}/?{query}")

    assert response.status_code == 400
    assert complaint in response.content.decode()
    assert b"<script>" not in response.content


@pytest.mark.parametrize("token", ["", "forged", "eyJhIjoxfQ:1abc:xyz"])
def test_a_forged_start_makes_nobody(entry: CrowdEntry, client: Client, token: str) -> None:
    response = client.post(f"/p/{entry.token}/", {"arrival": token})

    assert response.status_code == 400
    assert Participant.objects.count() == 0


def test_an_arrival_at_one_entry_is_none_at_another(entry: CrowdEntry, turk: CrowdEntry, client: Client) -> None:
    response = client.post(f"/p/{entry.token}/", {"arrival": signed(turk, an_arrival())})

    assert response.status_code == 400
    assert Participant.objects.count() == 0


def test_an_unknown_entry_is_not_found(db: None, client: Client) -> None:
    paths = ["/p/nothing/", "/m/nothing/", "/m/nothing/state/", "/m/nothing/start/", "/i/nothing/"]
    assert {path: client.get(path).status_code for path in paths} == dict.fromkeys(paths, 404)


def test_the_entry_of_one_site_is_none_of_the_other(entry: CrowdEntry, client: Client) -> None:
    assert client.get(f"/m/{entry.token}/").status_code == 404


def test_starting_takes_a_form_of_ours(entry: CrowdEntry) -> None:
    client = Client(enforce_csrf_checks=True)

    response = client.post(f"/p/{entry.token}/", {"arrival": signed(entry, an_arrival())})

    assert response.status_code == 403
    assert Participant.objects.count() == 0


def test_starting_puts_nothing_of_the_person_before_into_the_new_session(entry: CrowdEntry, rosa: User) -> None:
    client = Client()
    client.force_login(rosa)
    before = client.session.session_key

    started(entry, client=client)

    assert client.session.session_key != before
    assert client.session["_auth_user_id"] == str(Participant.objects.get().user.pk)


def test_a_participant_sees_no_page_of_researchers(entry: CrowdEntry) -> None:
    client = started(entry)

    paths = ["/studies/", f"/studies/{entry.study.name}/", f"/studies/{entry.study.name}/crowd/", "/admin/"]

    assert [client.get(path).status_code for path in paths] == [404, 404, 404, 302]


def test_the_welcome_page_costs_as_much_for_a_hundred_as_for_one(
    entry: CrowdEntry, client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(1, 6):
        a_session(entry, number)

    with django_assert_num_queries(14):  # entry, session, person, enrolment; tasks; what comes before the work
        client.get(address(entry, 3))


# --- The end ------------------------------------------------------------------------------------


def test_no_code_stands_on_any_page_before_the_end(entry: CrowdEntry) -> None:
    a_report_task(entry.study)
    client = started(entry)

    pages = [client.get(path) for path in (address(entry), "/work/", f"/work/finished/{entry.study.name}/")]

    assert [page.status_code for page in pages] == [200, 200, 200]
    assert not any(code in page.content for page in pages for code in (b"CDONE", b"COUT", b"CNO"))


def test_the_quota_ends_it_with_the_code_and_gives_out_no_more(entry: CrowdEntry) -> None:
    for number in range(2):
        a_report_task(entry.study, f"Report {number}.")
    client = started(entry)
    submit_a_report(CrowdSession.objects.get())

    response = client.post(f"/work/next/{entry.study.name}/", follow=True)
    api = client.post(f"/api/v1/assignments/next/{entry.study.name}/")

    assert b"CDONE" in response.content
    assert "https://app.prolific.com/submissions/complete?cc=CDONE" in response.content.decode()
    assert api.status_code == 204
    assert Assignment.objects.count() == 1


def test_the_queue_promises_no_more_than_the_session_gives(entry: CrowdEntry) -> None:
    CrowdEntry.objects.update(tasks_per_person=2)
    for number in range(5):
        a_report_task(entry.study, f"Report {number}.")
    client = started(entry)
    user = Participant.objects.get().user

    (in_the_middle,) = queues_of(user, at=NOON)
    submit_a_report(CrowdSession.objects.get())
    submit_a_report(CrowdSession.objects.get())
    client.post(f"/work/next/{entry.study.name}/")
    (at_the_end,) = queues_of(user, at=NOON)

    assert (in_the_middle.n_all, in_the_middle.n_left) == (2, 1)
    assert (at_the_end.n_all, at_the_end.n_left) == (2, 0)


def test_ending_twice_shows_the_same_code(entry: CrowdEntry) -> None:
    a_report_task(entry.study)
    client = started(entry)
    submit_a_report(CrowdSession.objects.get())

    pages = [client.post(f"/work/next/{entry.study.name}/", follow=True) for _ in range(2)]

    first_end = CrowdSession.objects.get().finished_at
    assert all(b"CDONE" in page.content for page in pages)
    assert CrowdSession.objects.get().finished_at == first_end


def test_whoever_found_no_work_goes_on_when_some_comes_back(entry: CrowdEntry) -> None:
    client = started(entry)
    found_none = CrowdSession.objects.get().state
    a_report_task(entry.study)

    response = client.post(f"/work/next/{entry.study.name}/")

    session = CrowdSession.objects.get()
    assert found_none == "no_work"
    assert (session.state, session.finished_at) == ("active", None)
    assert response["Location"] == f"/work/{Assignment.objects.get().pk}/"


@pytest.mark.parametrize(
    ("reason", "code"), [("training", "COUT"), ("attention", "COUT"), ("answer", "COUT"), ("consent", "CNO")]
)
def test_the_screened_out_get_their_own_code(entry: CrowdEntry, reason: str, code: str) -> None:
    client = started(entry)
    user = Participant.objects.get().user
    screen_out(study=entry.study, user=user, reason=ScreenOut.Reason(reason), at=NOON)

    response = client.get(f"/work/end/{entry.study.name}/", follow=True)

    assert f"cc={code}" in response.content.decode()
    assert b"CDONE" not in response.content


def test_without_a_code_for_it_the_submission_is_to_be_returned(entry: CrowdEntry) -> None:
    CrowdEntry.objects.update(screen_out_code="")
    client = started(entry)
    user = Participant.objects.get().user
    screen_out(study=entry.study, user=user, reason=ScreenOut.Reason.TRAINING, at=NOON)

    response = client.get(f"/work/finished/{entry.study.name}/")

    assert "https://app.prolific.com/submissions/" in response.content.decode()
    assert b"cc=" not in response.content


def test_a_returned_session_shows_no_code(entry: CrowdEntry) -> None:
    client = started(entry)
    return_session(session=CrowdSession.objects.get(), at=NOON)

    response = client.get(f"/work/finished/{entry.study.name}/")

    assert b"You returned this session" in response.content
    assert b"CDONE" not in response.content


def test_the_end_is_for_its_participants_alone(entry: CrowdEntry, client: Client, ada: User) -> None:
    a_session(entry)
    address = f"/work/finished/{entry.study.name}/"

    anonymous = client.get(address)
    client.force_login(ada)

    assert anonymous.status_code == 302
    assert client.get(address).status_code == 404


# --- Mechanical Turk ----------------------------------------------------------------------------


def test_only_its_own_origins_may_frame_the_entry_and_nothing_else(turk: CrowdEntry, client: Client) -> None:
    framed = client.get(f"/m/{turk.token}/", HIT)
    beside = client.get(f"/m/{turk.token}/start/", {"arrival": signed(turk, an_arrival())})

    policy = framed["Content-Security-Policy"]
    assert "frame-ancestors https://www.mturk.com https://worker.mturk.com https://workersandbox.mturk.com" in policy
    assert "form-action 'self' https://www.mturk.com" in policy
    assert "script-src 'self'" in policy
    assert "X-Frame-Options" not in framed
    assert "frame-ancestors 'none'" in beside["Content-Security-Policy"]
    assert beside["X-Frame-Options"] == "DENY"


@pytest.mark.parametrize(
    "submit_to",
    [
        "",
        "https://evil.example",
        "http://www.mturk.com",
        "https://www.mturk.com.evil.example",
        "https://x@evil.example",
        "javascript:alert(1)",
        "https://evil.example/https://www.mturk.com",
    ],
)
def test_work_is_handed_to_no_other_site(turk: CrowdEntry, client: Client, submit_to: str) -> None:
    response = client.get(f"/m/{turk.token}/", HIT | {"turkSubmitTo": submit_to})

    assert response.status_code == 400
    assert "is not a site of Mechanical Turk" in response.content.decode()


def test_the_submit_form_stands_in_the_frame_when_the_work_is_done(turk: CrowdEntry, client: Client) -> None:
    a_report_task(turk.study)
    frame = client.get(f"/m/{turk.token}/", HIT)
    arrival = frame.context["arrival"]
    client.post(f"/m/{turk.token}/start/", {"arrival": arrival})
    working = Client().get(f"/m/{turk.token}/state/", {"arrival": arrival})
    session = CrowdSession.objects.get()
    submit_a_report(session)
    end(session, Because.NOTHING_LEFT, at=NOON)

    done = Client().get(f"/m/{turk.token}/state/", {"arrival": arrival})

    assert b"CDONE" not in working.content
    assert 'action="https://www.mturk.com/mturk/externalSubmit"' in done.content.decode()
    assert 'name="assignmentId" value="3ASSIGNMENT01"' in done.content.decode()
    assert 'value="CDONE"' in done.content.decode()


def test_another_worker_with_the_same_assignment_is_told_nothing(turk: CrowdEntry, client: Client) -> None:
    session = a_session(turk)
    end(session, Because.NOTHING_LEFT, at=NOON)
    CrowdSession.objects.update(session_id=HIT["assignmentId"], state="completed")

    response = client.get(f"/m/{turk.token}/", HIT)

    assert b"CDONE" not in response.content


def test_a_preview_of_an_empty_study_says_so(turk: CrowdEntry, client: Client) -> None:
    response = client.get(f"/m/{turk.token}/", {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"})

    assert response.status_code == 200
    assert b"There is no task yet." in response.content


def test_a_preview_shows_the_beginning_of_a_long_text_alone(turk: CrowdEntry, client: Client) -> None:
    a_report_task(turk.study, "word " * 1_000)

    response = client.get(f"/m/{turk.token}/", {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"})

    assert response.content.count(b"word ") < 300


def test_other_addresses_are_a_setting(turk: CrowdEntry, client: Client, settings: Settings) -> None:
    settings.MTURK_ORIGINS = ["https://turk.example"]

    refused, let_in = (
        client.get(f"/m/{turk.token}/", HIT | {"turkSubmitTo": origin})
        for origin in ("https://www.mturk.com", "https://turk.example")
    )

    assert (refused.status_code, let_in.status_code) == (400, 200)
    assert "frame-ancestors https://turk.example" in let_in["Content-Security-Policy"]


def test_work_in_hand_is_not_cut_off_by_the_quota(entry: CrowdEntry) -> None:
    for number in range(2):
        a_report_task(entry.study, f"Report {number}.")
    client = started(entry)
    session = CrowdSession.objects.get()
    submit_a_report(session)
    in_hand = claim_next(study=entry.study, rater=rater_of_session(session), at=NOON)

    response = client.post(f"/work/next/{entry.study.name}/")

    assert in_hand is not None
    assert response["Location"] == f"/work/{in_hand.pk}/"
