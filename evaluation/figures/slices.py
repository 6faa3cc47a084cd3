"""A measure by slices of the topics: a spoke of a radar for each value of an attribute, a line for each system.

Source: Qi et al., LONG²RAG (2024), Figure 4 (domains), Figure 5 (categories) and Figure 7 (lengths of answers).
"""

from __future__ import annotations

from typing import Any

from collection.models import Study
from evaluation.charts.slices import Slice, slices_chart
from evaluation.figures.figure import StudyFigure, chosen_of
from evaluation.leaderboards.available_measures import offered_measures
from evaluation.leaderboards.breakdown import LENGTH, groupings
from evaluation.leaderboards.leaderboard import measure_leaderboard
from evaluation.leaderboards.sources import StudySources
from stats.plurals import counted
from stats.ranking.measure_names import parse_measure

NAME = "slices"
TITLE = "A measure by slices of the topics"


def slices(
    study: Study, *, measure: str = "", source: str = "", by: str = "", part: Any = "development"
) -> StudyFigure:
    """Return a measure's means by an attribute of the topics, or by the length of answers. Raises NoFigure."""
    boards = StudySources(study)
    measures = [(one, one) for one in offered_measures(study)]
    name = measure or chosen_of("", measures, "measure")
    sources = [(one.name, one.shown) for one in boards.sources(parse_measure(name))]
    whose = chosen_of(source, sources, "source of judgments")
    ways = [(one, one) for one in groupings(boards)]
    way = chosen_of(by, ways, "attribute that groups topics")
    board = measure_leaderboard(boards, parse_measure(name), sources=[whose], by=way, part=part)
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
    ordered = way == LENGTH
    return StudyFigure(
        name=NAME,
        title=f"{name} by {way}",
        sight=board.sight,
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
        head=["system", *groups],
        rows=[
            [system, *(None if mean is None else mean.value for mean in of_system)]
            for system, of_system in means.items()
        ],
        long_head=["system", "slice", "mean", "se", "topics"],
        long_rows=[
            [system, group, mean.value, mean.standard_error, mean.n]
            for system, of_system in means.items()
            for group, mean in zip(groups, of_system, strict=True)
            if mean is not None
        ],
        notes=[*board.notes, *board.topic_notes, *(["Lengths are in characters, in thirds of all answers."] * ordered)],
        choices={"measure": list(dict.fromkeys([*measures, (name, name)])), "source": sources, "by": ways},
        chosen={"measure": name, "source": whose, "by": way},
    )


def offers(study: Study) -> bool:
    return bool(offered_measures(study)) and bool(groupings(StudySources(study)))
