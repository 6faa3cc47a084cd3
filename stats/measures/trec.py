"""TREC's measures of a ranking against qrels: whatever ir-measures knows.

trec_eval's conventions hold. A run is ranked by score, compared in single precision, ties by docno descending, as
`collection.rankings` has it too. A passage without a judgment counts as not relevant. Averages are over the topics of
the qrels, and a topic that is missing from the run scores 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import ir_measures

from stats.refusals import Refused

if TYPE_CHECKING:
    import pandas as pd

# By topic and docno. Grades are whole numbers; gains of nDCG are the grades themselves (linear).
Qrels = Mapping[str, Mapping[str, int]]
Run = Mapping[str, Mapping[str, float]]


class UnknownMeasure(Refused):
    """ir-measures has no measure of this name, or cannot compute it here."""


def system_scores(measure: str, qrels: Qrels, runs: Mapping[str, Run]) -> pd.DataFrame:
    """Return one measure's scores of the shape systems × topics. Raises UnknownMeasure."""
    import pandas as pd

    prepared = evaluator(measure, qrels)
    with _refusing(measure):
        rows = {system: _scores(prepared, qrels, run) for system, run in runs.items()}
    return pd.DataFrame.from_dict(rows, orient="index", columns=list(qrels))


def evaluator(measure: str, qrels: Qrels) -> Any:
    """Return ir-measures' evaluator of one measure over these qrels. Raises UnknownMeasure.

    One measure each: with several, ir-measures may read a run only once and give 0 to the rest. Topics are numbered,
    for some of what it calls reads no other names.
    """
    parsed = parsed_measure(measure)
    with _refusing(measure):
        return ir_measures.evaluator([parsed], {str(n): dict(docs) for n, docs in enumerate(qrels.values()) if docs})


@cache
def parsed_measure(measure: str) -> Any:
    """Return ir-measures' measure of this name. Raises UnknownMeasure."""
    known = ir_measures.measures.registry.get(measure.partition("@")[0].partition("(")[0])
    if known is None:
        raise UnknownMeasure(f"There is no measure “{measure}”. Examples: nDCG@10, AP, P(rel=2)@5, RR.")
    with _refusing(measure):
        parsed: Any = ir_measures.parse_measure(measure)
        parsed.validate_params()
    if type(parsed).__module__.endswith(".diversity"):
        raise UnknownMeasure(
            f"“{measure}” needs subtopics, which qrels by passage do not have. CRUX’s α-nDCG is alpha_ndcg."
        )
    if parsed.params.get("cutoff", 1) < 1:  # trec_eval would end this process
        raise UnknownMeasure(f"The depth of “{measure}” must be 1 or more.")
    return parsed


@contextmanager
def _refusing(measure: str) -> Iterator[None]:
    """Raise UnknownMeasure for whatever ir-measures, or one of the programs behind it, raises, with the remedy."""
    try:
        yield
    except Exception as error:
        known = ir_measures.measures.registry[measure.partition("@")[0].partition("(")[0]]
        takes = ", ".join("a depth (@10)" if name == "cutoff" else name for name in known.SUPPORTED_PARAMS)
        package = re.search(r"pip install ([^\s)]+)", str(error))
        remedy = (
            f"Install {package[1]} where the site runs."
            if package
            else f"{known.__name__} takes {takes or 'nothing'}, and may need some of that."
        )
        raise UnknownMeasure(f"“{measure}” cannot be computed here. {remedy}") from error


def _scores(prepared: Any, qrels: Qrels, run: Run) -> list[float]:
    scored = {str(n): dict(run[topic]) for n, topic in enumerate(qrels) if run.get(topic)}
    values = {int(found.query_id): float(found.value) for found in prepared.iter_calc(scored)} if scored else {}
    return [values.get(n, 0.0) for n in range(len(qrels))]


def run_of(ranking: Sequence[str]) -> dict[str, float]:
    """Return scores that put the docnos in this order, for lists that come without scores."""
    return dict(zip(ranking, map(float, range(len(ranking), 0, -1)), strict=True))
