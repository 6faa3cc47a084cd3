"""What a session began with, and keeps: the entry's terms, the study's rules, and what stood before the work then.

What a researcher changes meanwhile holds for new sessions. People without a session always have what is in force.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any

from django.db.models import BigIntegerField, Max, Model, OuterRef, Subquery, Value
from django.db.models.functions import Coalesce

from annotate.models import (
    AttentionCheck,
    ConsentText,
    CrowdEntry,
    CrowdSession,
    GoldGrade,
    QualityRules,
    SurveyQuestion,
)
from annotate.sessions.sessions import session_of
from collection.models import Study, User

RULES = ("pass_mark", "attempts", "expected_minutes", "consequence")
# The newest row of each that a session has to do with, by the field that keeps its key.
NEWEST: Mapping[str, tuple[type[Model], str]] = {
    "last_consent": (ConsentText, "study"),
    "last_question": (SurveyQuestion, "study"),
    "last_check": (AttentionCheck, "study"),
    "last_known_grade": (GoldGrade, "item__study"),
}
ANY = 2**63 - 1


@dataclass(frozen=True)
class Offer:
    """What holds for a person: the study's rules, the minutes announced, and the newest known grade of its training."""

    rules: QualityRules
    minutes: int
    last_known_grade: int = ANY


def rules_of(study: Study) -> QualityRules:
    """Return the study's rules, or the defaults, unsaved."""
    return QualityRules.objects.filter(study=study).first() or QualityRules(study=study)


def offered(entry: CrowdEntry) -> dict[str, Any]:
    """Return the fields of a session that begins now."""
    rules = rules_of(entry.study)
    newest = {
        field: model._default_manager.filter(**{study: entry.study}).aggregate(last=Max("pk"))["last"] or 0
        for field, (model, study) in NEWEST.items()
    }
    offer = {
        "terms": {name: getattr(entry, name) for name in CrowdSession.TERMS},
        "rules": {name: getattr(rules, name) for name in RULES},
    }
    return {"offer": offer, **newest}


def offer_of(session: CrowdSession) -> Offer:
    """Return what the session began with."""
    rules = copy(rules_of(session.entry.study))
    for name, value in session.offer.get("rules", {}).items():
        setattr(rules, name, value)
    last = session.last_known_grade
    return Offer(rules, session.terms.estimated_minutes, ANY if last is None else last)


def offer_to(*, study: Study, user: User) -> Offer:
    """Return what holds for the person: what their session began with, or what the study asks now."""
    session = session_of(study=study, user=user)
    return offer_of(session) if session else offer_now(study)


def offer_now(study: Study) -> Offer:
    """Return what holds for somebody who begins now."""
    return Offer(rules_of(study), announced_minutes(study))


def announced_minutes(study: Study) -> int:
    """Return how long the study takes a participant, as is announced: by its entry for a crowd site, if it has one."""
    announced = study.crowd_entries.order_by("-estimated_minutes").values_list("estimated_minutes", flat=True).first()
    return int(announced or rules_of(study).expected_minutes)


def newest_for(user: User | int, field: str, *, study: Study | int | OuterRef) -> Coalesce:
    """Return, for a query, the newest key of `field` that concerns the person: any where they have no session."""
    sessions = CrowdSession.objects.filter(participant__user=user, participant__study=study)
    newest = sessions.order_by("-arrived_at", "-pk").values(field)[:1]
    # As a plain number it would be sent to PostgreSQL in four bytes.
    return Coalesce(Subquery(newest), Value(ANY, output_field=BigIntegerField()))
