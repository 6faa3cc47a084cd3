"""TREC's measures of a ranking against qrels: whatever ir-measures knows.

trec_eval's conventions hold. A run is ranked by score, compared in single precision, ties by docno descending, as
`collection.rankings` has it too. A passage without a judgment counts as not relevant. Averages are over the topics of
the qrels, and a topic that is missing from the run scores 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    rows = {system: _scores(prepared, qrels, run) for system, run in runs.items()}
    return pd.DataFrame.from_dict(rows, orient="index", columns=list(qrels))


def evaluator(measure: str, qrels: Qrels) -> Any:
    """Return ir-measures' evaluator of one measure over these qrels. Raises UnknownMeasure.

    One measure each: with several, ir-measures may read a run only once and give 0 to the rest.
    """
    parsed = parsed_measure(measure)
    try:
        return ir_measures.evaluator([parsed], {topic: dict(docs) for topic, docs in qrels.items() if docs})
    except (ValueError, AssertionError, RuntimeError) as error:
        raise UnknownMeasure(f"“{measure}” cannot be computed here: {error}") from error


@cache
def parsed_measure(measure: str) -> Any:
    """Return ir-measures' measure of this name. Raises UnknownMeasure."""
    try:
        parsed: Any = ir_measures.parse_measure(measure)
        parsed.validate_params()
    except (NameError, SyntaxError, ValueError, AttributeError, TypeError, KeyError, AssertionError) as error:
        raise UnknownMeasure(f"There is no measure “{measure}”. Examples: nDCG@10, AP, P(rel=2)@5, RR.") from error
    if type(parsed).__module__.endswith(".diversity"):
        raise UnknownMeasure(
            f"“{measure}” needs subtopics, which qrels by passage do not have. CRUX’s α-nDCG is alpha_ndcg."
        )
    return parsed


def _scores(prepared: Any, qrels: Qrels, run: Run) -> list[float]:
    scored = {topic: dict(docs) for topic, docs in run.items() if topic in qrels and docs}
    try:
        values = {found.query_id: float(found.value) for found in prepared.iter_calc(scored)} if scored else {}
    except ArithmeticError as error:
        raise UnknownMeasure(f"ir-measures cannot compute this measure on these qrels: {error}.") from error
    return [values.get(topic, 0.0) for topic in qrels]


def run_of(ranking: Sequence[str]) -> dict[str, float]:
    """Return scores that put the docnos in this order, for lists that come without scores."""
    return dict(zip(ranking, map(float, range(len(ranking), 0, -1)), strict=True))
