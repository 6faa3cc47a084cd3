"""A measure by slices of the topics: a spoke of a radar for each value of an attribute, a line for each system.

Source: Qi et al., LONG²RAG (2024), Figure 4 (domains), Figure 5 (categories), Figure 6 (lengths of
documents) and Figure 7 (lengths of answers).
"""

from __future__ import annotations

from typing import Any

from collection.models import Study
from evaluation.charts.slices import Slice, slices_chart
from evaluation.figures.figure import Choices, StudyFigure, chosen_of
from evaluation.leaderboards.available_measures import measure_choices, offered_measures
from evaluation.leaderboards.breakdown import (
    CHARACTERS,
    DOCUMENTS,
    LENGTH,
    LengthSlices,
    groupings,
    offered_units,
    read_edges,
)
from evaluation.leaderboards.leaderboard import measure_leaderboard
from evaluation.leaderboards.sources import Scorer
from stats.plurals import counted
from stats.ranking.measure_names import parse_measure

NAME = "slices"
TITLE = "A measure by slices of the topics"


def slices(
    study: Study,
    *,
    measure: str = "",
    source: str = "",
    by: str = "",
    unit: str = "",
    edges: str = "",
    part: Any = "development",
) -> StudyFigure:
    """Return a measure's means by an attribute of the topics, or by the length of answers or documents.

    Raises NoFigure, and NoLeaderboard.
    """
    scorer, measures = Scorer.of(study), measure_choices(study, measure)
    name = measure or chosen_of("", measures, "measure")
    asked = parse_measure(name)
    sources = [(one.name, one.shown) for one in scorer.loader.sources(asked)]
    whose = chosen_of(source, sources, "source of judgments")
    ways = [(one, one) for one in groupings(scorer)]
    way = chosen_of(by, ways, "attribute that groups topics")
    ordered = way in (LENGTH, DOCUMENTS)
    units = [(one, one) for one in offered_units(scorer)] if ordered else []
    lengths_in: dict[str, Choices] = {"unit": units} if ordered else {}
    lengths = LengthSlices(read_edges(edges), chosen_of(unit, units, "unit of lengths")) if ordered else LengthSlices()
    board = measure_leaderboard(scorer, asked, sources=[whose], by=way, lengths=lengths, part=part)
    (column,) = board.columns
    assert board.breakdown is not None  # by
    groups = board.breakdown.groups
    means = board.breakdown.means[whose]
    found = [
        Slice(system, group, mean.value, mean.n)
        for system in means
        for group, mean in zip(groups, means[system], strict=True)
        if mean is not None and mean.value is not None
    ]
    return StudyFigure(
        name=NAME,
        title=f"{name} by {way}",
        visibility=board.visibility,
        simulated=board.simulated,
        description=slices_chart(
            found,
            groups=groups,
            radar=not ordered and len(groups) > 2 and len(found) == len(means) * len(groups),
            measure=column.scored.shown,
            title=f"{name} by {way}",
            subtitle=f"Mean over the topics of each slice, {counted(column.n_topics, 'topics')} in all, by {whose}",
        )
        if found
        else None,
        head=["system", *groups, "all"],
        rows=[
            [system, *(None if mean is None else mean.value for mean in of_system), column.means.get(system)]
            for system, of_system in means.items()
        ],
        long_head=["system", "slice", "mean", "se", "topics"],
        long_rows=[
            [system, group, mean.value, mean.standard_error, mean.n]
            for system, of_system in means.items()
            for group, mean in zip(groups, of_system, strict=True)
            if mean is not None
        ],
        notes=[*board.notes, *board.topic_notes, *([_cut(way, lengths)] if ordered else [])],
        choices={"measure": measures, "source": sources, "by": ways} | lengths_in,
        chosen={"measure": name, "source": whose, "by": way} | ({"unit": lengths.unit} if ordered else {}),
        typed={"edges": edges} if ordered else {},
        answer=_answer(found),
    )


def _answer(found: list[Slice]) -> str:
    """Return in which slice the mean over systems is the highest and the lowest, where systems have all of them."""
    systems = {one.system for one in found}
    of_group: dict[str, list[float]] = {}
    for one in found:
        of_group.setdefault(one.group, []).append(one.mean)
    means = {group: sum(values) / len(values) for group, values in of_group.items() if len(values) == len(systems)}
    if len(means) < 2:
        return ""
    high, low = (pick(means, key=means.__getitem__) for pick in (max, min))
    return (
        f"Over {counted(len(systems), 'systems')} the mean is highest in “{high}” ({means[high]:.3f}) and lowest in "
        f"“{low}” ({means[low]:.3f}), without an interval; of {len(means)} means the ends are further apart than on "
        "other topics."
    )


def _cut(way: str, lengths: LengthSlices) -> str:
    """Return how lengths are counted and cut."""
    unit = lengths.unit if lengths.unit == CHARACTERS else f"tokens by “{lengths.unit}”"
    cut = "at your own edges" if lengths.edges else f"in thirds of all {'answers' if way == LENGTH else 'topics'}"
    of = "" if way == LENGTH else " The documents are those that a topic’s key points were taken from, together."
    return f"Lengths are in {unit}, {cut}.{of}"


def offers(study: Study) -> bool:
    return bool(offered_measures(study)) and bool(groupings(Scorer.of(study)))
