"""The page before *Start*: what people read of the study, and who reads there that they cannot take part."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.test import Client
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from annotate.assignments.assignments import claim_next
from annotate.models import CrowdEntry, CrowdSession, Participant, Place, QualityRules
from annotate.quality.attention import add_check
from annotate.quality.consent import revise_consent
from annotate.quality.survey import add_question
from annotate.sessions.offers import announced_minutes
from annotate.work.queue import nth_of_all, queues_of
from collection.languages.languages import NAMES
from collection.models import Study, User
from tests.annotate.crowd_factories import a_session, address, an_entry, rater_of_session, submit_a_report
from tests.annotate.factories import NOON, a_report_task, an_open_study
from tests.annotate.quality_factories import training_items
from tests.browser import check_no_sideways_scroll

LATER = NOON + timedelta(hours=1)


@pytest.fixture
def entry(study: Study) -> CrowdEntry:
    for number in range(3):
        a_report_task(study, f"Report {number}.")
    return an_entry(an_open_study(study), tasks_per_person=2)


def test_it_tells_of_time_pay_training_pass_mark_and_screening_out(
    entry: CrowdEntry, client: Client, rosa: User
) -> None:
    study = entry.study
    training_items(study, rosa)
    QualityRules.objects.create(study=study, pass_mark=0.8, attempts=2, consequence="stop")
    add_check(study=study, after=1, question="Choose two.", options=["one", "two"], right=1)
    add_question(study=study, text="How old are you?", kind="number")
    revise_consent(study=study, markdown="We keep it.", by=rosa, at=NOON)

    page = " ".join(client.get(address(entry)).text.split())

    assert "about 20 minutes" in page
    assert "GBP 3.00, which is 9.00 an hour" in page
    assert "whether you agree to take part" in page
    assert "A questionnaire with 1 question." in page
    assert "A training with 1 text" in page
    assert "80 % of your answers must be right. You have 2 attempts." in page
    assert "If you fail 2, you get no more work." in page
    assert "screened out and get a code" in page


@pytest.fixture
def strict(entry: CrowdEntry, rosa: User) -> CrowdEntry:
    """Where training, attention checks and the questionnaire each keep people from work."""
    study = entry.study
    training_items(study, rosa)
    QualityRules.objects.create(study=study, pass_mark=0.7, attempts=2, consequence="stop")
    add_check(study=study, after=1, question="Choose two.", options=["one", "two"], right=1)
    question = add_question(study=study, text="Who are you?", kind="single", options=["a", "b"])
    question.screens_out = ["b"]
    question.save()
    return entry


def test_what_keeps_people_from_work_or_pay_is_not_folded_away(strict: CrowdEntry, client: Client) -> None:
    shown, _, folded = client.get(address(strict)).text.partition('data-offer="rest"')
    named = re.compile('data-condition="([^"]+)"')

    assert named.findall(shown) == ["answers", "training", "checks", "screened-out", "judged"]
    assert "70 %" in shown
    assert "70 %" not in folded


@pytest.mark.browser
@pytest.mark.slow
def test_what_is_offered_its_conditions_and_the_button_are_on_the_first_screen_of_a_phone(
    strict: CrowdEntry, page: Page, live_server: LiveServer
) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    for language in NAMES:
        Study.objects.update(language=language)
        page.goto(f"{live_server.url}{address(strict)}")
        expect(page.locator("html")).to_have_attribute("lang", language)
        expect(page.locator("[data-offer=conditions]")).to_be_in_viewport(ratio=1)
        expect(page.locator("main form button")).to_be_in_viewport(ratio=1)
        check_no_sideways_scroll(page)


def test_it_tells_of_nothing_that_the_study_does_not_have(entry: CrowdEntry, client: Client) -> None:
    page = client.get(address(entry)).text

    assert page.count("data-condition") == 1
    assert "<li>" not in page.partition('data-offer="rest"')[2]
    assert "training" not in page


def test_without_a_code_for_it_people_know_that_they_return_the_submission(
    entry: CrowdEntry, client: Client, rosa: User
) -> None:
    CrowdEntry.objects.update(no_consent_code="")
    revise_consent(study=entry.study, markdown="We keep it.", by=rosa, at=NOON)
    session = a_session(entry)

    page = client.get(address(entry, 2)).text
    client.force_login(session.participant.user)
    consent = client.get(f"/work/consent/{entry.study.name}/")

    assert "If you do not, you return your submission on Prolific." in page
    assert "you then return your submission on Prolific" in consent.text


def full(entry: CrowdEntry) -> None:
    entry.most_people = 1
    entry.save()
    a_session(entry)


def without_newcomers(entry: CrowdEntry) -> None:
    entry.takes_newcomers = False
    entry.save()


def paused(entry: CrowdEntry) -> None:
    Study.objects.update(state=Study.State.PAUSED)


def with_all_tasks_taken(entry: CrowdEntry) -> None:
    number = 2
    while Place.objects.filter(holder=None).exists():
        number += 1
        session = a_session(entry, number)
        for _ in range(entry.study.tasks.count()):
            submit_a_report(session)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (full, "All places of this study are taken."),
        (without_newcomers, "takes no new participants now"),
        (paused, "gives out no work now"),
        (with_all_tasks_taken, "All tasks of this study are taken."),
    ],
)
def test_whoever_cannot_take_part_reads_so_before_start(
    entry: CrowdEntry, client: Client, make: object, said: str
) -> None:
    make(entry)  # type: ignore[operator]
    before = Participant.objects.count()

    response = client.get(address(entry, 2))

    assert response.status_code == 403
    assert said in response.text
    assert "/submissions/" in response.text
    assert 'name="arrival"' not in response.text
    assert Participant.objects.count() == before


def test_whoever_was_there_before_comes_back_to_a_full_study(entry: CrowdEntry, client: Client) -> None:
    full(entry)

    response = client.get(address(entry))

    assert response.status_code == 200
    assert "Welcome back." in response.text


@pytest.mark.parametrize("state", [state for state in CrowdSession.State if state not in ("active", "no_work")])
def test_an_ended_session_says_what_it_is_and_leads_back(entry: CrowdEntry, client: Client, state: str) -> None:
    session = a_session(entry)
    CrowdSession.objects.update(state=state, finished_at=LATER)
    Study.objects.update(state=Study.State.CLOSED)

    page = client.get(address(entry)).text
    client.force_login(session.participant.user)
    end = client.get(f"/work/finished/{entry.study.name}/").text

    assert "Welcome" not in page
    assert "See how it ended" in page
    assert "/submissions/" in end  # with the code or to return


def test_a_session_that_a_closed_study_ended_does_not_blame_the_others(entry: CrowdEntry, client: Client) -> None:
    session = a_session(entry)
    CrowdSession.objects.update(state="no_work", finished_at=LATER)
    Study.objects.update(state=Study.State.CLOSED)
    client.force_login(session.participant.user)

    end = client.get(f"/work/finished/{entry.study.name}/").text

    assert "The study is closed" in end
    assert "others took" not in end


# --- Progress -------------------------------------------------------------------------------------


def test_progress_counts_within_the_session(entry: CrowdEntry) -> None:
    first = a_session(entry)
    submit_a_report(first)
    submit_a_report(first)
    second = a_session(entry, session=2, at=LATER)
    assignment = claim_next(study=entry.study, rater=rater_of_session(second), at=LATER)
    assert assignment is not None

    (queue,) = queues_of(second.participant.user, at=LATER)

    assert nth_of_all(assignment, second.participant.user, at=LATER) == (1, 1)
    assert (queue.n_submitted, queue.n_all) == (0, 1)


# --- Minutes --------------------------------------------------------------------------------------


def test_minutes_are_asked_once(entry: CrowdEntry, client: Client, rosa: User) -> None:
    client.force_login(rosa)

    page = client.get(f"/studies/{entry.study.name}/checks/")

    assert announced_minutes(entry.study) == 20
    assert 'name="expected_minutes"' not in page.text
    assert "Participants are told 20 minutes" in " ".join(page.text.split())


def test_a_new_entry_takes_the_minutes_that_were_told_before(study: Study, client: Client, rosa: User) -> None:
    an_open_study(study)
    QualityRules.objects.create(study=study, expected_minutes=37)
    client.force_login(rosa)

    page = client.get(f"/studies/{study.name}/crowd/prolific/")

    assert 'value="37"' in page.text
