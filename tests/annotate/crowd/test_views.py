"""The researcher's page of people from outside: entries, pay, sessions, Prolific's export, invitations."""

from __future__ import annotations

import csv
import io
from datetime import timedelta
from decimal import Decimal

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils.timezone import now
from playwright.sync_api import Page, expect
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient

from annotate.crowd.invitations import accept_invitation, make_invitation
from annotate.models import CrowdEntry, CrowdSession, Erasure, Invitation, ReturnLink, TrainingAttempt
from annotate.sessions.outcomes import Because, end
from collection.models import Judgment, Study, User
from tests.annotate.crowd_factories import PID, SESSION, a_session, an_arrival, an_entry, completed, submit_a_report
from tests.annotate.factories import NOON, a_report_task, an_open_study
from tests.browser import SignIn, check_accessibility, check_no_sideways_scroll

FORM = {
    "completion_code": "C123",
    "screen_out_code": "",
    "no_consent_code": "",
    "reward": "3.00",
    "currency": "gbp",
    "estimated_minutes": "20",
    "floor": "9.00",
    "paid_time": "elapsed",
    "tasks_per_person": "",
    "least_judged": "50",
    "most_people": "",
    "contact": "rosa@example.org",
    "takes_newcomers": "on",
}


@pytest.fixture
def entry(study: Study) -> CrowdEntry:
    return an_entry(an_open_study(study))


@pytest.fixture
def as_rosa(rosa: User) -> Client:
    client = Client()
    client.force_login(rosa)
    return client


def paid_sessions(entry: CrowdEntry, *minutes: int) -> list[CrowdSession]:
    sessions = [a_session(entry, number) for number in range(1, len(minutes) + 1)]
    return [completed(session, minutes=length) for session, length in zip(sessions, minutes, strict=True)]


def crowd(study: Study, rest: str = "") -> str:
    return f"/studies/{study.name}/crowd/{rest}"


# --- Who may ------------------------------------------------------------------------------------


def addresses(study: Study, session: CrowdSession, invitation: Invitation) -> list[tuple[str, str]]:
    username = session.participant.user.username
    return [
        ("get", ""),
        ("get", "prolific/"),
        ("post", "prolific/"),
        ("get", "prolific/top-ups.csv"),
        ("post", "prolific/top-ups/paid/"),
        ("post", "statuses/"),
        ("post", f"sessions/{session.pk}/return/"),
        ("post", "invitations/"),
        ("post", f"invitations/{invitation.pk}/"),
        ("get", f"people/?sought={PID}"),
        ("get", f"people/{username}/"),
        ("post", f"people/{username}/erase/"),
        ("post", f"people/{username}/link/"),
        ("get", "judgments.csv"),
        ("get", "judgments.jsonl"),
    ]


@pytest.mark.parametrize("who", ["mallory", "ada", "the participant"])
def test_strangers_find_nothing_and_change_nothing(
    entry: CrowdEntry, rosa: User, mallory: User, ada: User, client: Client, who: str
) -> None:
    session = a_session(entry)
    invitation = make_invitation(study=entry.study, note="", most_uses=1, expires_at=now() + timedelta(days=1), by=rosa)
    client.force_login({"mallory": mallory, "ada": ada, "the participant": session.participant.user}[who])

    answers = {
        (method, rest): getattr(client, method)(crowd(entry.study, rest)).status_code
        for method, rest in addresses(entry.study, session, invitation)
    }

    session.refresh_from_db()
    invitation.refresh_from_db()
    assert set(answers.values()) == {404}
    assert (session.state, invitation.revoked_at, Erasure.objects.count()) == ("active", None, 0)


def test_the_signed_out_are_asked_who_they_are(entry: CrowdEntry, client: Client) -> None:
    assert client.get(crowd(entry.study)).status_code == 302


# --- Entries ------------------------------------------------------------------------------------


def test_rosa_makes_an_entry_and_gets_the_link_to_paste(study: Study, as_rosa: Client) -> None:
    made = as_rosa.post(crowd(study, "prolific/"), FORM, follow=True)

    entry = CrowdEntry.objects.get()
    link = f"/p/{entry.token}/?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}&amp;STUDY_ID={{{{%STUDY_ID%}}}}&amp;SESSION_ID="
    assert (entry.currency, entry.completion_code, entry.tasks_per_person) == ("GBP", "C123", None)
    assert link in made.content.decode()
    assert "9.00 an hour as planned" in made.content.decode()


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"completion_code": "two words"}, "made of letters"),
        ({"completion_code": ""}, "required"),
        ({"reward": "-1"}, "greater than or equal to 0"),
        ({"estimated_minutes": "0"}, "greater than or equal to 1"),
        ({"currency": "pounds"}, "at most 3"),
        ({"contact": "nobody"}, "valid email"),
        ({"tasks_per_person": "0"}, "greater than or equal to 1"),
    ],
)
def test_a_broken_entry_says_what_is_broken(
    study: Study, as_rosa: Client, change: dict[str, str], complaint: str
) -> None:
    response = as_rosa.post(crowd(study, "prolific/"), FORM | change)

    assert response.status_code == 422
    assert complaint in response.content.decode()
    assert CrowdEntry.objects.count() == 0


def test_mechanical_turk_needs_no_code_of_its_own_and_gets_a_question(study: Study, as_rosa: Client) -> None:
    made = as_rosa.post(crowd(study, "mturk/"), FORM | {"completion_code": "", "currency": "USD"}, follow=True)

    entry = CrowdEntry.objects.get()
    assert entry.completion_code == "done"
    assert f"/m/{entry.token}/&lt;/ExternalURL&gt;" in made.content.decode()


def test_changing_an_entry_keeps_its_link(entry: CrowdEntry, as_rosa: Client) -> None:
    as_rosa.post(crowd(entry.study, "prolific/"), FORM | {"reward": "4.50"})

    changed = CrowdEntry.objects.get()
    assert (changed.token, changed.reward) == (entry.token, Decimal("4.50"))


# --- Pay ----------------------------------------------------------------------------------------


def test_the_page_of_an_empty_study_says_that_nobody_came(study: Study, as_rosa: Client) -> None:
    response = as_rosa.get(crowd(study))

    assert response.status_code == 200
    assert b"Recruitment is not open." in response.content


def test_the_meter_says_what_an_hour_brings(entry: CrowdEntry, as_rosa: Client) -> None:
    paid_sessions(entry, 10, 20, 30, 40, 60)

    page = as_rosa.get(crowd(entry.study), headers={"HX-Request": "true"}).content.decode()

    assert "<html" not in page
    assert "GBP 6.00" in page
    assert "between 3.00 and 18.00 with 93.75 % confidence" in page
    assert PID not in page


def test_the_top_ups_name_whom_to_pay(entry: CrowdEntry, as_rosa: Client) -> None:
    first, second = paid_sessions(entry, 10, 40)

    response = as_rosa.get(crowd(entry.study, "prolific/top-ups.csv"))

    [row] = csv.DictReader(io.StringIO(response.content.decode()))
    assert row["pseudonym"] == second.participant.user.username
    assert row["crowd_id"] == an_arrival(2).crowd_id
    assert (row["session_id"], row["top_up"], row["hourly"], row["currency"]) == (
        second.session_id,
        "3.00",
        "4.50",
        "GBP",
    )
    assert first.session_id not in response.content.decode()


def test_who_is_paid_says_whose_pause_was_capped(entry: CrowdEntry, as_rosa: Client) -> None:
    paid_sessions(entry, 40)
    entry.floor = Decimal("90.00")
    entry.save()
    TrainingAttempt.objects.all().delete()

    page = as_rosa.get(crowd(entry.study)).content.decode()
    [row] = csv.DictReader(io.StringIO(as_rosa.get(crowd(entry.study, "prolific/top-ups.csv")).content.decode()))

    assert '30.0 min <span class="badge warn">pause capped</span>' in page
    assert (row["elapsed_minutes"], row["elapsed_capped"], row["active_capped"]) == ("30.0", "yes", "")


def test_no_text_of_the_top_ups_is_a_formula(entry: CrowdEntry, as_rosa: Client) -> None:
    [session] = paid_sessions(entry, 40)
    CrowdSession.objects.update(cohort="-1+1")

    response = as_rosa.get(crowd(entry.study, "prolific/top-ups.csv"))

    [row] = csv.DictReader(io.StringIO(response.content.decode()))
    assert (row["cohort"], row["session_id"]) == ("'-1+1", session.session_id)


def test_top_ups_that_were_paid_are_listed_no_more(entry: CrowdEntry, as_rosa: Client) -> None:
    [session] = paid_sessions(entry, 40)
    form = {f"owed-{session.pk}": "3.00", "owed-x": "1", "owed-9": "nan", "other": "5"}

    said = as_rosa.post(crowd(entry.study, "prolific/top-ups/paid/"), form, follow=True)

    session.refresh_from_db()
    assert session.bonus == Decimal("3.00")
    assert b"1 top-up counted as paid." in said.content
    assert b"below the floor," not in said.content


# --- Sessions -----------------------------------------------------------------------------------


def test_rosa_marks_a_session_as_returned(entry: CrowdEntry, as_rosa: Client) -> None:
    a_report_task(entry.study)
    session = a_session(entry)
    submit_a_report(session)

    said = [as_rosa.post(crowd(entry.study, f"sessions/{session.pk}/return/"), follow=True) for _ in range(2)]

    session.refresh_from_db()
    assert session.state == "returned"
    assert Judgment.objects.count() == 0
    assert b"is returned; its places are free" in said[0].content
    assert b"was already returned" in said[1].content


def an_export(*lines: str) -> SimpleUploadedFile:
    head = "Submission id,Participant id,Status,Started at\n"
    return SimpleUploadedFile("prolific_export.csv", (head + "".join(f"{line}\n" for line in lines)).encode())


def test_prolifics_export_frees_the_places_of_the_returned(entry: CrowdEntry, as_rosa: Client) -> None:
    session, other = a_session(entry, 1), a_session(entry, 2)
    end(other, Because.NOTHING_LEFT, at=NOON)
    export = an_export(f"{SESSION},{PID},RETURNED,2026-03-01", f"{other.session_id},x,AWAITING REVIEW,")

    said = as_rosa.post(crowd(entry.study, "statuses/"), {"statuses": export}, follow=True)

    session.refresh_from_db()
    other.refresh_from_db()
    assert (session.state, other.site_status) == ("returned", "AWAITING REVIEW")
    assert b"2 submissions are known here: 1 newly returned" in said.content


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ([f"{SESSION},{PID},RETURNED,x", f"s2,{PID},GONE,x"], "Line 3: “GONE” is not a status"),
        ([f"{SESSION},{PID}"], "Line 2: The row does not have one value for each column"),
        (
            [f"{SESSION},{PID},RETURNED,x", f"{SESSION},{PID},ACTIVE,x"],
            f"Line 3: Submission {SESSION} is already in line 2",
        ),
        ([f",{PID},RETURNED,x"], "Line 2: The Submission id is empty"),
        ([f'{SESSION},{PID},RETURNED,"x'], "This is not CSV"),
    ],
)
def test_a_broken_export_names_its_line_and_changes_nothing(
    entry: CrowdEntry, as_rosa: Client, lines: list[str], complaint: str
) -> None:
    session = a_session(entry)

    response = as_rosa.post(crowd(entry.study, "statuses/"), {"statuses": an_export(*lines)})

    session.refresh_from_db()
    assert response.status_code == 422
    assert complaint in response.content.decode()
    assert (session.state, session.site_status) == ("active", "")


def test_another_table_is_no_export(entry: CrowdEntry, as_rosa: Client) -> None:
    file = SimpleUploadedFile("table.csv", b"item_id,criterion\n1,2\n")

    response = as_rosa.post(crowd(entry.study, "statuses/"), {"statuses": file})

    assert response.status_code == 422
    assert "The column “Submission id” is missing." in response.content.decode()


def test_an_export_with_a_status_in_lower_case_and_underscores_is_read(entry: CrowdEntry, as_rosa: Client) -> None:
    session = a_session(entry)

    as_rosa.post(crowd(entry.study, "statuses/"), {"statuses": an_export(f"{SESSION},{PID},timed_out,x")})

    session.refresh_from_db()
    assert (session.state, session.site_status) == ("timed_out", "TIMED-OUT")


def test_more_people_cost_no_more_queries(
    entry: CrowdEntry, as_rosa: Client, rosa: User, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    paid_sessions(entry, *range(5, 60))
    for _ in range(3):
        invitation = make_invitation(
            study=entry.study, note="", most_uses=9, expires_at=now() + timedelta(days=1), by=rosa
        )
        accept_invitation(invitation=invitation, name="Somebody", at=now())

    with django_assert_max_num_queries(15):
        response = as_rosa.get(crowd(entry.study))

    assert "1–50 of 55" in response.content.decode()


# --- API ----------------------------------------------------------------------------------------


def test_the_api_names_people_by_pseudonym_unless_asked(entry: CrowdEntry, rosa: User) -> None:
    a_session(entry)
    client = APIClient()
    client.force_authenticate(rosa)
    address = f"/api/v1/studies/{entry.study.name}/crowd/sessions/"

    plain, asked = client.get(address), client.get(f"{address}?with_crowd_ids=true")

    assert PID not in plain.content.decode()
    assert SESSION not in plain.content.decode()
    assert plain.json()["results"][0]["pseudonym"].startswith("worker-")
    assert (asked.json()["results"][0]["crowd_id"], asked.json()["results"][0]["session_id"]) == (PID, SESSION)


@pytest.mark.parametrize(
    ("sent", "status"), [({"session_id": SESSION}, 200), ({"session_id": "x"}, 404), ({}, 400), ({"id": 0}, 400)]
)
def test_the_api_marks_a_session_as_returned(
    entry: CrowdEntry, rosa: User, sent: dict[str, object], status: int
) -> None:
    session = a_session(entry)
    client = APIClient()
    client.force_authenticate(rosa)

    response = client.post(f"/api/v1/studies/{entry.study.name}/crowd/sessions/return/", sent, format="json")

    session.refresh_from_db()
    assert response.status_code == status
    assert session.state == ("returned" if status == 200 else "active")


def test_the_api_tells_strangers_nothing(entry: CrowdEntry, mallory: User) -> None:
    a_session(entry)
    client = APIClient()
    client.force_authenticate(mallory)
    address = f"/api/v1/studies/{entry.study.name}/crowd/sessions/"

    answers = [client.get(address), client.post(f"{address}return/", {"session_id": SESSION}, format="json")]

    assert [answer.status_code for answer in answers] == [404, 404]


# --- Elsewhere ----------------------------------------------------------------------------------


def test_workers_of_one_study_are_not_offered_to_another(
    entry: CrowdEntry, as_rosa: Client, rosa: User, ada: User
) -> None:
    worker = a_session(entry).participant.user
    User.objects.filter(pk=ada.pk).update(made_for=entry.study.collection)

    page = as_rosa.get("/studies/new/").content.decode()

    assert 'value="ada"' in page
    assert worker.username not in page


# --- Invitations --------------------------------------------------------------------------------


def test_a_new_link_is_shown_once_and_replaces_the_old(entry: CrowdEntry, as_rosa: Client, rosa: User) -> None:
    invitation = make_invitation(study=entry.study, note="", most_uses=1, expires_at=now() + timedelta(days=1), by=rosa)
    participant, old = accept_invitation(invitation=invitation, name="Ada", at=now())

    page = as_rosa.post(crowd(entry.study, f"people/{participant}/link/")).content.decode()

    new = page.split("/back/")[1].split("/")[0]
    assert Client().get(f"/back/{old}/").status_code == 400
    assert Client().get(f"/back/{new}/").status_code == 200
    assert new not in str(ReturnLink.objects.values())
    assert new not in as_rosa.get(crowd(entry.study)).content.decode()


# --- In the browser -----------------------------------------------------------------------------


@pytest.mark.browser
def test_rosa_reads_the_meter_and_finds_a_person(
    page: Page, phone: Page, sign_in: SignIn, entry: CrowdEntry, rosa: User
) -> None:
    page.clock.install()
    sign_in(page, rosa)
    page.goto(crowd(entry.study))
    expect(page.get_by_text("Nobody has completed a session yet.")).to_be_visible()
    paid_sessions(entry, 20)

    page.clock.fast_forward(21_000)

    expect(page.get_by_text("The median hourly pay is")).to_contain_text("GBP 9.00")

    first, *_ = paid_sessions(entry, 10, 20, 30, 40, 60)
    sign_in(phone, rosa)
    for screen in (page, phone):
        _reads_the_meter_and_finds_a_person(screen, entry, first.participant.user.username)


def _reads_the_meter_and_finds_a_person(page: Page, entry: CrowdEntry, username: str) -> None:
    page.goto(crowd(entry.study))
    expect(page.get_by_text("The median hourly pay is")).to_contain_text("GBP 6.00")
    page.get_by_text("3 below the floor, GBP 10.50 to top up").click()
    check_accessibility(page)
    check_no_sideways_scroll(page)
    page.get_by_label("Find a person").fill(PID)
    page.get_by_role("button", name="Find").click()

    expect(page.get_by_role("heading", name=username)).to_be_visible()
    expect(page.get_by_text(PID)).to_be_visible()
    check_accessibility(page)
    check_no_sideways_scroll(page)
