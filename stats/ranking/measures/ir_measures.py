"""Whatever ir-measures knows, on qrels; the measures of it that stand in files of their own know more of themselves."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Self

import ir_measures

from stats.intervals import SHARE, UNBOUNDED, Range
from stats.measures.trec import evaluator, parsed_measure, run_of, system_scores
from stats.ranking.measure_names import AT_ORACLE
from stats.ranking.qrels_scoring import Labels, QrelsMeasure
from stats.ranking.sampled_labels import Rankings

if TYPE_CHECKING:
    import pandas as pd

COUNTS = frozenset({"NumQ", "NumRel", "NumRet", "NumRelRet"})


class FromIrMeasures(QrelsMeasure):
    """A measure that ir-measures computes, by its name there; `family` is that without parameters and cutoff."""

    source = "ir-measures"

    @classmethod
    def parse(cls, name: str) -> Self | None:
        known = ir_measures.measures.registry.get(_stem(name))
        asked = cls.takes_the_rest or (known is not None and cls.family == known.NAME)
        return cls(name, at_oracle=name.endswith(AT_ORACLE)) if asked else None

    def at(self, threshold: float) -> Self:
        # Labels are whole numbers: they reach a threshold between two of them as they reach the next.
        name = self.name.replace("η", f"{math.ceil(threshold)}")
        parsed = parsed_measure(self._cut_at(1, name))
        asked = dict(parsed.params)
        cutoff = asked.pop("cutoff", None)
        supported = parsed.SUPPORTED_PARAMS.get("rel")
        relevant = asked.pop("rel", supported.default if supported else None)
        relevant = relevant if isinstance(relevant, int) else None
        inside = [f"rel≥{relevant}"] if relevant is not None else []
        inside += [f"{key}={value}" for key, value in asked.items()]
        cut = AT_ORACLE if self.at_oracle else f"@{cutoff}" if cutoff is not None else ""
        shown = f"{parsed.NAME}({', '.join(inside)}){cut}" if inside else f"{parsed.NAME}{cut}"
        return replace(self, name=name, cutoff=None if self.at_oracle else cutoff, relevant=relevant, shown=shown)

    def scores(self, labels: Labels, rankings: Rankings, size: int | None) -> pd.DataFrame:
        runs = {name: {topic: run_of(ranking) for topic, ranking in found.items()} for name, found in rankings.items()}
        return system_scores(self._cut_at(size or 1), labels, runs)

    def refuse_unless_computable(self) -> None:
        evaluator(self._cut_at(1), {"topic": {"passage": 0}})

    @property
    def is_bounded(self) -> bool:
        """With no parameter but the relevant grade and k."""
        usual = super().is_bounded and set(parsed_measure(self.name).params) <= {"rel", "cutoff"}
        return usual and (self.relevant is None or self.relevant >= 1)

    def _cut_at(self, size: int, name: str = "") -> str:
        """Return its name with this cutoff in place of the oracle's."""
        name = name or self.name
        return f"{name.removesuffix(AT_ORACLE)}@{size}" if self.at_oracle else name


class AnyOther(FromIrMeasures):
    family = "ir-measures"
    describes = "any other measure of [ir-measures](https://ir-measur.es), by its name there"
    takes_the_rest = True

    @property
    def within(self) -> Range:
        return UNBOUNDED if _stem(self.name) in COUNTS else SHARE


class Judged(FromIrMeasures):
    family = "Judged"
    describes = "share of the first k passages that are judged"
    knows_unjudged = True
    needs_judged = False


class Bpref(FromIrMeasures):
    family = "Bpref"
    describes = "how seldom what is judged irrelevant stands above what is relevant"
    knows_unjudged = True


class InfAp(FromIrMeasures):
    family = "infAP"
    describes = "average precision, inferred where passages are not judged"
    knows_unjudged = True


def _stem(name: str) -> str:
    return name.partition("@")[0].partition("(")[0]
