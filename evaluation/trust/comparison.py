"""All judges of a criterion on the same items: who is best, what that is worth, and who can be told apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from collection.models import Criterion, Rater
from evaluation.data.judge_pairs import JudgePairs, PairedJudge, pair_judges
from evaluation.data.judgments import load_criterion
from stats.completeness import Completeness, complete_first
from stats.intervals import Estimate
from stats.judges.side_by_side import SeveralJudges, compare_judges
from stats.plurals import counted
from stats.ratings import FloatArray, grades_of, majority
from stats.refusals import Refused

# A judge that was asked about fewer of the items than this share of the most would take items from all others.
FEWEST_ASKED = 0.5


class JudgeNotCompared(Refused):
    """No judge of this name is compared."""


@dataclass(frozen=True)
class ComparedJudge:
    """A judge's κ over the common items, and how far it is from the judge that others are held against."""

    rater: Rater
    name: str
    completeness: Completeness
    kappa: Estimate
    difference: float | None
    low: float | None
    high: float | None

    @property
    def told_apart(self) -> bool:
        """Whether the simultaneous interval of the difference leaves 0 out."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)

    def as_dict(self) -> dict[str, Any]:
        return {
            "judge": self.name,
            "content_hash": self.rater.content_hash,
            **self.completeness.as_dict(),
            "kappa": self.kappa.as_dict(),
            "difference": {"value": self.difference, "low": self.low, "high": self.high},
            "told_apart": self.told_apart,
        }


@dataclass(frozen=True)
class JudgeComparison:
    """The judges of a criterion beside its people, the best first, unfinished and failing ones last.

    `against`: the judge that differences are to, the best unless another was asked for; `left_out`: judges that were
    asked about too few of the items; `development`: whether the study is split, and these are the development part's.
    """

    criterion: Criterion
    judges: tuple[ComparedJudge, ...]
    best: str
    against: str
    corrected: Estimate
    n_items: int
    n_topics: int
    left_out: tuple[str, ...]
    development: bool
    reason: str

    @property
    def not_behind(self) -> int:
        """How many of the others cannot be told from the judge that they are held against."""
        return sum(not one.told_apart for one in self.judges if one.difference is not None)

    def as_dict(self) -> dict[str, Any]:
        """Return everything, as API, command and download have it."""
        return {
            "study": self.criterion.study.name,
            "criterion": self.criterion.name,
            "figure": "Cohen’s κ of yes and no at the thresholds",
            "n_items": self.n_items,
            "n_topics": self.n_topics,
            "part": "development" if self.development else "all",
            "best": self.best or None,
            "best_corrected": self.corrected.as_dict(),
            "against": self.against or None,
            "judges": [one.as_dict() for one in self.judges],
            "left_out": list(self.left_out),
            **({"reason": self.reason} if self.reason else {}),
        }

    def table(self) -> list[list[Any]]:
        """Return the judges as a table, with a first row of names."""
        head = ["judge", "mark", "kappa", "kappa_low", "kappa_high"]
        head += ["against", "difference", "low", "high", "told_apart"]
        rows = [
            [
                *(one.name, one.completeness.mark, one.kappa.value, one.kappa.low, one.kappa.high, self.against),
                *(one.difference, one.low, one.high, int(one.told_apart)),
            ]
            for one in self.judges
        ]
        return [head, *rows]


def compare_judges_of(criterion: Criterion, *, against: str = "") -> JudgeComparison:
    """Compare all judges that graded what people judged under the criterion, on the items that all were asked about.

    Where the study is split these are of its development part. Raises JudgeNotCompared where `against` is none of them.
    """
    pairs = pair_judges(load_criterion(criterion))
    chosen, left_out = _enough_asked(pairs)
    if not chosen:
        nobody = Estimate(None, reason="no judge can be compared with humans")
        return JudgeComparison(criterion, (), "", "", nobody, 0, 0, left_out, bool(pairs.parts), nobody.reason)
    names = _names(chosen)
    if against and against not in names:
        raise JudgeNotCompared(f"“{against}” is not compared here. Choose one of: {', '.join(names)}.")
    common = sorted(set(chosen[0].paired.people.items).intersection(*(one.paired.people.items for one in chosen[1:])))
    if not common:
        nothing = Estimate(None, reason="no item was asked of all judges")
        return JudgeComparison(criterion, (), "", "", nothing, 0, 0, left_out, bool(pairs.parts), nothing.reason)
    found, n_topics = _compared(chosen, common)
    best = names[found.best] if found.best is not None else ""
    held = names.index(against) if against else found.best
    judges = [
        _judge(one, name, found, place, held) for place, (one, name) in enumerate(zip(chosen, names, strict=True))
    ]
    return JudgeComparison(
        criterion=criterion,
        judges=tuple(complete_first(sorted(judges, key=_best_first), of=lambda one: one.completeness)),
        best=best,
        against="" if held is None else names[held],
        corrected=found.corrected,
        n_items=len(common),
        n_topics=n_topics,
        left_out=left_out,
        development=pairs.parts is not None,
        reason=found.reason,
    )


def _best_first(one: ComparedJudge) -> tuple[bool, float, str]:
    return one.kappa.value is None, -(one.kappa.value or 0.0), one.name


def _enough_asked(pairs: JudgePairs) -> tuple[list[PairedJudge], tuple[str, ...]]:
    """Return the judges that were asked about enough of the items, and the others with their numbers."""
    asked = [len(one.paired.people.items) for one in pairs.pairs]
    most = max(asked, default=0)
    enough = [one for one, n in zip(pairs.pairs, asked, strict=True) if n >= FEWEST_ASKED * most]
    few = [f"{one.name} ({n:,} of {counted(most, 'items')})" for one, n in zip(pairs.pairs, asked, strict=True)]
    return enough, tuple(text for text, n in zip(few, asked, strict=True) if n < FEWEST_ASKED * most)


def _names(chosen: list[PairedJudge]) -> list[str]:
    """Return each judge's name, with its criterion where one judge graded under several."""
    names = [one.name for one in chosen]
    return [
        name if names.count(name) == 1 else f"{name} ({one.criterion})" for one, name in zip(chosen, names, strict=True)
    ]


def _compared(chosen: list[PairedJudge], common: list[int]) -> tuple[SeveralJudges, int]:
    first = chosen[0]
    people = first.paired.people.of_items(_rows(first, common))
    assert people.topics is not None  # load_criterion
    yes = grades_of(majority(people), people.numbers) >= first.people_at
    found = compare_judges(yes, [_yes_by(one, common) for one in chosen], people.topics)
    return found, len(np.unique(people.topics))


def _rows(one: PairedJudge, common: list[int]) -> Any:
    places = {item: place for place, item in enumerate(one.paired.people.items)}
    return np.array([places[item] for item in common], dtype=np.int64)


def _yes_by(one: PairedJudge, common: list[int]) -> FloatArray:
    judge = one.paired.judge
    grades = grades_of(judge.codes[:, 0], judge.numbers)[_rows(one, common)]
    return np.where(np.isnan(grades), np.nan, grades >= one.at)


def _judge(one: PairedJudge, name: str, found: SeveralJudges, place: int, held: int | None) -> ComparedJudge:
    apart = None if held is None or held == place else found.difference(place, held)
    value, low, high = apart or (None, None, None)
    return ComparedJudge(one.judge, name, one.completeness, found.kappas[place], value, low, high)
