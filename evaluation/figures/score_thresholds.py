"""The figure of scores and of what thresholds on them keep, whoever gave the scores and the labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.charts.score_distribution import score_distribution_chart
from evaluation.data.visibility import Visibility
from evaluation.figures.figure import Choices, StudyFigure, chosen_of
from evaluation.leaderboards.breakdown import read_edges
from stats.judges.score_thresholds import ScoreThreshold, marked_scores, thresholds_of_scores
from stats.plurals import counted
from stats.ratings import FloatArray, IntArray


@dataclass(frozen=True)
class ScoredItems:
    """Scores, shape (items,), by whom; people's grades by name, of the same shape, a yes from `yes` up; NaN: none.

    `topics`, of the same shape, are what intervals leave out. `unit`: what is scored, in the plural. `told`: what is to
    be known of the labels, in sentences.
    """

    by: str
    scores: FloatArray
    people: Mapping[str, FloatArray]
    yes: float
    topics: IntArray | None
    told: str
    simulated: bool = False
    unit: str = "items"


def figure_of_thresholds(
    scored: ScoredItems,
    *,
    name: str,
    title: str,
    visibility: Visibility,
    choices: dict[str, Choices],
    chosen: dict[str, str],
    edges: str,
) -> StudyFigure:
    """Return the figure; `edges` are thresholds to cut at. Raises NoFigure where nothing has a score."""
    scores, people, unit = scored.scores, scored.people, scored.unit
    found = thresholds_of_scores(scores, people, yes=scored.yes, at=read_edges(edges), topics=scored.topics)
    if not found:
        chosen_of("", [], f"score by {scored.by}")
    n, marked = int((~np.isnan(scores)).sum()), marked_scores(scores)
    labelled = "false positives: what people say no to, of the labelled ones kept, mean over {}, 95 % interval"
    return StudyFigure(
        name=name,
        title=title,
        visibility=visibility,
        simulated=scored.simulated,
        description=score_distribution_chart(
            found,
            marked,
            title=f"Scores by {scored.by}",
            subtitle=f"{counted(n, unit)}; "
            + (labelled.format(counted(len(people), "people")) if people else "nobody labelled them"),
        ),
        head=[
            *("threshold", "kept", "share_kept", "labelled_kept", "false_positives", "low", "high", "topics"),
            *people,
            "reason",
        ],
        rows=[_row(one, list(people)) for one in found],
        notes=[
            f"{counted(n, unit)} have a score by {scored.by}; without one: {len(scores) - n:,}.",
            f"{scored.told} False positives are 1 − precision among what is kept, person by person, then the mean; a "
            "threshold that keeps nothing a person labelled has none. The interval leaves out each topic for all "
            "people at once.",
            "Dotted: "
            + ", ".join(f"a share of {share:g} of scores are {score:.3g} or less" for share, score in marked.items())
            + ".",
        ],
        choices=choices,
        chosen=chosen,
        typed={"edges": edges},
        answer=_answer(found, unit),
    )


def _row(one: ScoreThreshold, people: Sequence[str]) -> list[float | int | str | None]:
    wrong = one.false_positives
    n_topics = wrong.sample.n_topics if wrong.sample else 0
    cells = [one.at, one.n_kept, one.share_kept, one.n_labelled, wrong.value, wrong.low, wrong.high, n_topics]
    return [*cells, *(one.by_person[who] for who in people), wrong.reason if wrong.low is None else ""]


def _answer(found: Sequence[ScoreThreshold], unit: str) -> str:
    """Return how false positives change from the lowest threshold to the one where they are the fewest."""
    known = [(one.mean, one) for one in found if one.mean is not None]
    if not known:
        return f"Nobody labelled any of the {unit}, so that there are no false positives to count."
    (first, lowest), (fewest, best) = known[0], min(known, key=lambda pair: (pair[0], pair[1].at))
    if first == fewest:
        return f"No higher threshold has fewer false positives than {lowest.at:.3g}, where they are {first:.1%}."
    return (
        f"From {lowest.at:.3g} to {best.at:.3g} the threshold lowers false positives from {first:.1%} to {fewest:.1%}, "
        f"and keeps {best.share_kept:.1%} of the {unit}, {best.n_labelled:,} of them labelled. It was picked for "
        f"the fewest of {len(known)} thresholds, so on other {unit} they are more."
    )
