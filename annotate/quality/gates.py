"""What a person must do before they may work: consent, questionnaire, training, attention checks, in this order."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.urls import reverse

from annotate.models import (
    Assignment,
    AttentionAnswer,
    AttentionCheck,
    ConsentAnswer,
    ConsentText,
    GoldGrade,
    ScreenOut,
    SurveyQuestion,
    SurveyReply,
    TrainingAttempt,
)
from annotate.sessions.offers import newest_for
from collection.judgments.compiled_sql import compiled
from collection.models import Study, User


def next_gate(*, study: Study, user: User) -> str | None:
    """Return the address of what the person must do before they may work, or None: they may work. One query."""
    name = next_gate_name(study=study, user=user)
    return address_of_gate(name, study) if name else None


def address_of_gate(name: str, study: Study) -> str:
    return reverse(f"annotate:{name}", args=[study.name])


def next_gate_name(*, study: Study, user: User) -> str | None:
    """Return that page's name: screened_out, consent, questionnaire, training or attention."""
    (state,) = _standing(study=study.pk, user=user.pk)
    if state["screened_out"]:
        return "screened_out"
    if state["consent_text"] and not state["agreed"]:
        return "consent"
    if state["asks"]:
        return "questionnaire"
    if state["trains"] and not state["trained"]:
        return "training"
    return "attention" if state["attention"] else None


@compiled
def _standing(*, study: int, user: int) -> QuerySet[Study, Any]:
    """What the study asks for before work, and what of it the person has done."""
    newest = consents_for(user=user).filter(study=OuterRef("pk")).order_by("-version")
    last_words = ConsentAnswer.objects.filter(text=OuterRef("consent"), user=user).order_by("-answered_at", "-pk")
    last = newest_for(user, "last_known_grade", study=OuterRef("item__study"))
    known = GoldGrade.objects.filter(item__study=OuterRef("pk"), purpose=GoldGrade.Purpose.TRAINING, pk__lte=last)
    passed = TrainingAttempt.objects.filter(study=OuterRef("pk"), user=user, passed=True)
    return (
        Study.objects.filter(pk=study)
        .annotate(
            consent=Subquery(newest.values("pk")[:1]),
            consent_text=Subquery(newest.values("markdown")[:1]),
            agreed=Subquery(last_words.values("agreed")[:1]),
            screened_out=Exists(
                ScreenOut.objects.in_force().filter(enrolment__user=user, enrolment__study=OuterRef("pk"))
            ),
            asks=Exists(due_questions(user=user).filter(study=OuterRef("pk"))),
            trains=Exists(known),
            trained=Exists(passed),
            attention=Exists(due_checks(user=user).filter(study=OuterRef("pk"))),
        )
        .values("consent_text", "agreed", "screened_out", "asks", "trains", "trained", "attention")
    )


def consents_for(*, user: User | int) -> QuerySet[ConsentText]:
    """Versions of consent texts that concern this person: in a session, those that were there when it began."""
    return ConsentText.objects.filter(pk__lte=newest_for(user, "last_consent", study=OuterRef("study")))


def due_questions(*, user: User | int) -> QuerySet[SurveyQuestion]:
    """Questions that this person has not been asked, of those for which they have submitted enough tasks."""
    replied = SurveyReply.objects.filter(study=OuterRef("study"), after=OuterRef("after"), user=user)
    return SurveyQuestion.objects.filter(
        Q(after=0) | Q(after__lte=Coalesce(Subquery(n_submitted_by(user)), 0)),
        ~Exists(replied),
        retired_at=None,
        pk__lte=newest_for(user, "last_question", study=OuterRef("study")),
    )


def n_submitted_by(user: User | int) -> QuerySet[Assignment, Any]:
    """Count what the person submitted in the study of the row outside."""
    return (
        Assignment.objects.filter(task__study=OuterRef("study"), rater__user=user, state=Assignment.State.SUBMITTED)
        .order_by()
        .values("rater")
        .annotate(n=Count("pk"))
        .values("n")
    )


def due_checks(*, user: User | int) -> QuerySet[AttentionCheck]:
    """Attention checks that this person has not met, of those for which they have submitted enough tasks."""
    met = AttentionAnswer.objects.filter(check_asked=OuterRef("pk"), user=user)
    n_submitted = Coalesce(Subquery(n_submitted_by(user)), 0)
    last = newest_for(user, "last_check", study=OuterRef("study"))
    return AttentionCheck.objects.filter(~Exists(met), retired_at=None, after__lte=n_submitted, pk__lte=last)
