"""Z*, the oracle's context: what can be answered at all, in how many tokens, and in how many passages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from stats.measures.crux import answerable
from stats.measures.grades import GradeTable
from stats.ratings import BoolArray


@dataclass(frozen=True)
class Oracle:
    """The run whose passages are the best context there is.

    - `contexts`: its passages by topic, whole.
    - `tables`, `minimum`: of reports, one source's grades of passages by topic, and the grade from which a passage
      answers; no tables where the source graded none.
    """

    name: str
    contexts: Mapping[str, Sequence[str]]
    tables: Mapping[str, GradeTable] = field(default_factory=dict)
    minimum: float = 0.0

    def answered(self, topic: str, elements: Sequence[str]) -> BoolArray:
        """Return which sub-questions count for a report on the topic (Q of CRUX's eq. 3), shape (elements,).

        One is left out where the source graded every passage of Z* on it and none answers it. Where a grade is missing
        it stays in, for nothing says that it cannot be answered: what is not masked is asked.
        """
        passages, table = self.contexts.get(topic, ()), self.tables.get(topic)
        if not passages or table is None:
            return np.ones(len(elements), dtype=bool)
        grades = table.of(passages)
        refuted: BoolArray = ~np.asarray((answerable(grades, threshold=self.minimum) | np.isnan(grades)).any(axis=0))
        unanswered = {element for element, no in zip(table.elements, refuted, strict=True) if no}
        return np.array([element not in unanswered for element in elements], dtype=bool)

    def size(self, topic: str) -> int:
        """Return |Z*|, the number of its passages."""
        return len(self.contexts.get(topic, ()))


@dataclass(frozen=True)
class TokenCounts:
    """How many tokens the texts have, as `tokenizer` counts: passages by id, reports by topic and run.

    A text that is not held, or has no stored count, is in neither.
    """

    tokenizer: str
    passages: Mapping[str, int] = field(default_factory=dict)
    reports: Mapping[tuple[str, str], int] = field(default_factory=dict)

    def of_context(self, passages: Sequence[str]) -> list[int | None]:
        return [self.passages.get(passage) for passage in passages]

    def of_report(self, topic: str, run: Sequence[str]) -> list[int | None]:
        return [self.reports.get((topic, name)) for name in run]
