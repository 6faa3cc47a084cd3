"""What a researcher asks of Prolific from here: previewed with its cost, sent once, and told when it fails."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.test import Client
from pytest_django import Settings

from annotate.crowd.pay_meter import note_top_ups_as_paid
from annotate.crowd.privacy import erase_person
from annotate.models import CrowdEntry, CrowdSession, SiteRequest, SiteToken
from annotate.prolific.plans import Kind, NotAsPlanned, plan_of
from annotate.prolific.requests import (
    AlreadySettled,
    NotDone,
    Outcome,
    carry_out,
    fetch_statuses,
    settle,
)
from annotate.prolific.tokens import NoToken, forget_token, keep_token, token_of
from annotate.quality.evidence import Evidence
from annotate.quality.flags import Flag
from annotate.studies.lifecycle import enrol
from collection.models import Study, User
from tests.annotate.crowd_factories import COHORT, a_session, an_arrival, an_entry, completed
from tests.annotate.factories import NOON, an_open_study
from tests.annotate.fake_prolific_api import TOKEN, FakeProlificApi

LATER = NOON + timedelta(hours=5)
URL = "https://assize.example.org/p/token/"


@pytest.fixture(scope="module")
def running() -> Iterator[FakeProlificApi]:
    with FakeProlificApi().serving() as api:
        yield api


@pytest.fixture
def api(running: FakeProlificApi, settings: Settings) -> FakeProlificApi:
    running.reset()
    settings.PROLIFIC_API_URL = running.url
    return running


@pytest.fixture
def entry(study: Study, rosa: User) -> CrowdEntry:
    keep_token(user=rosa, token=TOKEN, at=NOON)
    return an_entry(an_open_study(study), most_people=30)


def sent(entry: CrowdEntry, kind: str, rosa: User, **options: Any) -> Outcome:
    entry.refresh_from_db()
    plan = plan_of(entry, kind, by=rosa, **options)
    return carry_out(entry=entry, kind=kind, digest=plan.digest, by=rosa, at=LATER, **options)


def below_the_floor(entry: CrowdEntry, number: int = 1) -> CrowdSession:
    """Forty minutes for 3.00 against a floor of 9.00 an hour: 3.00 are lacking."""
    return completed(a_session(entry, number), minutes=40)


# --- The token ------------------------------------------------------------------------------------


def test_the_token_is_kept_encrypted_and_read_only_with_the_sites_key(
    entry: CrowdEntry, rosa: User, settings: Settings
) -> None:
    kept = SiteToken.objects.get()

    assert TOKEN not in kept.sealed
    assert token_of(rosa) == TOKEN
    settings.SECRET_KEY = "another"
    with pytest.raises(NoToken, match="secret key was changed"):
        token_of(rosa)


def test_no_page_shows_the_token_again(entry: CrowdEntry, client: Client, rosa: User) -> None:
    client.force_login(rosa)

    pages = [client.get(f"/studies/{entry.study.name}/crowd/{path}").text for path in ("", "prolific/account/")]
    refused = client.post(f"/studies/{entry.study.name}/crowd/prolific/account/token/", {"token": "with a space"})

    assert not any(TOKEN in page for page in pages)
    assert refused.status_code == 422
    assert "with a space" not in refused.text
    assert token_of(rosa) == TOKEN


def test_a_token_is_replaced_and_deleted(entry: CrowdEntry, client: Client, rosa: User) -> None:
    client.force_login(rosa)
    address = f"/studies/{entry.study.name}/crowd/prolific/account/token/"

    client.post(address, {"token": "another-token"})
    replaced = token_of(rosa)
    client.post(address, {"forget": ""})

    assert replaced == "another-token"
    with pytest.raises(NoToken):
        token_of(rosa)


def test_prolific_repeats_the_token_and_it_reaches_neither_page_nor_log(
    api: FakeProlificApi, entry: CrowdEntry, rosa: User, caplog: pytest.LogCaptureFixture
) -> None:
    keep_token(user=rosa, token="a-wrong-token-98765", at=NOON)
    below_the_floor(entry)

    with caplog.at_level(logging.DEBUG), pytest.raises(NotDone, match="does not accept the token") as refused:
        sent(entry, Kind.TOP_UPS, rosa)

    assert api.asked
    assert "a-wrong-token-98765" not in f"{refused.value} {SiteRequest.objects.get().said} {caplog.text}"


def test_without_a_token_nothing_is_sent(api: FakeProlificApi, entry: CrowdEntry, rosa: User) -> None:
    below_the_floor(entry)
    forget_token(user=rosa)

    with pytest.raises(NoToken):
        sent(entry, Kind.TOP_UPS, rosa)

    assert not SiteRequest.objects.exists()
    assert api.asked == []


# --- The study and its places ---------------------------------------------------------------------


def test_the_study_is_a_draft_with_our_codes_and_link(api: FakeProlificApi, entry: CrowdEntry, rosa: User) -> None:
    plan = plan_of(entry, Kind.STUDY, by=rosa, url=URL)

    sent(entry, Kind.STUDY, rosa, url=URL)

    (study,) = api.studies.values()
    entry.refresh_from_db()
    assert plan.cost == Decimal("90.00")
    assert entry.site_study_id == study["id"]
    assert (study["reward"], study["total_available_places"], study["estimated_completion_time"]) == (300, 30, 20)
    assert study["external_study_url"].startswith(f"{URL}?PROLIFIC_PID=")
    assert [code["code"] for code in study["completion_codes"]] == ["CDONE", "CNO", "COUT"]
    assert not any("/transition/" in path for _, path, _ in api.asked)  # publishing is left to people


def test_a_study_whose_answer_was_lost_is_found_again_and_not_made_twice(
    api: FakeProlificApi, entry: CrowdEntry, rosa: User
) -> None:
    api.faults["POST /api/v1/studies/"] = 0
    with pytest.raises(NotDone, match="Try again: nothing is done twice"):
        sent(entry, Kind.STUDY, rosa, url=URL)
    api.faults.clear()

    sent(entry, Kind.STUDY, rosa, url=URL)

    entry.refresh_from_db()
    assert list(api.studies) == [entry.site_study_id]
    assert "exists on Prolific" in plan_of(entry, Kind.STUDY, by=rosa, url=URL).refusal


@pytest.mark.parametrize(("places", "url", "why"), [(None, URL, "places"), (30, "http://localhost/p/x/", "https")])
def test_what_a_study_lacks_is_said_before(
    entry: CrowdEntry, rosa: User, places: int | None, url: str, why: str
) -> None:
    entry.most_people = places

    assert why in plan_of(entry, Kind.STUDY, by=rosa, url=url).refusal


def test_more_places_are_bought_there_and_here(api: FakeProlificApi, entry: CrowdEntry, rosa: User) -> None:
    sent(entry, Kind.STUDY, rosa, url=URL)
    entry.refresh_from_db()
    plan = plan_of(entry, Kind.PLACES, by=rosa, places=40)

    sent(entry, Kind.PLACES, rosa, places=40)

    entry.refresh_from_db()
    assert plan.cost == Decimal("30.00")
    assert entry.most_people == api.studies[entry.site_study_id]["total_available_places"] == 40


@pytest.mark.parametrize("places", [None, 30, 10**9])
def test_fewer_places_or_absurdly_many_are_refused(entry: CrowdEntry, rosa: User, places: int | None) -> None:
    a_session(entry)

    assert "more places than the 30" in plan_of(entry, Kind.PLACES, by=rosa, places=places).refusal


# --- Top-ups --------------------------------------------------------------------------------------


def test_a_top_up_is_previewed_with_its_cost_and_paid_once(api: FakeProlificApi, entry: CrowdEntry, rosa: User) -> None:
    session = below_the_floor(entry)
    plan = plan_of(entry, Kind.TOP_UPS, by=rosa)

    outcome = carry_out(entry=entry, kind=Kind.TOP_UPS, digest=plan.digest, by=rosa, at=LATER)
    with pytest.raises(NotAsPlanned, match="Nobody is below the floor"):
        carry_out(entry=entry, kind=Kind.TOP_UPS, digest=plan.digest, by=rosa, at=LATER)

    session.refresh_from_db()
    assert plan.cost == Decimal("3.00")
    assert api.paid == {session.session_id: 300}
    assert session.bonus == Decimal("3.00")
    assert "GBP 3.00" in outcome.said
    assert SiteRequest.objects.get().state == "done"
    assert api.asked[0][2]["study_id"] == COHORT


def test_a_payment_without_an_answer_blocks_the_next_until_rosa_says_what_happened(
    api: FakeProlificApi, entry: CrowdEntry, rosa: User
) -> None:
    session = below_the_floor(entry)
    api.faults["/pay/"] = 0  # paid, but the answer is lost

    with pytest.raises(NotDone, match="Look on Prolific whether the bonuses were paid"):
        sent(entry, Kind.TOP_UPS, rosa)
    api.faults.clear()
    with pytest.raises(NotAsPlanned, match="Say first whether the payment"):
        sent(entry, Kind.TOP_UPS, rosa)
    by_hand = note_top_ups_as_paid(entry=entry, owed={session.pk: Decimal("3.00")})
    settle(request=SiteRequest.objects.get(), was_paid=True, at=LATER)

    session.refresh_from_db()
    assert by_hand == 0
    assert api.paid == {session.session_id: 300}
    assert session.bonus == Decimal("3.00")
    with pytest.raises(AlreadySettled):
        settle(request=SiteRequest.objects.get(), was_paid=True, at=LATER)


def test_a_payment_that_was_not_made_is_paid_the_next_time(api: FakeProlificApi, entry: CrowdEntry, rosa: User) -> None:
    session = below_the_floor(entry)
    api.faults["/pay/"] = 500
    with pytest.raises(NotDone):
        sent(entry, Kind.TOP_UPS, rosa)
    settle(request=SiteRequest.objects.get(), was_paid=False, at=LATER)
    api.faults.clear()

    sent(entry, Kind.TOP_UPS, rosa)

    assert api.paid == {session.session_id: 300}


@pytest.mark.parametrize(("where", "status"), [("bonus-payments/", 400), ("bonus-payments/", 500), ("/pay/", 400)])
def test_a_payment_that_prolific_refused_counts_as_not_made(
    api: FakeProlificApi, entry: CrowdEntry, rosa: User, where: str, status: int
) -> None:
    session = below_the_floor(entry)
    api.faults[where] = status

    with pytest.raises(NotDone, match="Ordered by a test"):
        sent(entry, Kind.TOP_UPS, rosa)

    session.refresh_from_db()
    assert session.bonus == 0
    assert api.paid == {}
    assert SiteRequest.objects.get().state == "failed"
    assert not plan_of(entry, Kind.TOP_UPS, by=rosa).refusal


def test_nothing_is_paid_that_differs_from_what_was_shown(api: FakeProlificApi, entry: CrowdEntry, rosa: User) -> None:
    below_the_floor(entry)
    plan = plan_of(entry, Kind.TOP_UPS, by=rosa)
    below_the_floor(entry, 2)

    with pytest.raises(NotAsPlanned, match="has changed since it was shown"):
        carry_out(entry=entry, kind=Kind.TOP_UPS, digest=plan.digest, by=rosa, at=LATER)

    assert api.asked == []


def test_no_payment_goes_where_prolific_counts_another_sum(api: FakeProlificApi, entry: CrowdEntry, rosa: User) -> None:
    below_the_floor(entry)
    api.changed["bonus-payments/"] = {"amount": 30_000}

    with pytest.raises(NotDone, match=r"would pay 300 and not 3\.00"):
        sent(entry, Kind.TOP_UPS, rosa)

    assert api.paid == {}


def test_the_database_knows_one_payment_under_way(entry: CrowdEntry) -> None:
    SiteRequest.objects.create(entry=entry, kind="top_ups", asked_at=NOON)

    with pytest.raises(IntegrityError), transaction.atomic():
        SiteRequest.objects.create(entry=entry, kind="top_ups", state="unknown", asked_at=NOON)


# --- Approvals, returns, statuses -----------------------------------------------------------------


def test_completed_submissions_are_approved_once(api: FakeProlificApi, entry: CrowdEntry, rosa: User) -> None:
    session = completed(a_session(entry), minutes=20)
    a_session(entry, 2)
    plan = plan_of(entry, Kind.APPROVALS, by=rosa)

    sent(entry, Kind.APPROVALS, rosa)

    assert plan.cost == Decimal("3.00")
    assert api.approved == [session.session_id]
    assert plan_of(entry, Kind.APPROVALS, by=rosa).refusal


def hurried(entry: CrowdEntry, number: int) -> CrowdSession:
    """Eight seconds of the twenty minutes that were announced."""
    return completed(a_session(entry, number), minutes=8 / 60)


def test_flagged_people_are_shown_with_the_reason_and_are_not_ticked(
    api: FakeProlificApi, entry: CrowdEntry, rosa: User, client: Client
) -> None:
    honest, fast = completed(a_session(entry), minutes=20), hurried(entry, 2)
    client.force_login(rosa)

    page = client.get(f"/studies/{entry.study.name}/crowd/prolific/account/").text
    crowd = client.get(f"/studies/{entry.study.name}/crowd/").text
    route = f"/api/v1/studies/{entry.study.name}/crowd/prolific/"
    plan = client.post(route, {"kind": "approvals"}, content_type="application/json").json()

    assert f'value="{honest.pk}" checked' in page
    assert f'value="{fast.pk}">' in page
    assert ('data-flag="session"' in page, 'data-flag="session"' in crowd) == (True, True)
    assert list(plan["flags"]) == [str(fast.participant)]
    assert plan["cost"] == "3.00"


def test_those_without_a_flag_are_approved_unless_others_are_named(
    api: FakeProlificApi, entry: CrowdEntry, rosa: User
) -> None:
    honest, fast = completed(a_session(entry), minutes=20), hurried(entry, 2)

    sent(entry, Kind.APPROVALS, rosa)
    with pytest.raises(NotAsPlanned):
        sent(entry, Kind.APPROVALS, rosa)
    digest = plan_of(entry, Kind.APPROVALS, by=rosa).digest
    carry_out(entry=entry, kind=Kind.APPROVALS, digest=digest, by=rosa, at=LATER, chosen={fast.pk})

    assert api.approved == [honest.session_id, fast.session_id]
    assert [request.cost for request in SiteRequest.objects.order_by("pk")] == [Decimal("3.00"), Decimal("3.00")]


def test_the_page_the_api_and_the_command_approve_whom_the_researcher_names(
    api: FakeProlificApi, entry: CrowdEntry, rosa: User, client: Client
) -> None:
    fast = [hurried(entry, number) for number in (1, 2, 3)]
    client.force_login(rosa)
    page, route = (f"{root}/studies/{entry.study.name}/crowd/prolific/" for root in ("", "/api/v1"))

    def digest() -> str:
        return plan_of(entry, Kind.APPROVALS, by=rosa).digest

    client.post(f"{page}account/approvals/", {"digest": digest(), "session": [fast[0].pk]})
    names = [str(fast[1].participant)]
    client.post(route, {"kind": "approvals", "digest": digest(), "chosen": names}, content_type="application/json")
    out = StringIO()
    named = str(fast[2].participant)
    call_command("prolific", "approvals", study=entry.study.name, by="rosa", people=[named], yes=True, stdout=out)

    assert api.approved == [session.session_id for session in fast]


def test_a_plan_is_another_one_when_a_flag_has_gone(entry: CrowdEntry, rosa: User) -> None:
    session = hurried(entry, 1)
    flagged = plan_of(entry, Kind.APPROVALS, by=rosa)

    CrowdSession.objects.filter(pk=session.pk).update(finished_at=NOON + timedelta(minutes=20))

    assert (set(flagged.flags), set(plan_of(entry, Kind.APPROVALS, by=rosa).flags)) == ({session.pk}, set())
    assert plan_of(entry, Kind.APPROVALS, by=rosa).digest != flagged.digest


def test_somebody_with_two_sessions_is_shown_and_named_with_both(
    api: FakeProlificApi, entry: CrowdEntry, rosa: User, client: Client
) -> None:
    first, second = hurried(entry, 1), completed(a_session(entry, 2), minutes=20)
    CrowdSession.objects.filter(pk=second.pk).update(participant=first.participant)
    client.force_login(rosa)
    route, name = f"/api/v1/studies/{entry.study.name}/crowd/prolific/", str(first.participant)

    def posted(**more: Any) -> Any:
        return client.post(route, {"kind": "approvals", **more}, content_type="application/json")

    plan = posted().json()
    refused = posted(digest=plan["digest"], chosen=[name, "nobody"])
    posted(digest=plan["digest"], chosen=[name])

    assert (list(plan["people"]), list(plan["flags"])) == ([name], [name])
    assert refused.status_code == 409
    assert set(api.approved) == {first.session_id, second.session_id}


def test_who_assesses_in_the_study_is_shown_flags_of_time_alone(
    entry: CrowdEntry, rosa: User, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    hurried(entry, 1)
    at_work = Flag("disagrees", "Agrees less", "what others said")
    monkeypatch.setattr(Evidence, "flags_of", lambda self, rater: [at_work])
    client.force_login(rosa)
    page, route = (f"{root}/studies/{entry.study.name}/crowd/prolific/" for root in ("", "/api/v1"))

    def shown() -> list[str]:
        sent = client.post(route, {"kind": "approvals"}, content_type="application/json")
        return [client.get(f"{page}account/").text, sent.text]

    before = shown()
    enrol(study=entry.study, user=rosa, at=NOON)
    after = shown()

    assert [at_work.evidence in text for text in before] == [True, True]
    assert [at_work.evidence in text for text in after] == [False, False]
    assert ["Short session" in text for text in after] == [True, True]


def test_those_who_ended_early_without_a_code_are_asked_to_return(
    api: FakeProlificApi, entry: CrowdEntry, rosa: User
) -> None:
    CrowdEntry.objects.update(no_consent_code="")
    for number, state in enumerate(("no_consent", "screened_out", "no_work", "completed", "returned"), start=1):
        CrowdSession.objects.filter(pk=a_session(entry, number).pk).update(state=state, finished_at=LATER)

    sent(entry, Kind.RETURNS, rosa)

    assert api.returns == {
        an_arrival(1).session_id: ["You did not agree to take part."],
        an_arrival(3).session_id: ["No tasks were left when you came."],
    }  # screened out has a code
    assert plan_of(entry, Kind.RETURNS, by=rosa).refusal


def test_one_whom_prolific_refuses_does_not_stop_the_others(
    api: FakeProlificApi, entry: CrowdEntry, rosa: User
) -> None:
    sessions = [a_session(entry, number) for number in (1, 2)]
    CrowdSession.objects.update(state="no_work", finished_at=LATER)
    api.faults[f"{sessions[0].session_id}/request-return"] = 400

    outcome = sent(entry, Kind.RETURNS, rosa)

    assert list(api.returns) == [sessions[1].session_id]
    assert str(sessions[0].participant) in outcome.problems[0]
    assert list(plan_of(entry, Kind.RETURNS, by=rosa).sessions) == [sessions[0].pk]


def test_where_no_answer_comes_the_rest_is_left_for_another_time(
    api: FakeProlificApi, entry: CrowdEntry, rosa: User
) -> None:
    sessions = [a_session(entry, number) for number in (1, 2, 3)]
    CrowdSession.objects.update(state="no_work", finished_at=LATER)
    api.faults[f"{sessions[1].session_id}/request-return"] = 503

    outcome = sent(entry, Kind.RETURNS, rosa)

    assert list(api.returns) == [sessions[0].session_id]
    assert "Try again" in outcome.problems[0]
    assert list(plan_of(entry, Kind.RETURNS, by=rosa).sessions) == [sessions[1].pk, sessions[2].pk]


def test_statuses_are_read_and_free_the_places(api: FakeProlificApi, entry: CrowdEntry, rosa: User) -> None:
    sessions = [a_session(entry, number) for number in (1, 2)]
    for session, status in zip(sessions, ("RETURNED", "ACTIVE"), strict=True):
        row = {"id": session.session_id, "participant_id": "5f0000000000000000000001", "status": status}
        api.submissions.append(row)

    read = fetch_statuses(entry=entry, by=rosa, at=LATER)

    assert [session.pk for session in read.returned] == [sessions[0].pk]
    assert CrowdSession.objects.get(pk=sessions[1].pk).site_status == "ACTIVE"


@pytest.mark.parametrize("status", [302, 404, 429, 500, 503])
def test_every_failure_says_what_and_how_to_fix_it(
    api: FakeProlificApi, entry: CrowdEntry, rosa: User, status: int
) -> None:
    a_session(entry)
    api.faults["submissions"] = status

    with pytest.raises(NotDone, match=f"Nothing was changed. Prolific answered {status}"):
        fetch_statuses(entry=entry, by=rosa, at=LATER)

    assert len(api.asked) == 1


def test_an_erased_person_is_in_no_request_and_no_record(api: FakeProlificApi, entry: CrowdEntry, rosa: User) -> None:
    session = below_the_floor(entry)
    session_id = session.session_id
    api.faults["bonus-payments/"] = 400
    api.changed["bonus-payments/"] = {"error": {"status": 400, "detail": {"csv_bonuses": [f"{session_id} is wrong"]}}}
    with pytest.raises(NotDone):
        sent(entry, Kind.TOP_UPS, rosa)

    erase_person(study=entry.study, user=session.participant.user, by=rosa, at=LATER)

    kept = SiteRequest.objects.get()
    assert "the submission is wrong" in kept.said
    assert session_id not in f"{kept.said} {kept.amounts}"
    assert plan_of(entry, Kind.TOP_UPS, by=rosa).refusal


# --- Page, API, command: the same -----------------------------------------------------------------


def test_the_page_previews_and_pays(api: FakeProlificApi, entry: CrowdEntry, client: Client, rosa: User) -> None:
    session = below_the_floor(entry)
    client.force_login(rosa)
    address = f"/studies/{entry.study.name}/crowd/prolific/account/"
    digest = plan_of(entry, Kind.TOP_UPS, by=rosa).digest

    page = client.get(address).text
    asked_by_looking = list(api.asked)
    paid = client.post(f"{address}top_ups/", {"digest": digest}, follow=True).text
    again = client.post(f"{address}top_ups/", {"digest": digest}, follow=True).text

    assert "Costs GBP 3.00" in page
    assert digest in page
    assert asked_by_looking == []
    assert "1 top-up paid: GBP 3.00" in paid
    assert "Nobody is below the floor." in again
    assert api.paid == {session.session_id: 300}


def test_the_page_settles_a_lost_payment(api: FakeProlificApi, entry: CrowdEntry, client: Client, rosa: User) -> None:
    session = below_the_floor(entry)
    client.force_login(rosa)
    address = f"/studies/{entry.study.name}/crowd/prolific/account/"
    api.faults["/pay/"] = 0

    lost = client.post(f"{address}top_ups/", {"digest": plan_of(entry, Kind.TOP_UPS, by=rosa).digest}, follow=True).text
    client.post(f"{address}requests/{SiteRequest.objects.get().pk}/", {"paid": ""})

    session.refresh_from_db()
    assert "It was not paid" in lost
    assert session.bonus == Decimal("3.00")


@pytest.mark.parametrize("places", ["", "x", "9" * 5_000, "31"])
def test_any_number_of_places_gets_a_page(entry: CrowdEntry, client: Client, rosa: User, places: str) -> None:
    a_session(entry)
    client.force_login(rosa)

    page = client.get(f"/studies/{entry.study.name}/crowd/prolific/account/", {"places": places})

    assert page.status_code == 200
    assert ("31 places instead of 30" in page.text) == (places == "31")


def test_the_api_previews_without_a_digest_and_pays_with_it(
    api: FakeProlificApi, entry: CrowdEntry, client: Client, rosa: User
) -> None:
    session = below_the_floor(entry)
    client.force_login(rosa)
    address = f"/api/v1/studies/{entry.study.name}/crowd/prolific/"

    preview = client.post(address, {"kind": "top_ups"}, content_type="application/json").json()
    asked = list(api.asked)
    told = {"kind": "top_ups", "digest": preview["digest"]}
    done = client.post(address, told, content_type="application/json")
    again = client.post(address, told, content_type="application/json")

    assert asked == []
    assert (preview["cost"], preview["done"]) == ("3.00", "")
    assert done.json()["done"]
    assert again.status_code == 409
    assert api.paid == {session.session_id: 300}


def test_the_command_tells_the_cost_and_sends_with_yes(api: FakeProlificApi, entry: CrowdEntry, rosa: User) -> None:
    session = below_the_floor(entry)
    where = ("--study", entry.study.name, "--user", rosa.username)
    out = StringIO()

    call_command("prolific", "top_ups", *where, stdout=out)
    unsent = dict(api.paid)
    call_command("prolific", "top_ups", *where, "--yes", stdout=out)

    assert unsent == {}
    assert "Costs GBP 3.00" in out.getvalue()
    assert api.paid == {session.session_id: 300}
    with pytest.raises(CommandError, match="Nobody is below the floor"):
        call_command("prolific", "top_ups", *where, "--yes")


def test_a_command_of_somebody_else_finds_no_study(entry: CrowdEntry, mallory: User) -> None:
    with pytest.raises(CommandError, match="has no study"):
        call_command("prolific", "top_ups", "--study", entry.study.name, "--user", mallory.username)
