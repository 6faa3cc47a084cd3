"""The alternative-annotator test: whether this judge may replace a person.

Source: Calderon, Reichart and Dror, The Alternative Annotator Test for LLM-as-a-Judge (ACL 2025), arXiv 2501.10970.
Each person j is left out in turn. On every item, who is closer to the remaining people, the judge or j? With W the
judge's "at least as close" (0 or 1) and V that of j, person j loses to the judge if a one-sided t-test says that the
mean of V − W is below ε, the advantage that people's cost forgoes. Over people, false discoveries are held at 5 %
(Benjamini and Yekutieli). The winning rate ω is the share of people who lose; the judge passes from one half.

The authors take items as independent. Items of one topic are not: where a judge is closer on some topics than on
others, their test lets up to 27 of 100 judges win that are exactly ε behind, where 5 are to (10 topics of 50 items). So
where items belong to topics each topic is left out in turn, with as many degrees of freedom as topics tell: 3 to 6 of
100 win, from 5 topics up (`make calibration-check`).

Where nearly all items have one grade, a judge that always gives it is rarely further from the others than a person is.
So where the grade that people give most often would pass, always given, no verdict is given of any judge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stats.intervals import FEWEST_TOPICS, effective_number, jackknife_error
from stats.plurals import counted
from stats.ratings import BoolArray, FloatArray, IntArray, Level

FEWEST_PEOPLE = 3
FEWEST_ITEMS = 50
# The t-test's own needs: a person with fewer items is not tested.
FEWEST_ITEMS_A_PERSON = 30
FALSE_DISCOVERIES = 0.05
PASSES_FROM = 0.5
# ε as the authors advise it, by who the people are.
EPSILONS = {"experts": 0.2, "skilled": 0.15, "crowd": 0.1}


@dataclass(frozen=True)
class AgainstPerson:
    """The judge against one person who was left out.

    - `judge_advantage`, `person_advantage`: how often each was at least as close to the others (ρ^f and ρ^h);
    - `n_topics`: None where items belong to none and are taken as independent;
    - `p`, `p_corrected`: before and after Benjamini and Yekutieli; `wins`: the judge has won.
    """

    person: str
    n_items: int
    n_topics: int | None
    judge_advantage: float
    person_advantage: float
    p: float
    p_corrected: float
    wins: bool


@dataclass(frozen=True)
class AlternativeAnnotator:
    """The test's outcome. `winning_rate` and `average_advantage` (ρ) are None where it cannot be made, for `reason`.

    `passes`: whether the judge may replace a person; None for `reason`, though there may be a winning rate. `n_items`
    have two people or more; `n_ungraded` of them the judge left without a grade: it loses there.
    """

    winning_rate: float | None
    average_advantage: float | None
    epsilon: float
    n_items: int
    n_ungraded: int
    people: tuple[AgainstPerson, ...] = ()
    reason: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def passes(self) -> bool | None:
        return None if self.reason or self.winning_rate is None else self.winning_rate >= PASSES_FROM

    def as_dict(self) -> dict[str, Any]:
        """Return it as it is printed and downloaded."""
        return {
            "passes": self.passes,
            "winning_rate": self.winning_rate,
            "average_advantage": self.average_advantage,
            "epsilon": self.epsilon,
            "n_items": self.n_items,
            "n_ungraded": self.n_ungraded,
            "people": [vars(one) for one in self.people],
            **({"reason": self.reason} if self.reason else {}),
            **({"warnings": list(self.warnings)} if self.warnings else {}),
        }


def alternative_annotator_test(
    people: FloatArray,
    judge: FloatArray,
    names: Sequence[str],
    topics: IntArray | None = None,
    *,
    level: Level,
    epsilon: float = EPSILONS["skilled"],
) -> AlternativeAnnotator:
    """Return whether the judge may stand in for a person.

    `people` has the shape items × people, NaN where one gave no grade; `judge` has the shape (items,), NaN where its
    reply holds no grade, of items that it was asked; `topics`, of the same shape, numbers each item's topic (None:
    items are independent). Closeness is the share of equal grades on a nominal scale, and else minus the root of the
    mean squared difference.
    """
    kept = np.isfinite(people).sum(axis=1) >= 2
    people, judge = people[kept], judge[kept]
    topics = None if topics is None else topics[kept]
    outcome = _test(people, judge, names, topics, level, epsilon)
    if outcome.winning_rate is None:
        return outcome
    grades, times = np.unique(people[np.isfinite(people)], return_counts=True)
    commonest = float(grades[times.argmax()])
    if _test(people, np.full(len(judge), commonest), names, topics, level, epsilon).passes:
        return replace(outcome, reason=f"a judge that always gives {commonest:g}, the most frequent grade, would pass")
    return outcome


def _test(
    people: FloatArray, judge: FloatArray, names: Sequence[str], topics: IntArray | None, level: Level, epsilon: float
) -> AlternativeAnnotator:
    found = [_compare(people, judge, topics, person, level, epsilon) for person in range(people.shape[1])]
    reasons = {str(name): one.why_not for name, one in zip(names, found, strict=True) if one.why_not}
    tested = [(str(name), one) for name, one in zip(names, found, strict=True) if not one.why_not]
    outcome = AlternativeAnnotator(None, None, epsilon, len(judge), int(np.isnan(judge).sum()))
    if not tested:
        return replace(outcome, reason=f"no assessor can be tested: {_listed(reasons)}")
    against = tuple(
        AgainstPerson(
            person=name,
            n_items=one.n_items,
            n_topics=one.n_topics,
            judge_advantage=float(one.judge_closer.mean()),
            person_advantage=float(one.person_closer.mean()),
            p=one.p,
            p_corrected=p_corrected,
            wins=p_corrected <= FALSE_DISCOVERIES,
        )
        for (name, one), p_corrected in zip(tested, _corrected([one.p for _, one in tested]), strict=True)
    )
    return replace(
        outcome,
        winning_rate=sum(one.wins for one in against) / len(against),
        average_advantage=float(np.mean([one.judge_advantage for one in against])),
        people=against,
        warnings=_warnings(len(tested), outcome.n_items, reasons),
    )


@dataclass(frozen=True)
class _Compared:
    """Who is at least as close to the others on each item of one person, shape (items,), and the p-value."""

    judge_closer: BoolArray
    person_closer: BoolArray
    n_topics: int | None
    p: float

    @property
    def n_items(self) -> int:
        return len(self.judge_closer)

    @property
    def why_not(self) -> str:
        """Why this person is not tested; empty where they are."""
        if self.n_items < FEWEST_ITEMS_A_PERSON:
            return f"{self.n_items} shared items; the test needs {FEWEST_ITEMS_A_PERSON}"
        if self.n_topics is not None and self.n_topics < FEWEST_TOPICS:
            return f"{counted(self.n_topics, 'topics')}; the test needs {FEWEST_TOPICS}"
        return ""


def _compare(
    people: FloatArray, judge: FloatArray, topics: IntArray | None, person: int, level: Level, epsilon: float
) -> _Compared:
    rows = np.isfinite(people[:, person])
    own, others = people[rows, person], np.delete(people[rows], person, axis=1)
    closeness_of_judge = _closeness(judge[rows], others, level)
    closeness_of_person = _closeness(own, others, level)
    judge_closer = closeness_of_judge >= closeness_of_person
    person_closer = closeness_of_person >= closeness_of_judge
    differences, of_topics = person_closer.astype(float) - judge_closer, None if topics is None else topics[rows]
    n_topics = None if of_topics is None else len(np.unique(of_topics))
    return _Compared(judge_closer, person_closer, n_topics, p_value(differences, of_topics, epsilon))


def _closeness(grades: FloatArray, others: FloatArray, level: Level) -> FloatArray:
    """How close a grade is to the others' on each item; −∞ for no grade."""
    graded = np.isfinite(grades)
    apart = np.where(graded, grades, 0.0)[:, None] - others
    if level == "nominal":
        closeness = np.nanmean(np.where(np.isfinite(apart), apart == 0, np.nan), axis=1)
    else:
        closeness = -np.sqrt(np.nanmean(apart**2, axis=1))
    return np.where(graded, closeness, -np.inf)


def p_value(differences: FloatArray, topics: IntArray | None, epsilon: float) -> float:
    """The one-sided t-test that the mean is below ε; certain where all items say the same."""
    from scipy.stats import t

    if len(differences) < 2 or not np.ptp(differences):
        return 0.0 if len(differences) and differences[0] < epsilon else 1.0
    error, n = float(differences.std(ddof=1) / np.sqrt(len(differences))), float(len(differences))
    if topics is not None:
        _, places, sizes = np.unique(topics, return_inverse=True, return_counts=True)
        left = differences.sum() - np.bincount(places, weights=differences)
        apart = jackknife_error((left / np.maximum(len(differences) - sizes, 1)).tolist()) if len(sizes) > 1 else None
        error, n = apart or error, max(effective_number(sizes.tolist()), 2.0)
    return float(t.cdf((differences.mean() - epsilon) / error, n - 1))


def _corrected(p_values: list[float]) -> list[float]:
    from scipy.stats import false_discovery_control

    return [float(p) for p in false_discovery_control(p_values, method="by")]


def _warnings(n_tested: int, n_items: int, reasons: Mapping[str, str]) -> tuple[str, ...]:
    found = []
    if n_tested < FEWEST_PEOPLE:
        found.append(f"{n_tested} assessors are tested; the test needs {FEWEST_PEOPLE} or more")
    if n_items < FEWEST_ITEMS:
        found.append(f"{counted(n_items, 'items')}; the test needs {FEWEST_ITEMS} to 100 or more")
    if reasons:
        found.append(f"not tested: {_listed(reasons)}")
    return tuple(found)


def _listed(reasons: Mapping[str, str]) -> str:
    return "; ".join(f"{name} ({reason})" for name, reason in reasons.items())
