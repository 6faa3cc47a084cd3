"""Grades of a topic's passages against its rubric elements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from stats.ratings import FloatArray


@dataclass(frozen=True)
class GradeTable:
    """One rater's grades for one topic.

    `grades` has the shape passages × elements, in the unit of the scale (ordinal, 0–5 in CRUX and RUBRIC); NaN where
    ungraded or never judged. Masked elements do not belong in it. `unnamed` is the grade of every other passage.
    """

    passages: tuple[str, ...]
    elements: tuple[str, ...]
    grades: FloatArray
    unnamed: float = np.nan

    def __post_init__(self) -> None:
        if self.grades.shape != (len(self.passages), len(self.elements)):
            raise ValueError(
                f"{len(self.passages)} passages and {len(self.elements)} elements do not fit grades of the shape "
                f"{self.grades.shape}."
            )

    @classmethod
    def from_rows(
        cls, rows: Iterable[tuple[str, str, float | None]], *, elements: Sequence[str] | None = None
    ) -> GradeTable:
        """Return the table of rows (passage, element, grade); a later row for the same pair replaces an earlier one.

        `elements` are all that were asked, in their order; without them, those that occur.
        """
        listed = list(rows)
        passages = tuple(dict.fromkeys(passage for passage, _, _ in listed))
        columns = tuple(dict.fromkeys(element for _, element, _ in listed)) if elements is None else tuple(elements)
        row_of = {passage: row for row, passage in enumerate(passages)}
        column_of = {element: column for column, element in enumerate(columns)}
        grades = np.full((len(passages), len(columns)), np.nan)
        for passage, element, grade in listed:
            if element in column_of:
                grades[row_of[passage], column_of[element]] = np.nan if grade is None else grade
        return cls(passages, columns, grades)

    def with_unnamed(self, named: FloatArray, *, grade: float) -> GradeTable:
        """Return the table in which every passage that the source did not name has this grade, in the table or not.

        `named`, in the shape of the grades, is NaN where the source was not asked. What it was asked and did not grade
        stays without a grade; so does everything where it named nothing.
        """
        rows = np.asarray(~np.isnan(named)).any(axis=1)
        if not rows.any():
            return self
        return replace(self, grades=np.where(np.asarray(rows)[:, None], self.grades, grade), unnamed=grade)

    def n_known(self, passage: str) -> int:
        """Return how many elements the passage has a grade for."""
        return self.n_there.get(passage, 0 if np.isnan(self.unnamed) else len(self.elements))

    def of(self, passages: Sequence[str]) -> FloatArray:
        """Return the grades of these passages in this order; all NaN for a passage that was never judged."""
        found = np.full((len(passages), len(self.elements)), self.unnamed)
        for row, passage in enumerate(passages):
            known = self._row_of.get(passage)
            if known is not None:
                found[row] = self.grades[known]
        return found

    @cached_property
    def n_there(self) -> dict[str, int]:
        """How many grades each passage has."""
        counts = (~np.isnan(self.grades)).sum(axis=1)
        return dict(zip(self.passages, counts.tolist(), strict=True))

    @cached_property
    def _row_of(self) -> dict[str, int]:
        return {passage: row for row, passage in enumerate(self.passages)}
