"""The alternative-annotator test: whether this judge may replace a person.

Source: Calderon, Reichart and Dror, The Alternative Annotator Test for LLM-as-a-Judge (ACL 2025), arXiv 2501.10970.
Each person j is left out in turn. On every item, who is closer to the remaining people, the judge or j? With W the
judge's "at least as close" (0 or 1) and V that of j, person j loses to the judge if a one-sided t-test says that the
mean of V − W is below ε, the advantage that people's cost forgoes. Over people, false discoveries are held at 5 %
(Benjamini and Yekutieli). The winning rate ω is the share of people who lose; the judge passes from one half.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluation.ratings import BoolArray, FloatArray, Level

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
    - `p`, `p_corrected`: before and after Benjamini and Yekutieli; `wins`: the judge has won.
    """

    person: str
    n_items: int
    judge_advantage: float
    person_advantage: float
    p: float
    p_corrected: float
    wins: bool


@dataclass(frozen=True)
class AlternativeAnnotator:
    """The test's outcome. `winning_rate` and `average_advantage` (ρ) are None where it cannot be made, for `reason`.

    `n_items` have two people or more; `n_ungraded` of them the judge left without a grade: it loses there.
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
        """Whether the judge may replace a person; None where the test cannot be made."""
        return None if self.winning_rate is None else self.winning_rate >= PASSES_FROM

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
    people: FloatArray, judge: FloatArray, names: Sequence[str], *, level: Level, epsilon: float = EPSILONS["skilled"]
) -> AlternativeAnnotator:
    """Return whether the judge may stand in for a person.

    `people` has the shape items × people, NaN where one gave no grade; `judge` has the shape (items,), NaN where its
    reply holds no grade, of items that it was asked. Closeness is the share of equal grades on a nominal scale, and
    else minus the root of the mean squared difference. Items are taken as independent, as the authors take them.
    """
    kept = np.isfinite(people).sum(axis=1) >= 2
    people, judge = people[kept], judge[kept]
    n_items, n_ungraded = len(judge), int(np.isnan(judge).sum())
    n_each = np.isfinite(people).sum(axis=0)
    tested = np.flatnonzero(n_each >= FEWEST_ITEMS_A_PERSON).tolist()
    if not tested:
        reason = f"nobody shares {FEWEST_ITEMS_A_PERSON} items with another person, the least for a t-test"
        return AlternativeAnnotator(None, None, epsilon, n_items, n_ungraded, reason=reason)
    found = [_compare(people, judge, person, level, epsilon) for person in tested]
    corrected = _corrected([p for _, _, p in found])
    against = tuple(
        AgainstPerson(
            person=str(names[person]),
            n_items=int(n_each[person]),
            judge_advantage=float(judge_closer.mean()),
            person_advantage=float(person_closer.mean()),
            p=p,
            p_corrected=p_corrected,
            wins=p_corrected <= FALSE_DISCOVERIES,
        )
        for person, (judge_closer, person_closer, p), p_corrected in zip(tested, found, corrected, strict=True)
    )
    return AlternativeAnnotator(
        winning_rate=sum(one.wins for one in against) / len(against),
        average_advantage=float(np.mean([one.judge_advantage for one in against])),
        epsilon=epsilon,
        n_items=n_items,
        n_ungraded=n_ungraded,
        people=against,
        warnings=_warnings(names, n_each, n_items),
    )


def _compare(
    people: FloatArray, judge: FloatArray, person: int, level: Level, epsilon: float
) -> tuple[BoolArray, BoolArray, float]:
    """Who is at least as close to the others on each item of this person, and the p-value."""
    rows = np.isfinite(people[:, person])
    own, others = people[rows, person], np.delete(people[rows], person, axis=1)
    closeness_of_judge = _closeness(judge[rows], others, level)
    closeness_of_person = _closeness(own, others, level)
    judge_closer = closeness_of_judge >= closeness_of_person
    person_closer = closeness_of_person >= closeness_of_judge
    return judge_closer, person_closer, _p_value(person_closer.astype(float) - judge_closer, epsilon)


def _closeness(grades: FloatArray, others: FloatArray, level: Level) -> FloatArray:
    """How close a grade is to the others' on each item; −∞ for no grade."""
    graded = np.isfinite(grades)
    apart = np.where(graded, grades, 0.0)[:, None] - others
    if level == "nominal":
        closeness = np.nanmean(np.where(np.isfinite(apart), apart == 0, np.nan), axis=1)
    else:
        closeness = -np.sqrt(np.nanmean(apart**2, axis=1))
    return np.where(graded, closeness, -np.inf)


def _p_value(differences: FloatArray, epsilon: float) -> float:
    """The one-sided t-test that the mean is below ε; certain where all items say the same."""
    from scipy.stats import ttest_1samp

    if not np.ptp(differences):
        return 0.0 if differences[0] < epsilon else 1.0
    return float(ttest_1samp(differences, epsilon, alternative="less").pvalue)


def _corrected(p_values: list[float]) -> list[float]:
    from scipy.stats import false_discovery_control

    return [float(p) for p in false_discovery_control(p_values, method="by")]


def _warnings(names: Sequence[str], n_each: FloatArray, n_items: int) -> tuple[str, ...]:
    found = []
    untested = [str(name) for name, n in zip(names, n_each, strict=True) if n < FEWEST_ITEMS_A_PERSON]
    if len(names) - len(untested) < FEWEST_PEOPLE:
        found.append(f"{len(names) - len(untested)} people are tested; the test asks for {FEWEST_PEOPLE} or more")
    if n_items < FEWEST_ITEMS:
        found.append(f"{n_items} items; the test asks for {FEWEST_ITEMS} to 100 or more")
    if untested:
        found.append(f"not tested, with fewer than {FEWEST_ITEMS_A_PERSON} shared items: {', '.join(untested)}")
    return tuple(found)
