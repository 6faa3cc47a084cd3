"""A measure by the variants of each system's runs: a row for each system, a column for each value of an attribute.

Source: Qi et al., LONG²RAG (2024), Table 2: each model with its documents cut at several lengths, or shortened.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from collection.models import Run, Study
from evaluation.charts.slices import Slice, slices_chart
from evaluation.figures.figure import NoFigure, StudyFigure, chosen_of
from evaluation.leaderboards.available_measures import measure_choices, offered_measures
from evaluation.leaderboards.leaderboard import measure_leaderboard
from evaluation.leaderboards.sources import Scorer
from stats.answers_in_words import in_brackets
from stats.plurals import counted
from stats.ranking.leaderboard import Standing
from stats.ranking.measure_names import parse_measure

NAME = "variants"
TITLE = "A measure by variants of the systems"
# More values are not columns of a table.
MOST_VARIANTS = 12


def variants(
    study: Study, *, measure: str = "", source: str = "", by: str = "", part: Any = "development"
) -> StudyFigure:
    """Return each system's mean under each value of an attribute of its runs. Raises NoFigure, and NoLeaderboard."""
    scorer, measures = Scorer.of(study), measure_choices(study, measure)
    name = measure or chosen_of("", measures, "measure")
    asked = parse_measure(name)
    sources = [(one.name, one.shown) for one in scorer.loader.sources(asked)]
    whose = chosen_of(source, sources, "source of judgments")
    there = attributes_of(study)
    ways = [(one, one) for one in there]
    way = chosen_of(by, ways, "attribute that tells a system’s runs apart")
    board = measure_leaderboard(scorer, asked, sources=[whose], part=part)
    (column,) = board.columns
    found: dict[str, dict[str, Standing]] = defaultdict(dict)
    for (system, value), run in there[way].items():
        if run in column.by_system and column.by_system[run].mean.value is not None:
            found[system][value] = column.by_system[run]
    if not found:
        raise NoFigure(f"No run with the attribute “{way}” has a score by {whose}.")
    values = list(dict.fromkeys(value for _, value in there[way]))
    cells = [(system, value, of[value]) for system, of in sorted(found.items()) for value in values if value in of]
    drawn = [Slice(system, value, one.mean.value or 0, one.n_topics) for system, value, one in cells]
    return StudyFigure(
        name=NAME,
        title=f"{name} by {way}",
        visibility=board.visibility,
        simulated=board.simulated,
        description=slices_chart(
            drawn,
            groups=values,
            radar=False,
            measure=column.scored.shown,
            title=f"{name} by {way}",
            subtitle=f"Mean over {counted(column.n_topics, 'topics')} of the run with each value, by {whose}",
        ),
        head=["system", *values],
        rows=[
            [system, *(of[value].mean.value if value in of else None for value in values)]
            for system, of in sorted(found.items())
        ],
        long_head=["system", way, "mean", "low", "high", "se", "topics", "reason"],
        long_rows=[
            [system, value, one.mean.value, one.mean.low, one.mean.high, one.mean.se, one.n_topics, one.mean.reason]
            for system, value, one in cells
        ],
        notes=[*board.notes, *board.topic_notes],
        choices={
            "measure": measures,
            "source": sources,
            "by": ways,
        },
        chosen={"measure": name, "source": whose, "by": way},
        answer=_answer(name, cells),
    )


def _answer(measure: str, cells: Sequence[tuple[str, str, Standing]]) -> str:
    """Return which system with which value has the highest mean, and which the lowest."""
    best, worst = (pick(cells, key=lambda cell: cell[2].mean.value or 0) for pick in (max, min))
    (system, value, high), (other, of_other, low) = best, worst
    return (
        f"“{system}” with “{value}” is highest {in_brackets(measure, high.mean)}, “{other}” with “{of_other}” lowest "
        f"{in_brackets(measure, low.mean)}; each interval is of its own, and of {len(cells)} means the highest is "
        "biased upwards, the lowest downwards."
    )


def attributes_of(study: Study) -> dict[str, dict[tuple[str, str], str]]:
    """Return by attribute the run of each system and value; those attributes alone by which a system's runs differ."""
    runs = Run.objects.filter(collection=study.collection_id).order_by("pk").select_related("system")
    found: dict[str, dict[tuple[str, str], str]] = defaultdict(dict)
    twice: set[str] = set()
    for run in runs:
        for name, value in run.attributes.items():
            if isinstance(value, str | int):
                twice |= {name} if (run.system.name, str(value)) in found[name] else set()
                found[name][run.system.name, str(value)] = run.name
    return {name: of for name, of in sorted(found.items()) if name not in twice and _tells_apart(of)}


def _tells_apart(of: dict[tuple[str, str], str]) -> bool:
    systems = [system for system, _ in of]
    return len(systems) > len(set(systems)) and len({value for _, value in of}) <= MOST_VARIANTS


def offers(study: Study) -> bool:
    return bool(attributes_of(study)) and bool(offered_measures(study))
