"""Grades of a topic's passages against its rubric elements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stats.ratings import FloatArray


@dataclass(frozen=True)
class GradeTable:
    """One rater's grades for one topic.

    `grades` has the shape passages × elements, in the unit of the scale (ordinal, 0–5 in CRUX and RUBRIC); NaN where
    ungraded or never judged. Masked elements do not belong in it.
    """

    passages: tuple[str, ...]
    elements: tuple[str, ...]
    grades: FloatArray

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

    def of(self, passages: Sequence[str]) -> FloatArray:
        """Return the grades of these passages in this order; all NaN for a passage that was never judged."""
        found = np.full((len(passages), len(self.elements)), np.nan)
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
