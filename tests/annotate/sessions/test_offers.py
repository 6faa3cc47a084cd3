"""A session keeps the offer that it began with; what changes meanwhile holds for those that begin later."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal

import pytest
from django.test import Client
from django.utils.timezone import now

from annotate.assignments.assignments import claim_next
from annotate.crowd.pay_meter import pay_meter
from annotate.models import CrowdEntry, CrowdSession, GoldGrade, QualityRules, TrainingAttempt
from annotate.quality.attention import add_check, answer_check
from annotate.quality.consent import OtherVersion, answer_consent, revise_consent
from annotate.quality.gates import next_gate_name
from annotate.quality.gold import mark_gold
from annotate.quality.survey import add_question
from annotate.quality.training import answer_text, begin_attempt, training_texts
from annotate.sessions.outcomes import end_if_full
from annotate.sessions.sessions import State
from collection.models import Study, User
from tests.annotate.crowd_factories import a_session, address, an_entry, completed, rater_of_session, submit_a_report
from tests.annotate.factories import NOON, a_report_task, an_open_study, enrolled
from tests.annotate.quality_factories import a_consent, training_items

LATER = NOON + timedelta(hours=1)


@pytest.fixture
def entry(study: Study) -> CrowdEntry:
    for number in range(4):
        a_report_task(study, f"Report {number}.")
    return an_entry(an_open_study(study), tasks_per_person=2, signed_links=False)


@pytest.fixture
def session(entry: CrowdEntry) -> CrowdSession:
    return a_session(entry)


def new_consent(study: Study, rosa: User) -> None:
    a_consent(study, rosa)


def new_question(study: Study, rosa: User) -> None:
    add_question(study=study, text="How old are you?", kind="number")


def new_training(study: Study, rosa: User) -> None:
    training_items(study, rosa)


def silent_gold_made_training(study: Study, rosa: User) -> None:
    (gold,) = GoldGrade.objects.all()
    mark_gold(item=gold.item, criterion=gold.criterion, grade=1, purpose=GoldGrade.Purpose.TRAINING, by=rosa, at=now())


def new_check(study: Study, rosa: User) -> None:
    add_check(study=study, after=0, question="Choose ‘b’.", options=["a", "b"], right=1)


@pytest.mark.parametrize(
    ("change", "gate"),
    [
        (new_consent, "consent"),
        (new_question, "questionnaire"),
        (new_training, "training"),
        (silent_gold_made_training, "training"),
        (new_check, "attention"),
    ],
)
def test_what_is_put_before_the_work_later_stands_before_later_sessions_alone(
    entry: CrowdEntry, rosa: User, ada: User, change: Callable[[Study, User], None], gate: str
) -> None:
    if change == silent_gold_made_training:
        item = training_items(entry.study, rosa)[0]
        GoldGrade.objects.exclude(item=item).delete()
        GoldGrade.objects.update(purpose=GoldGrade.Purpose.GOLD)
    session = a_session(entry)
    user, study = session.participant.user, entry.study
    enrolled(ada, study)

    change(study, rosa)

    assert next_gate_name(study=study, user=user) is None
    assert next_gate_name(study=study, user=ada) == gate
    assert next_gate_name(study=study, user=a_session(entry, 2).participant.user) == gate
    a_session(entry, session=9, at=LATER)
    assert next_gate_name(study=study, user=user) == gate


def test_a_new_version_is_not_what_somebody_at_work_is_asked_about(entry: CrowdEntry, rosa: User) -> None:
    a_consent(entry.study, rosa, "Version 1.")
    session = a_session(entry)
    user, study = session.participant.user, entry.study

    revise_consent(study=study, markdown="Version 2.", by=rosa, at=now())

    with pytest.raises(OtherVersion):
        answer_consent(study=study, user=user, version=2, agrees=True, at=LATER)
    answer_consent(study=study, user=user, version=1, agrees=True, at=LATER)
    assert next_gate_name(study=study, user=user) is None


def test_the_training_is_passed_by_the_rules_that_were_offered(entry: CrowdEntry, rosa: User) -> None:
    training_items(entry.study, rosa)
    QualityRules.objects.create(study=entry.study, pass_mark=0.5, attempts=2)
    user = a_session(entry).participant.user
    QualityRules.objects.update(pass_mark=1.0, attempts=1)
    attempt = begin_attempt(study=entry.study, user=user, at=LATER)

    for text in training_texts(attempt):
        answer_text(attempt=attempt, text=text, grades={q.field: 1 for q in text.questions}, at=LATER)

    assert TrainingAttempt.objects.get().passed  # one of two is right


def test_failed_checks_have_the_consequence_that_was_offered(entry: CrowdEntry, rosa: User) -> None:
    check = add_check(study=entry.study, after=0, question="Choose ‘b’.", options=["a", "b"], right=1)
    session = a_session(entry)
    QualityRules.objects.create(study=entry.study, consequence="stop")
    CrowdEntry.objects.update(estimated_minutes=1)

    answer_check(check=check, user=session.participant.user, chosen=0, at=LATER)

    session.refresh_from_db()
    assert session.state == State.ACTIVE


def test_pay_and_tasks_are_those_that_were_offered(entry: CrowdEntry, session: CrowdSession, client: Client) -> None:
    CrowdEntry.objects.update(reward=Decimal("9.00"), floor=Decimal("30.00"), tasks_per_person=4)
    submit_a_report(session)
    submit_a_report(session)
    session = CrowdSession.objects.select_related("entry__study", "participant__user").get()
    shown = client.get(address(entry)).text
    new = client.get(address(entry, 2)).text

    assert end_if_full(session=session, at=LATER)
    entry.refresh_from_db()
    (paid,) = pay_meter(entry).everybody.paid

    assert paid.paid == Decimal("3.00")
    assert ("GBP 3.00" in shown, "GBP 9.00" in shown, "GBP 9.00" in new) == (True, False, True)


def test_a_top_up_lacks_to_the_floor_that_was_offered(entry: CrowdEntry, session: CrowdSession) -> None:
    completed(session, minutes=20)
    CrowdEntry.objects.update(floor=Decimal("90.00"))
    entry.refresh_from_db()

    assert pay_meter(entry).everybody.below == []


def test_a_session_from_before_offers_were_kept_has_the_present_one(entry: CrowdEntry, session: CrowdSession) -> None:
    CrowdSession.objects.update(offer={}, last_consent=None, last_question=None, last_check=None, last_known_grade=None)
    CrowdEntry.objects.update(reward=Decimal("9.00"))
    add_question(study=entry.study, text="How old are you?", kind="number")
    old = CrowdSession.objects.select_related("entry", "participant__user").get()

    assert old.terms.reward == Decimal("9.00")
    assert next_gate_name(study=entry.study, user=old.participant.user) == "questionnaire"


def test_rosa_reads_how_many_at_work_a_change_concerns(
    entry: CrowdEntry, session: CrowdSession, rosa: User, ada: User, client: Client
) -> None:
    item = training_items(entry.study, rosa)[0]
    CrowdSession.objects.update(arrived_at=now())
    claim_next(study=entry.study, rater=rater_of_session(session), at=now())
    claim_next(study=entry.study, rater=enrolled(ada, entry.study), at=now())
    client.force_login(rosa)

    page = client.post(f"/studies/{entry.study.name}/checks/consent/", {"markdown": "I agree."}, follow=True).text
    sent = [{"item_id": item.item_id, "criterion": "grounded", "grade": 1, "purpose": "training"}]
    marked = client.post(f"/api/v1/studies/{entry.study.name}/gold/", sent, content_type="application/json").json()

    assert "1 person" in page
    assert (marked["in_sessions"], marked["at_work"]) == (1, 1)
