"""The table of all measures in docs/measures.md. `python -m tests.measures_table` writes it; a test holds it equal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from stats.intervals import CLIPPED_SHARE, UNBOUNDED
from stats.ranking.answer_measures import OfAnswers
from stats.ranking.measure_names import SystemMeasure, parse_measure, registered
from stats.ranking.qrels_scoring import QrelsMeasure

PAGE = Path(__file__).parent.parent / "docs" / "measures.md"
BEGIN, END = "<!-- All measures: begin -->\n", "<!-- All measures: end -->\n"
HEAD = ("measure", "what it is", "source", "judged", "values", "without a judgment", "corrected by labels on a part")


def table() -> str:
    """Return the table, one line a measure, by where each is offered."""
    kinds = sorted(registered(), key=lambda kind: (kind.takes_the_rest, min(kind.offers.values(), default=99)))
    rows = [HEAD, ("---",) * len(HEAD), *(row for kind in kinds for row in _rows(kind))]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def written(page: str) -> str:
    """Return the page with the table as it is now."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n{table()}\n{END}{rest.partition(END)[2]}"


def _rows(kind: type[SystemMeasure]) -> Iterator[tuple[str, ...]]:
    for name, meaning in kind.meanings.items():
        yield _row(f"`{name}`", meaning, parse_measure(name))
    if not kind.meanings:
        names = [name.format(k="k", deepest="k") for name in kind.offers] or [kind.family]
        shown = ", ".join(f"`{name}`" for name in names) if kind.family != "ir-measures" else "any other"
        yield _row(shown, kind.describes, *(parse_measure(name.replace("@k", "@10")) for name in names))


def _row(shown: str, meaning: str, measure: SystemMeasure, *others: SystemMeasure) -> tuple[str, ...]:
    needs = dict.fromkeys(need for one in (measure, *others) for need in one.needs)
    judged = [kind if name in ("", kind) else f"{kind}: {name}" for kind, name in needs]
    values = {UNBOUNDED: "any", CLIPPED_SHARE: "mean 0–1"}.get(measure.within, "0–1")
    return shown, meaning, measure.source, " or ".join(judged) or "–", values, _unjudged(measure), _corrected(measure)


def _unjudged(measure: SystemMeasure) -> str:
    if isinstance(measure, QrelsMeasure):
        known = "; bounds are known" if measure.bounded_as else ""
        return "is known of" if measure.knows_unjudged else f"not relevant{known}"
    if isinstance(measure, OfAnswers) and measure.leaves_out:
        return "left out"
    return "–" if not measure.needs else "a no"


def _corrected(measure: SystemMeasure) -> str:
    if isinstance(measure, QrelsMeasure):
        return "approximately" if measure.ratio else "yes" if measure.weights(1) else "–"
    return "yes" if measure.is_sum else "–"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text("utf-8")), "utf-8")
