"""Nugget scores of the TREC RAG track's AutoNuggetizer.

Source: Pradeep et al., Initial Nugget Evaluation Results for the TREC 2024 RAG Track (arXiv 2411.09607), section 4.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from stats.measures.scores import Score

Importance = Literal["vital", "okay"]
Support = Literal["support", "partial_support", "not_support"]
CREDIT = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0}
WEIGHTS: dict[Importance, float] = {"vital": 1.0, "okay": 0.5}
ALIKE: dict[Importance, float] = {"vital": 1.0, "okay": 1.0}


def support_of(grade: float | None, *, threshold: float, lowest: float) -> Support | None:
    """Return full support from the threshold up, partial above the lowest grade; None where there is no grade."""
    if grade is None or math.isnan(grade):
        return None
    return "support" if grade >= threshold else "partial_support" if grade > lowest else "not_support"


@dataclass(frozen=True)
class AssignedNugget:
    """One nugget in one answer. `support` is None where the judge failed: ungraded, which gives no credit."""

    importance: Importance
    support: Support | None


@dataclass(frozen=True)
class NuggetScores:
    """Six scores of one answer, in 0–1.

    Vital nuggets, all, or all with the others weighing half as much as the vital ones; strict counts full support only,
    the others count partial support as one half.
    """

    strict_vital: Score
    strict_all: Score
    strict_weighted: Score
    vital: Score
    all: Score
    weighted: Score


def nugget_scores(nuggets: Sequence[AssignedNugget]) -> NuggetScores:
    """Return the scores of one answer. Undefined, with the reason, where there is no (vital) nugget."""
    vital = [nugget for nugget in nuggets if nugget.importance == "vital"]
    no_vital, none = "The topic has no vital nuggets.", "The topic has no nuggets."
    return NuggetScores(
        strict_vital=_credit(vital, strict=True, nothing=no_vital),
        strict_all=_credit(nuggets, strict=True, nothing=none),
        strict_weighted=_credit(nuggets, strict=True, nothing=none, weights=WEIGHTS),
        vital=_credit(vital, strict=False, nothing=no_vital),
        all=_credit(nuggets, strict=False, nothing=none),
        weighted=_credit(nuggets, strict=False, nothing=none, weights=WEIGHTS),
    )


def _credit(
    nuggets: Sequence[AssignedNugget], *, strict: bool, nothing: str, weights: Mapping[Importance, float] = ALIKE
) -> Score:
    settings = {"strict": strict}
    if not nuggets:
        return Score(None, nothing, settings=settings)
    total = earned = unknown = 0.0
    for nugget in nuggets:
        weight, credit = weights[nugget.importance], CREDIT[nugget.support] if nugget.support else 0.0
        total += weight
        earned += weight * (credit == 1.0 if strict else credit)
        unknown += weight * (nugget.support is None)
    ungraded = sum(nugget.support is None for nugget in nuggets)
    least, most = earned / total, (earned + unknown) / total
    return Score(least, ungraded=ungraded, settings=settings, bounds=(least, most) if ungraded else None)
