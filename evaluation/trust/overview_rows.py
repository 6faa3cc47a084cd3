"""One judge beside the people of one criterion: a row of the page that holds all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from collection.models import Criterion, Rater, Study
from collection.web.tables import Column
from evaluation.data.judge_provenance import Making, making_of
from evaluation.data.text_level import RollUp
from evaluation.data.visibility import PartName
from stats.agreement.report import kappa_as_dict
from stats.completeness import Completeness, complete_first
from stats.judges.summary import Brief
from stats.overviews_in_words import judges_beside_people
from stats.plurals import times
from stats.votes import RULE_OF_PEOPLE


@dataclass(frozen=True)
class Kept:
    """What the cache holds of one row: keys in the place of rows of the database."""

    judge: int
    judge_criterion: int
    at: float
    people_at: float
    n_people_only: int
    n_judge_only: int
    brief: Brief
    part: PartName
    readings: int
    test: Brief | None
    people_simulated: bool
    completeness: Completeness


@dataclass(frozen=True)
class Row:
    """One judge beside the people of one criterion. `roll_up`: it graded the texts' elements, they the texts.

    Where the study is split the figures are of the development part; `test` has those of the test part, once read.
    """

    judge: Rater
    criterion: Criterion
    judge_criterion: Criterion
    roll_up: RollUp | None
    kept: Kept

    @property
    def rolled_up(self) -> bool:
        return self.roll_up is not None

    @property
    def roll_up_key(self) -> str:
        return self.roll_up.key if self.roll_up else ""

    @property
    def brief(self) -> Brief:
        return self.kept.brief

    @property
    def completeness(self) -> Completeness:
        """How much of what people judged the judge has judged too, and readably."""
        return self.kept.completeness

    @property
    def simulated(self) -> bool:
        """Whether a simulation made some of the grades."""
        return self.judge.simulated or self.kept.people_simulated

    @property
    def study(self) -> Study:
        """The study that the judge graded in."""
        return self.judge_criterion.study

    @cached_property
    def making(self) -> Making:
        return making_of(self.judge)

    @property
    def made_of(self) -> list[str]:
        """Engine, model and template as far as the judge's name does not say them already."""
        making = self.making
        return [said for said in (making.engine, making.model, making.template) if said and said not in self.judge.name]

    @property
    def unit(self) -> str:
        return "texts" if self.rolled_up else "items"

    @property
    def against(self) -> str:
        """Whom the judge is held against, in words."""
        n = self.brief.n_people
        people = "one assessor" if n == 1 else f"{n} assessors, by {RULE_OF_PEOPLE}"
        return f"{people}, about whole texts" if self.rolled_up else people

    @property
    def part_in_words(self) -> str:
        """Which part the figures rest on; empty where the study is not split."""
        if self.kept.part == "all":
            return ""
        if not self.kept.readings:
            return "development topics; test topics are locked"
        return f"development topics; test topics unlocked {times(self.kept.readings)}"

    @property
    def page_criterion(self) -> Criterion:
        """The criterion whose trust page has more of this judge."""
        return self.judge_criterion if self.rolled_up else self.criterion

    def as_dict(self) -> dict[str, Any]:
        """Return it as API, command and download have it."""
        kept, brief = self.kept, self.brief
        found: dict[str, Any] = {
            "judge": self.judge.name,
            "content_hash": self.judge.content_hash,
            **self.completeness.as_dict(),
            "origin": self.judge.origin,
            "simulated": self.simulated,
            **self.making.as_dict(),
            "study": self.study.name,
            "criterion": self.judge_criterion.name,
            "human_study": self.criterion.study.name,
            "human_criterion": self.criterion.name,
            "rolled_up": "highest" if self.rolled_up else None,
            "human_raters": brief.n_people,
            "unit": self.unit,
            "at": kept.at,
            "human_at": kept.people_at,
            **_brief_as_dict(brief),
            "left_out": {"human_only": kept.n_people_only, "judge_only": kept.n_judge_only},
        }
        if kept.part != "all":
            found |= {"part": kept.part, "test_readings": kept.readings}
            found["test"] = _brief_as_dict(kept.test) if kept.test else None
        return found

    @property
    def _marked_name(self) -> str:
        found = self.completeness
        return f"{self.judge.name} ({found.mark}: {found.why})" if found.mark else self.judge.name

    def cells(self) -> tuple[Any, ...]:
        """Return it as a row under `COLUMNS`."""
        kept, brief, making = self.kept, self.brief, self.making
        return (
            *(self.judge.name, self._marked_name, making.engine, making.model, making.template),
            *(int(making.weak), self.judge.origin, self.completeness.mark, self.study.name),
            *(self.judge_criterion.name, f"{self.judge_criterion.name} ≥ {kept.at:g}", self.criterion.study.name),
            *(self.criterion.name, f"{self.criterion.name} ≥ {kept.people_at:g}"),
            *("highest" if self.rolled_up else "", brief.n_people, self.unit, kept.at, kept.people_at),
            *(brief.n_items, brief.n_ungraded, kept.n_people_only, kept.n_judge_only),
            *(kept.part, self.part_in_words, kept.readings),
            *(brief.kappa, brief.alpha, brief.ceiling.people, brief.ceiling.judge, brief.ceiling.difference),
        )


COLUMNS = (
    *(Column("judge"), Column("shown", "Judge", filed=False), Column("engine"), Column("model"), Column("template")),
    *(Column("weak"), Column("origin"), Column("mark"), Column("study", "Study")),
    *(Column("criterion"), Column("yes", "Criterion", filed=False), Column("human_study")),
    *(Column("human_criterion"), Column("human_yes", "Human criterion", filed=False)),
    *(Column("rolled_up", "Rolled up"), Column("human_raters"), Column("unit"), Column("at"), Column("human_at")),
    *(Column("compared", "Compared", "count"), Column("ungraded", "Ungraded", "count"), Column("human_only")),
    *(Column("judge_only"), Column("part"), Column("of_part", "Part", filed=False), Column("test_readings")),
    *(
        Column(key, title, "estimate", parts=("value", "low", "high", "n_topics", "n_items", "reason"))
        for key, title in (
            ("kappa_unweighted", "κ (unweighted)"),
            ("alpha", "α"),
            ("ceiling_people", ""),
            ("ceiling_judge", ""),
            ("ceiling_difference", "To the human ceiling"),
        )
    ),
)


def _brief_as_dict(brief: Brief) -> dict[str, Any]:
    return {
        "n": brief.n_items,
        "n_ungraded": brief.n_ungraded,
        "kappa": kappa_as_dict(brief.kappa, "none"),
        "krippendorff_alpha": brief.alpha.as_dict(),
        "human_ceiling": brief.ceiling.as_dict(),
    }


# What a row is sorted by, and whether large values come first. Rows without a value come last either way.
SORTS: dict[str, tuple[Callable[[Row], Any], bool]] = {
    "judge": (lambda row: row.judge.name.casefold(), False),
    "study": (lambda row: row.study.name, False),
    "compared": (lambda row: row.brief.n_items, True),
    "ungraded": (lambda row: row.brief.n_ungraded, True),
    "kappa": (lambda row: row.brief.kappa.value, True),
    "alpha": (lambda row: row.brief.alpha.value, True),
    "difference": (lambda row: row.brief.ceiling.difference.value, True),
}


def sorted_rows(rows: Iterable[Row], sort: str) -> list[Row]:
    """Return the rows in the order that is asked for, else by study, criterion and judge; marked judges last."""
    found = sorted(rows, key=lambda row: (row.study.name, row.judge_criterion.position, row.judge.name))
    name = sort.removeprefix("-")
    if name not in SORTS:
        return complete_first(found, of=lambda row: row.completeness)
    of_row, descending = SORTS[name]
    known = sorted((row for row in found if of_row(row) is not None), key=of_row, reverse=descending != (sort != name))
    in_order = known + [row for row in found if of_row(row) is None]
    return complete_first(in_order, of=lambda row: row.completeness)


def judges_in_words(rows: Sequence[Row]) -> str:
    """Say of how many judges it is settled how they agree with people; unfinished and failing ones are counted."""
    finished = [row for row in rows if not row.completeness.mark]
    return judges_beside_people(
        [(row.judge.name, row.brief.ceiling, row.brief.kappa) for row in finished],
        n_marked=len(rows) - len(finished),
        n_simulated=sum(row.simulated for row in rows),
    )
