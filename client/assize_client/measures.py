"""A judge's score as people's drawn labels correct it, as a measure of ir_measures and of PyTerrier's experiments."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ir_measures import Measure, Metric
from ir_measures.measures.base import Agg

if TYPE_CHECKING:
    import pandas as pd

    from assize_client.site import Study


class NoCorrectedScore(Exception):
    """The site gives the run no corrected score; the message is its reason."""


class _MeanOfKnown(Agg):
    """The mean of the values that are there; NaN where a topic has none."""

    def __init__(self) -> None:
        self._values: list[float] = []

    def add(self, value: float) -> None:
        if not math.isnan(value):
            self._values.append(value)

    def result(self) -> float:
        return math.fsum(self._values) / len(self._values) if self._values else math.nan


class Corrected(Measure):
    """`measure` by the study's judge, corrected by its drawn human labels.

    Each run goes to the site, which does not keep it; the qrels given to ir_measures do not matter here. `last` is the
    site's corrected score of the run that was scored last, with its interval, and `last_answer` all that the site said.
    Raises NoCorrectedScore, and AssizeError with what is wrong in the run.
    """

    NAME = "Corrected"
    DEFAULT = math.nan  # of topics without a value: unknown, not 0
    RUN_INPUTS = ("query_id", "doc_id", "score")
    QREL_INPUTS = ("query_id",)

    def __init__(self, study: Study, measure: Any, *, judge: str) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # ir_measures has no types
        self.study = study
        self.measure = str(measure)
        self.judge = judge
        self.last: dict[str, Any] = {}
        self.last_answer: dict[str, Any] = {}

    def __repr__(self) -> str:
        return f"Corrected({self.measure}; {self.judge})"

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def aggregator(self) -> Agg:
        return _MeanOfKnown()

    def runtime_impl(self, qrels: pd.DataFrame, run: pd.DataFrame) -> Iterator[Metric]:
        """Yield what ir_measures asks of a measure: of each topic what it adds to the corrected mean."""
        self.last_answer = self.study.score_run(_in_trec_columns(run), self.measure, judge=self.judge)
        corrected = [one for one in self.last_answer["scores"] if one["judge"] == self.judge and "method" in one]
        found = next((one for one in corrected if one["source"] != self.judge), None)
        if found is None or found["value"] is None:
            raise NoCorrectedScore(found["reason"] if found else f"No people’s labels stand beside “{self.judge}”.")
        self.last = found
        parts: dict[str, float] = found["by_topic"]
        if lacking := parts.keys() - set(qrels["query_id"]):
            raise NoCorrectedScore(
                f"The score is over {len(parts)} topics, of which the qrels lack {len(lacking)}, such as "
                f"{min(lacking)}. Give the qrels of the study’s topics."
            )
        for topic, value in parts.items():
            yield Metric(query_id=topic, measure=self, value=value)


def _in_trec_columns(run: pd.DataFrame) -> str:
    rows = zip(run["query_id"], run["doc_id"], run["score"], strict=True)
    return "".join(
        f"{topic} Q0 {docno} {rank} {float(score)!r} run\n" for rank, (topic, docno, score) in enumerate(rows, 1)
    )
