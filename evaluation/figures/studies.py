"""The figures that a study's judgments allow, each asked for by its name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from collection.models import Study
from collection.web.tables import Table
from evaluation.figures import (
    answerability,
    coverage_by_topic,
    expected_thresholds,
    missed_points,
    point_scores,
    question_set,
    score_distribution,
    slices,
    texts,
    variants,
    what_answers_keep,
    written_sets,
)
from evaluation.figures.figure import NoFigure, StudyFigure


class Kind(NamedTuple):
    title: str
    offers: Callable[[Study], bool]
    draw: Callable[..., StudyFigure]


FIGURES: dict[str, Kind] = {
    answerability.NAME: Kind(answerability.TITLE, answerability.offers, answerability.answerability),
    coverage_by_topic.NAME: Kind(
        coverage_by_topic.TITLE, coverage_by_topic.offers, coverage_by_topic.coverage_by_topic
    ),
    expected_thresholds.NAME: Kind(
        expected_thresholds.TITLE, expected_thresholds.offers, expected_thresholds.expected_thresholds
    ),
    score_distribution.NAME: Kind(
        score_distribution.TITLE, score_distribution.offers, score_distribution.score_distribution
    ),
    point_scores.NAME: Kind(point_scores.TITLE, point_scores.offers, point_scores.point_scores),
    missed_points.NAME: Kind(missed_points.TITLE, missed_points.offers, missed_points.missed_points),
    slices.NAME: Kind(slices.TITLE, slices.offers, slices.slices),
    variants.NAME: Kind(variants.TITLE, variants.offers, variants.variants),
    question_set.NAME: Kind(question_set.TITLE, written_sets.offers, question_set.question_set),
    what_answers_keep.NAME: Kind(what_answers_keep.TITLE, written_sets.offers, what_answers_keep.what_answers_keep),
    texts.NAME: Kind(texts.TITLE, texts.offers, texts.texts),
}

# Figures that need no judgment.
OF_TEXTS = {texts.NAME}


def offered_figures(study: Study) -> dict[str, str]:
    """Return the figures that there is something to draw of, with their titles."""
    return {name: kind.title for name, kind in FIGURES.items() if kind.offers(study)}


@dataclass(frozen=True)
class Figures:
    """The figures that there is something to draw of, with their titles."""

    titles: dict[str, str]
    answer: str = ""

    @property
    def judged(self) -> bool:
        """Whether any of them is of judgments."""
        return bool(self.titles.keys() - OF_TEXTS)

    def as_dict(self) -> dict[str, Any]:
        return {"figures": self.titles}

    def tables(self) -> dict[str, Table]:
        return {}


def figures_of(study: Study) -> Figures:
    return Figures(offered_figures(study))


def draw_figure(study: Study, figure: str, **asked: Any) -> StudyFigure:
    """Return the figure of this name; of what is asked, what it knows. Raises NoFigure."""
    if figure not in FIGURES:
        raise NoFigure(f"There is no figure “{figure}”. Choose one of: {', '.join(FIGURES)}.")
    draw = FIGURES[figure].draw
    known = inspect.signature(draw).parameters
    if asked.get("part") == "test" and "part" not in known:
        raise NoFigure("This figure is of the development topics alone.")
    return draw(study, **{option: value for option, value in asked.items() if option in known})


def description_of(figure: StudyFigure) -> dict[str, Any] | None:
    """Return what the figure is drawn from; None where there is nothing to draw."""
    return figure.description
