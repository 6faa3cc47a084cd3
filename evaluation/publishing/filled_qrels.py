"""Filled qrels as a file, with whose each line is, where it comes from, and what it changes. Made by `hole_filling`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from collection.web.tables import Column, Table
from evaluation.data.visibility import Visibility
from evaluation.publishing.qrels import PREVIEWED
from stats.answers_in_words import filled_order
from stats.intervals import Estimate
from stats.ranking.filled_scores import FilledScores

PEOPLE, JUDGE = "people", "judge"
SCORED = (
    *("before", "low", "high", "rank", "after", "low_after", "high_after", "rank_after"),
    *("unjudged", "unjudged_after", "reason", "reason_after"),
)


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
    judged, None where there is nothing. `scores` are of the visible topics; none where no run ranks passages, and then
    `no_scores` says so.
    """

    lines: tuple[str, ...]
    by_judge: bytes
    judge: str
    provenance: dict[str, Any]
    agreement: MeasuredAgreement | None
    visibility: Visibility
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
    def by_label(self) -> Table:
        """Each label with how many lines are people's and the judge's."""
        people, judge = (self.counts[f"{whose}_lines_by_grade"] for whose in ("human", "filled"))
        columns = [Column("label", "Label"), Column("people", "People’s lines", "count")]
        rows = ([at, people.get(at, 0), judge.get(at, 0)] for at in sorted({*people, *judge}, key=int))
        return Table.of("Lines by label", [*columns, Column("judge", "The judge’s lines", "count")], rows)

    def owners(self) -> list[tuple[str, str]]:
        """Return each line with whose it is."""
        return [(line, JUDGE if own else PEOPLE) for line, own in zip(self.lines, self.by_judge, strict=True)]

    @property
    def previewed(self) -> list[tuple[str, str]]:
        """The first lines, each with whose it is."""
        return self.owners()[:PREVIEWED]

    @property
    def owned(self) -> Table:
        """Every line with whose it is and of which judge."""
        columns = [Column(name) for name in ("topic", "docno", "grade", "by", "judge")]
        rows = ([*_three(line), by, self.judge if by == JUDGE else ""] for line, by in self.owners())
        return Table.of("Whose each line is", columns, rows)

    @property
    def scored(self) -> Table:
        """Every system under every measure."""
        columns = [Column(name) for name in ("measure", "topics", "system", *SCORED)]
        rows = (
            [found.measure, one.n_topics, one.system, *(getattr(one, name) for name in SCORED)]
            for found in self.scores
            for one in found.systems
        )
        return Table.of(f"Scores by human labels and with holes filled by {self.judge}, with bounds", columns, rows)


def _three(line: str) -> tuple[str, str, int]:
    topic, _, docno, grade = line.split()
    return topic, docno, int(grade)
