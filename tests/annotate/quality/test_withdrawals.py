"""Who agreed and no longer does: acknowledged, shown to the researcher, and done with their labels as the text says."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils.timezone import now

from annotate.crowd.returns import NotToBeUndone, return_session, undo_return
from annotate.crowd.session_work import work_by_session
from annotate.models import Assignment, ConsentText, CrowdEntry, CrowdSession, Place
from annotate.quality.consent import answer_consent, revise_consent, withdrawal_of
from annotate.sessions.outcomes import Because, code_of, end
from collection.models import Comment, EarlierJudgment, Exclusion, Judgment, Study, User
from tests.annotate.crowd_factories import a_session, an_entry, submit_a_report
from tests.annotate.factories import NOON, a_report_task, a_submitted_report, an_open_study, in_hands_of
from tests.annotate.quality_factories import signed_in

LATER = NOON + timedelta(hours=1)
OnWithdrawal = ConsentText.OnWithdrawal


@pytest.fixture
def entry(study: Study) -> CrowdEntry:
    for number in range(2):
        a_report_task(study, f"Report {number}.")
    return an_entry(an_open_study(study), too_few_code="CFEW")


def a_text(study: Study, rosa: User, on_withdrawal: str) -> None:
    revise_consent(study=study, markdown="I take part.", on_withdrawal=on_withdrawal, by=rosa, at=NOON)


def completed_by(entry: CrowdEntry) -> CrowdSession:
    """A session in which the person agreed, judged two tasks and got the code."""
    session = a_session(entry)
    answer_consent(study=entry.study, user=session.participant.user, version=1, agrees=True, at=NOON)
    submit_a_report(session)
    submit_a_report(session)
    end(session, Because.NOTHING_LEFT, at=LATER)
    return session


@pytest.mark.parametrize("on_withdrawal", OnWithdrawal)
def test_withdrawing_after_the_end_is_acknowledged_and_done(entry: CrowdEntry, rosa: User, on_withdrawal: str) -> None:
    a_text(entry.study, rosa, on_withdrawal)
    session = completed_by(entry)
    user, address = session.participant.user, f"/work/consent/{entry.study.name}/"
    client = signed_in(user)
    end_page = f"/work/finished/{entry.study.name}/"
    offered = client.get(end_page).text

    response = client.post(address, {"version": "1", "answer": "decline"}, follow=True)

    session = CrowdSession.objects.select_related("entry", "participant__user").get()
    assert address in offered
    assert response.redirect_chain[-1][0] == end_page
    assert f'data-withdrawn="{on_withdrawal}"' in response.text
    assert code_of(session) == "CDONE"
    assert f'id="code">{code_of(session)}' in response.text
    assert Comment.objects.get().rater == user.rater
    assert Judgment.objects.count() == (0 if on_withdrawal == OnWithdrawal.TAKE_OUT else 6)
    assert Exclusion.objects.filter(rater=user.rater, lifted_at=None).exists() is (on_withdrawal == "exclude")


def test_what_is_taken_out_stands_in_the_history_and_in_no_export(entry: CrowdEntry, rosa: User) -> None:
    a_text(entry.study, rosa, OnWithdrawal.TAKE_OUT)
    user = completed_by(entry).participant.user

    answer_consent(study=entry.study, user=user, version=1, agrees=False, at=LATER)
    exported = signed_in(rosa).get(f"/studies/{entry.study.name}/crowd/judgments.csv")

    assert user.username not in exported.getvalue().decode()
    assert EarlierJudgment.objects.filter(rater=user.rater).count() == 6
    assert set(Assignment.objects.values_list("state", "returned_because")) == {("returned", "withdrawn")}
    assert not Place.objects.exclude(holder=None).exists()


def test_withdrawing_at_work_is_paid_before_the_labels_go(entry: CrowdEntry, rosa: User) -> None:
    CrowdEntry.objects.update(tasks_per_person=2)
    a_text(entry.study, rosa, OnWithdrawal.TAKE_OUT)
    session = a_session(entry)
    user = session.participant.user
    answer_consent(study=entry.study, user=user, version=1, agrees=True, at=NOON)
    submit_a_report(session)

    answer_consent(study=entry.study, user=user, version=1, agrees=False, at=LATER)

    session = CrowdSession.objects.select_related("entry", "participant__user").get()
    assert (code_of(session), Judgment.objects.count()) == ("CDONE", 0)


def test_what_was_taken_out_is_paid(entry: CrowdEntry, rosa: User) -> None:
    a_text(entry.study, rosa, OnWithdrawal.TAKE_OUT)
    session = completed_by(entry)
    Assignment.objects.update(active_seconds=600)
    sessions = list(CrowdSession.objects.select_related("participant"))
    worked = work_by_session(entry, sessions)[session.pk]

    answer_consent(study=entry.study, user=session.participant.user, version=1, agrees=False, at=LATER)
    paid = work_by_session(entry, sessions)[session.pk]

    assert (worked.judged, worked.active) == (paid.judged, paid.active) == (2, 1200)


def test_an_undone_return_brings_nothing_back_that_was_withdrawn(entry: CrowdEntry, rosa: User) -> None:
    a_text(entry.study, rosa, OnWithdrawal.TAKE_OUT)
    session = completed_by(entry)
    return_session(session=session, at=LATER)

    answer_consent(study=entry.study, user=session.participant.user, version=1, agrees=False, at=LATER)

    with pytest.raises(NotToBeUndone):
        undo_return(session=session, at=LATER)
    assert not Judgment.objects.exists()


@pytest.mark.parametrize("words", ["", "Other words."])
@pytest.mark.parametrize("works", [True, False])
def test_what_was_agreed_to_can_be_withdrawn_whatever_is_in_force_now(
    study: Study, ada: User, rosa: User, words: str, works: bool
) -> None:
    a_submitted_report(in_hands_of(ada, a_report_task(study)), [1, 0, 0])
    a_text(study, rosa, OnWithdrawal.EXCLUDE)
    answer_consent(study=study, user=ada, version=1, agrees=True, at=NOON)
    revise_consent(study=study, markdown=words, by=rosa, at=LATER)
    if not works:
        ada.enrolments.update(left_at=LATER)
    client, address = signed_in(ada), f"/work/consent/{study.name}/"

    page = client.get(address)
    is_asked = bool(words) and works
    client.post(address, {"version": "1", "answer": "decline"})

    assert page.status_code == 200
    assert f'name="version" value="{2 if is_asked else 1}"' in page.text
    assert Exclusion.objects.get().rater == ada.rater


def test_somebody_without_a_session_reads_it_too(study: Study, ada: User, rosa: User) -> None:
    a_submitted_report(in_hands_of(ada, a_report_task(study)), [1, 0, 0])
    a_text(study, rosa, OnWithdrawal.EXCLUDE)
    answer_consent(study=study, user=ada, version=1, agrees=True, at=NOON)

    page = signed_in(ada).post(f"/work/consent/{study.name}/", {"version": "1", "answer": "decline"}, follow=True)

    assert 'data-withdrawn="exclude"' in page.text
    assert Exclusion.objects.get().rater == ada.rater


def test_who_was_taken_out_of_the_study_can_still_withdraw_and_agree_to_nothing(entry: CrowdEntry, rosa: User) -> None:
    a_text(entry.study, rosa, OnWithdrawal.EXCLUDE)
    user = completed_by(entry).participant.user
    user.enrolments.update(left_at=LATER)
    client, address = signed_in(user), f"/work/consent/{entry.study.name}/"

    agreed = client.post(address, {"version": "1", "answer": "agree"})
    client.post(address, {"version": "1", "answer": "decline"})
    again = client.get(address)

    assert agreed.status_code == 200
    assert withdrawal_of(study=entry.study, user=user) is not None
    assert again.headers["Location"] == f"/work/end/{entry.study.name}/"


def test_declining_at_first_withdraws_nothing(entry: CrowdEntry, rosa: User) -> None:
    a_text(entry.study, rosa, OnWithdrawal.EXCLUDE)
    user = a_session(entry).participant.user

    answer_consent(study=entry.study, user=user, version=1, agrees=False, at=NOON)

    assert withdrawal_of(study=entry.study, user=user) is None
    assert not Comment.objects.exists()
    assert not Exclusion.objects.exists()


def test_rosa_sees_who_withdrew_and_says_beforehand_what_becomes_of_labels(
    entry: CrowdEntry, rosa: User, client: Client
) -> None:
    client.force_login(rosa)
    sent = {"markdown": "I take part.", "on_withdrawal": "take_out"}
    client.post(f"/studies/{entry.study.name}/checks/consent/", sent)
    session = a_session(entry)
    user = session.participant.user
    answer_consent(study=entry.study, user=user, version=1, agrees=True, at=now())
    answer_consent(study=entry.study, user=user, version=1, agrees=False, at=now())

    pages = [client.get(f"/studies/{entry.study.name}/assessors/{path}").text for path in ("", f"{user.username}/")]

    assert ConsentText.objects.get().on_withdrawal == OnWithdrawal.TAKE_OUT
    assert ["data-withdrew" in page for page in pages] == [True, True]
