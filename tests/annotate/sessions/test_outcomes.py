"""Every state of a study, of a session and of what stands before the work: what comes next, and which code."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from itertools import product
from pathlib import Path

import pytest
from django.conf import settings
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotate.assignments.assignments import claim_next
from annotate.models import Assignment, CrowdEntry, CrowdSession, Enrolment, Place, PlannedClosing, ScreenOut
from annotate.quality.attention import add_check
from annotate.quality.consent import answer_consent
from annotate.quality.survey import add_question
from annotate.sessions.at_work import at_work
from annotate.sessions.outcomes import CODES, ENDS, GATES, Because, Done, Next, code_of, end, what_comes_next
from annotate.sessions.sessions import State
from annotate.studies.lifecycle import close_study, close_what_is_done, open_study, remove_person, reopen_study
from annotate.work.pace import SkipReason, skip_assignment
from collection.models import Study, User
from tests.annotate.crowd_factories import (
    a_session,
    address,
    an_entry,
    rater_of_session,
    submit_a_report,
)
from tests.annotate.factories import NOON, a_report_task, an_open_study, answer_report, enrolled
from tests.annotate.quality_factories import a_consent, training_items

LATER = NOON + timedelta(hours=1)
DOCS = (Path(settings.BASE_DIR) / "docs" / "crowd.md").read_text()
N_TASKS = 4


@pytest.fixture
def entry(study: Study) -> CrowdEntry:
    for number in range(N_TASKS):
        a_report_task(study, f"Report {number}.")
    return an_entry(an_open_study(study), too_few_code="CFEW", signed_links=False)


# --- The tables in the docs -----------------------------------------------------------------------


def table_of_what_comes_next() -> Iterator[str]:
    yield "| study | session | no gate | a gate | screened out |"
    yield "| --- | --- | --- | --- | --- |"
    for study in Study.State:
        alike: defaultdict[str, list[str]] = defaultdict(list)
        for session, name in [("", "none yet"), *((state.value, str(state.label)) for state in State)]:
            alike[" | ".join(cell(study, session, gate) for gate in ("", "consent", "screened_out"))].append(name)
        for cells, names in alike.items():
            yield f"| {study.label} | {', '.join(names)} | {cells} |"


def cell(study: str, session: str, gate: str) -> str:
    fresh, begun = (what_comes_next(study, session, gate, has_begun=has_begun) for has_begun in (False, True))
    return fresh.value if fresh == begun else f"{begun.value}; before any task {fresh.value}"


def table_of_ends() -> Iterator[str]:
    yield "| why it ends | no task | fewer tasks judged than asked | the share asked, or more |"
    yield "| --- | --- | --- | --- |"
    for because, states in ENDS.items():
        ends = [states[done] for done in Done]
        codes = [f" (`{CODES[state]}`)" if state in CODES else "" for state in ends]
        cells = [f"{state.label}{code}" for state, code in zip(ends, codes, strict=True)]
        yield f"| {Because(because).label} | {' | '.join(cells)} |"


@pytest.mark.parametrize("table", [table_of_what_comes_next, table_of_ends])
def test_the_docs_show_the_table_as_it_is(table: Callable[[], Iterator[str]]) -> None:
    assert "\n".join(table()) in DOCS


def test_every_reason_has_its_ends_and_every_end_its_code_or_none() -> None:
    assert set(ENDS) == set(Because)
    assert {state for states in ENDS.values() for state in states.values()} | {State.ACTIVE} == set(State)


# --- Every cell -----------------------------------------------------------------------------------


def put_up(gate: str, study: Study, rosa: User) -> None:
    """Let the gate stand before the work of those who begin."""
    if gate == "consent":
        a_consent(study, rosa)
    elif gate == "questionnaire":
        add_question(study=study, text="How old are you?", kind="number")
    elif gate == "training":
        training_items(study, rosa)
    elif gate == "attention":
        add_check(study=study, after=0, question="Choose ‘b’.", options=["a", "b"], right=1)


def screened_out(session: CrowdSession) -> None:
    enrolment = Enrolment.objects.get(user=session.participant.user)
    ScreenOut.objects.create(enrolment=enrolment, reason=ScreenOut.Reason.TRAINING, screened_at=NOON)


@contextmanager
def undone() -> Iterator[None]:
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def opened_by_link(client: Client, entry: CrowdEntry) -> tuple[int, str]:
    """Open the link and press its button. Returns the status, and where it leads."""
    welcome = client.get(address(entry))
    if welcome.status_code != 200:
        return welcome.status_code, ""
    arrival = welcome.text.split('name="arrival" value="')[1].split('"')[0]
    started = client.post(address(entry), {"arrival": arrival})
    return started.status_code, started.headers.get("Location", "")


@pytest.mark.parametrize("study_state", Study.State)
@pytest.mark.parametrize("session_state", ["", *State])
def test_the_link_leads_where_the_table_says(
    entry: CrowdEntry, rosa: User, client: Client, study_state: str, session_state: str
) -> None:
    for gate, has_begun in product(GATES if session_state else [""], [False, True] if session_state else [False]):
        with undone():
            put_up(gate, entry.study, rosa)
            if session_state:
                session = a_session(entry)
                if gate == "screened_out":
                    screened_out(session)
                if has_begun:
                    claim_next(study=entry.study, rater=rater_of_session(session), at=NOON)
                because = next((b for b, ends in ENDS.items() if session_state in ends.values()), "")
                CrowdSession.objects.update(state=session_state, ended_because=because)
            Study.objects.update(state=study_state)
            expected = what_comes_next(study_state, session_state, gate, has_begun=has_begun)

            status, where = opened_by_link(client, entry)

            session_now = CrowdSession.objects.first()
            reached = {
                Next.REFUSED: status == 403,
                Next.BEGINS: status == 302 and where.startswith("/work/"),
                Next.GATE: bool(gate) and where == reverse(f"annotate:{gate}", args=[entry.study.name]),
                Next.WORK: where.startswith("/work/") and Assignment.objects.filter(pk=number_in(where)).exists(),
                Next.FINISHES: where == f"/work/{Assignment.objects.open().values_list('pk', flat=True).first()}/",
                Next.ENDS: where == f"/work/finished/{entry.study.name}/",
                Next.IS_OVER: where == f"/work/finished/{entry.study.name}/",
            }[expected]
            assert reached, (study_state, session_state, gate, has_begun, expected, status, where)
            if where.startswith("/work/finished/"):
                page = client.get(where)
                assert session_now is not None
                assert session_now.state != State.ACTIVE
                assert page.status_code == 200
                assert (f'id="code">{code_of(session_now)}' in page.text) == bool(code_of(session_now))


def number_in(where: str) -> int:
    return int(next((part for part in where.split("/") if part.isdecimal()), 0))


# --- A study that closes, a person removed --------------------------------------------------------


def skip(session: CrowdSession) -> None:
    assignment = claim_next(study=session.entry.study, rater=rater_of_session(session), at=NOON)
    assert assignment is not None
    skip_assignment(assignment=assignment, reason=SkipReason.UNCLEAR, words="", at=NOON)


@pytest.mark.parametrize(
    ("judged", "skipped", "code"), [(1, 0, "CDONE"), (2, 2, "CDONE"), (1, 2, "CFEW"), (0, 0, "CFEW"), (0, 1, "CFEW")]
)
@pytest.mark.parametrize("how", ["closed", "removed"])
def test_who_judged_the_share_gets_the_completion_code_when_the_researcher_ends_the_work(
    entry: CrowdEntry, rosa: User, client: Client, how: str, judged: int, skipped: int, code: str
) -> None:
    session = a_session(entry)
    for _ in range(judged):
        submit_a_report(session)
    for _ in range(skipped):
        skip(session)
    claim_next(study=entry.study, rater=rater_of_session(session), at=NOON)
    client.force_login(session.participant.user)

    if how == "closed":
        close_study(study=entry.study, at=LATER)
    else:
        remove_person(study=entry.study, user=session.participant.user, at=LATER)
    page = client.get(reverse("annotate:crowd_end", args=[entry.study.name])).text

    assert f'data-ended="{how}"' in page
    assert f'id="code">{code}' in page


def test_nobody_stays_at_a_task_of_a_study_that_closes(entry: CrowdEntry, client: Client) -> None:
    session = a_session(entry)
    task = claim_next(study=entry.study, rater=rater_of_session(session), at=NOON)
    assert task is not None
    answer_report(task, [1, 0, 0])
    asked = task.asked.first()
    assert asked is not None
    close_study(study=entry.study, at=LATER)
    client.force_login(session.participant.user)
    choice = {"item": asked.item_id, "criterion": entry.study.criteria.get(name="answerability").pk, "grade": 1}
    end_page = f"/work/finished/{entry.study.name}/"

    page, submitted = client.get(f"/work/{task.pk}/"), client.post(f"/work/{task.pk}/submit/")
    by_script = client.post(f"/work/{task.pk}/submit/", headers={"Accept": "application/json"})
    chosen = client.post(f"/work/{task.pk}/choice/", choice, content_type="application/json")
    queue = client.get("/work/").text

    assert (page.headers["Location"], submitted.headers["Location"]) == (end_page, end_page)
    assert by_script.json()["next"] == end_page
    assert (chosen.status_code, chosen.json()["over"]) == (409, end_page)
    assert end_page in queue
    assert f"/work/{task.pk}/" not in queue


def test_reopened_it_gives_to_others_what_people_of_ended_sessions_held(entry: CrowdEntry, client: Client) -> None:
    entry.study.criteria.exclude(task_type="answerability").delete()  # the collection has no texts for the others
    session = a_session(entry)
    claim_next(study=entry.study, rater=rater_of_session(session), at=NOON)
    close_study(study=entry.study, at=LATER)

    reopen_study(study=entry.study, at=LATER)

    assert not Place.objects.exclude(holder=None).exists()
    assert opened_by_link(client, entry) == (302, f"/work/finished/{entry.study.name}/")


def test_somebody_without_a_session_is_told_that_the_study_is_closed(
    entry: CrowdEntry, ada: User, client: Client
) -> None:
    task = claim_next(study=entry.study, rater=enrolled(ada, entry.study), at=NOON)
    assert task is not None
    close_study(study=entry.study, at=LATER)
    client.force_login(ada)
    done = f"/work/done/{entry.study.name}/"

    page, submitted = client.get(f"/work/{task.pk}/"), client.post(f"/work/{task.pk}/submit/")

    assert (page.headers["Location"], submitted.headers["Location"]) == (done, done)
    assert f"/work/{task.pk}/" not in client.get("/work/").text


def test_a_person_who_was_removed_reads_by_the_link_how_it_ended_and_begins_no_other(
    entry: CrowdEntry, client: Client
) -> None:
    session = a_session(entry)
    submit_a_report(session)

    remove_person(study=entry.study, user=session.participant.user, at=LATER)

    assert opened_by_link(client, entry) == (302, f"/work/finished/{entry.study.name}/")
    assert client.get(address(entry, session=2)).status_code == 403


def test_the_end_of_a_task_that_was_taken_away_is_the_end_of_the_session(entry: CrowdEntry, client: Client) -> None:
    session = a_session(entry)
    task = claim_next(study=entry.study, rater=rater_of_session(session), at=NOON)
    assert task is not None

    remove_person(study=entry.study, user=session.participant.user, at=LATER)
    client.force_login(session.participant.user)

    assert client.get(f"/work/{task.pk}/").headers["Location"] == f"/work/finished/{entry.study.name}/"


# --- Pause, close when they are done --------------------------------------------------------------


def test_the_study_closes_when_nobody_works_in_it_any_more(entry: CrowdEntry, rosa: User, client: Client) -> None:
    session = a_session(entry)
    claim_next(study=entry.study, rater=rater_of_session(session), at=NOON)
    client.force_login(rosa)

    client.post(f"/studies/{entry.study.name}/finish/")
    closed = [close_what_is_done(at=NOON), close_what_is_done(at=LATER)]

    session.refresh_from_db()
    entry.study.refresh_from_db()
    assert closed == [0, 1]
    assert (entry.study.state, session.state, session.ended_because) == ("closed", "too_few", Because.CLOSED)


def test_who_is_at_work_finishes_the_task_in_hand_first(entry: CrowdEntry, rosa: User, client: Client) -> None:
    session = a_session(entry)
    claim_next(study=entry.study, rater=rater_of_session(session), at=NOON)
    client.force_login(rosa)
    client.post(f"/studies/{entry.study.name}/finish/")
    client.force_login(session.participant.user)

    continued = opened_by_link(client, entry)
    submit_a_report(session)
    done = opened_by_link(client, entry)

    session.refresh_from_db()
    assert continued[1] == f"/work/{Assignment.objects.get().pk}/"
    assert (done[1], session.state) == (f"/work/finished/{entry.study.name}/", "completed")
    assert close_what_is_done(at=NOON) == 1


def test_the_button_says_how_many_work_now(entry: CrowdEntry, rosa: User, ada: User, client: Client) -> None:
    a_session(entry)
    claim_next(study=entry.study, rater=enrolled(ada, entry.study), at=NOON)
    client.force_login(rosa)

    working, later = at_work(entry.study, at=NOON), at_work(entry.study, at=LATER)
    CrowdSession.objects.update(arrived_at=timezone.now())
    page = client.get(f"/studies/{entry.study.name}/").text

    assert (working.in_sessions, working.without, later.n) == (1, 1, 0)
    assert 'data-at-work="1"' in page


def test_opening_it_again_cancels_the_closing(entry: CrowdEntry, rosa: User, client: Client) -> None:
    client.force_login(rosa)
    entry.study.criteria.exclude(task_type="answerability").delete()  # the collection has no texts for the others
    client.post(f"/api/v1/studies/{entry.study.name}/finish/")

    planned = PlannedClosing.objects.count()
    open_study(study=entry.study, at=NOON)

    assert (planned, PlannedClosing.objects.count(), close_what_is_done(at=LATER)) == (1, 0, 0)


# --- Who no longer agrees -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("judged", "too_few_code", "code"),
    [(0, "CFEW", "CNO"), (1, "CFEW", "CFEW"), (1, "", "CDONE"), (2, "CFEW", "CDONE")],
)
def test_who_no_longer_agrees_is_paid_for_what_they_judged(
    entry: CrowdEntry, rosa: User, judged: int, too_few_code: str, code: str
) -> None:
    entry.tasks_per_person, entry.too_few_code = 4, too_few_code
    entry.save()
    a_consent(entry.study, rosa)
    session = a_session(entry)
    for _ in range(judged):
        submit_a_report(session)

    answer_consent(study=entry.study, user=session.participant.user, version=1, agrees=False, at=LATER)

    ended = CrowdSession.objects.select_related("entry", "participant__user").get()
    assert (code_of(ended), ended.ended_because) == (code, Because.DECLINED)


def test_a_session_that_ended_stays_as_it_ended(entry: CrowdEntry) -> None:
    session = a_session(entry)
    end(session, Because.RETURNED, at=NOON)

    close_study(study=entry.study, at=LATER)

    session.refresh_from_db()
    assert (session.state, session.finished_at) == (State.RETURNED, NOON)
