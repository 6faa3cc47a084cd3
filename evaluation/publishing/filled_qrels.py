"""Filled qrels as a file, with whose each line is, where it comes from, and what it changes. Made by `hole_filling`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from evaluation.data.visibility import Sight
from stats.answers_in_words import filled_order
from stats.intervals import Estimate
from stats.ranking.filled_scores import FilledScores

PEOPLE, JUDGE = "people", "judge"


@dataclass(frozen=True)
class MeasuredAgreement:
    """How a judge agrees with people on `n_items` that both judged; `unit` is items, or whole texts.

    `kappa` is of yes and no at both thresholds, `alpha` (Krippendorff's) of the grades where both have one scale.
    """

    n_items: int
    unit: str
    kappa: Estimate
    alpha: Estimate

    def as_dict(self) -> dict[str, Any]:
        return {
            "n": self.n_items,
            "unit": self.unit,
            "kappa": self.kappa.as_dict(),
            "krippendorff_alpha": self.alpha.as_dict(),
        }


@dataclass(frozen=True)
class FilledQrels:
    """A filled qrels file, whose each line is, where it comes from, and what it changes.

    `by_judge` has a byte for each line: 1 where it is the judge's. `agreement`: the judge beside people on what both
    judged, None where there is nothing. `scores` are of the topics in `sight`; none where no run ranks passages, and
    then `no_scores` says so.
    """

    lines: tuple[str, ...]
    by_judge: bytes
    judge: str
    provenance: dict[str, Any]
    agreement: MeasuredAgreement | None
    sight: Sight
    scores: tuple[FilledScores, ...]
    no_scores: str

    @property
    def text(self) -> str:
        """The file."""
        return "".join(f"{line}\n" for line in self.lines)

    @property
    def provenance_text(self) -> str:
        """The provenance as a file."""
        return json.dumps(self.provenance, ensure_ascii=False, indent=2) + "\n"

    @property
    def counts(self) -> dict[str, Any]:
        found: dict[str, Any] = self.provenance["counts"]
        return found

    @property
    def warnings(self) -> list[str]:
        """What to know before anybody relies on the judge's lines."""
        found: list[str] = self.provenance["warnings"]
        return found

    @property
    def answer(self) -> str:
        """What filling does to the order of systems, in a sentence; empty without scores."""
        if not self.scores:
            return ""
        return filled_order(self.judge, self.scores[0], n_filled=self.counts["filled_lines"])

    @property
    def by_label(self) -> list[tuple[str, int, int]]:
        """Return each label with how many lines are people's and the judge's."""
        people, judge = (self.counts[f"{whose}_lines_by_grade"] for whose in ("human", "filled"))
        return [(at, people.get(at, 0), judge.get(at, 0)) for at in sorted({*people, *judge}, key=int)]

    def owners(self) -> list[tuple[str, str]]:
        """Return each line with whose it is."""
        return [(line, JUDGE if own else PEOPLE) for line, own in zip(self.lines, self.by_judge, strict=True)]

    def lines_table(self) -> list[list[Any]]:
        """Return every line with whose it is and of which judge, with a first row of names."""
        return [
            ["topic", "docno", "grade", "by", "judge"],
            *([*_three(line), by, self.judge if by == JUDGE else ""] for line, by in self.owners()),
        ]

    def scores_table(self) -> list[list[Any]]:
        """Return every system under every measure, with a first row of names."""
        names = ["before", "low", "high", "rank", "after", "low_after", "high_after", "rank_after"]
        names += ["unjudged", "unjudged_after", "reason", "reason_after"]
        return [
            ["measure", "topics", "system", *names],
            *(
                [found.measure, one.n_topics, one.system, *(getattr(one, name) for name in names)]
                for found in self.scores
                for one in found.systems
            ),
        ]


def _three(line: str) -> tuple[str, str, int]:
    topic, _, docno, grade = line.split()
    return topic, docno, int(grade)
