"""A build's scores of key points beside what people say of the same points: which threshold keeps how much.

Source: Qi et al., LONG²RAG (2024), appendix A.2 and Figure 13. People's word is their label of the point in the study,
or their decision about it in the build's review.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from collection.models import Criterion, Item, Rater, RubricElement, Study
from collection.models.studies import TaskType
from evaluation.data.judgments import CriterionRatings, load_criterion, read_places
from evaluation.data.visibility import parts_of, visibility_of
from evaluation.figures.figure import StudyFigure, chosen_of
from evaluation.figures.score_thresholds import ScoredItems, figure_of_thresholds
from judging.data.point_reviews import reviewed_points_of, scored_builds_of
from stats.ratings import FloatArray, grades_of

NAME = "point-scores"
TITLE = "A build’s scores of key points, and false positives by threshold"
LABELS = "labels under utility"


def point_scores(study: Study, *, source: str = "", edges: str = "") -> StudyFigure:
    """Return the figure of key points' scores; `source` says whose word is held against them. Raises NoFigure."""
    builds = _reviewed_builds(study)
    sources = [(LABELS, LABELS)] if _scored_elements(study).exists() else []
    sources += [(name, f"{name}, scores by {by}") for name, (_, by) in builds.items()]
    name = chosen_of(source, sources, "scored key point of a build")
    topics = set(study.items.order_by().values_list("topic_id", flat=True).distinct())
    scored = _labelled(study, topics) if name == LABELS else _reviewed(study, *builds[name], topics)
    return figure_of_thresholds(
        scored,
        name=NAME,
        title=f"Key points’ scores by {scored.by}",
        visibility=visibility_of(parts_of(study), []),
        choices={"source": sources},
        chosen={"source": name},
        edges=edges,
    )


def offers(study: Study) -> bool:
    return _scored_elements(study).exists() or bool(_reviewed_builds(study))


def _scored_elements(study: Study) -> Any:
    """Return the key points that came of builds with a score, masked ones too."""
    elements = RubricElement.objects.filter(topic__collection=study.collection_id, kind=RubricElement.Kind.KEY_POINT)
    return elements.filter(attributes__has_key="score")


def _reviewed_builds(study: Study) -> dict[str, tuple[int, str]]:
    """Return builds with scores that were reviewed, by a name: their numbers, and whose scores they are."""
    return {f"review of build {number}": (number, by) for number, by in scored_builds_of(study.collection).items()}


def _reviewed(study: Study, build: int, by: str, topics: Collection[int]) -> ScoredItems:
    """Return the build's points in these topics with what each reviewer decided: 1 keeps a point, 0 rejects it."""
    points = [one for one in reviewed_points_of(study.collection, build) if one["topic"] in topics]
    names = sorted({who for one in points for who in one["said"]})
    return ScoredItems(
        by=by,
        scores=np.array([one["score"] for one in points], dtype=float),
        people={who: np.array([float(one["said"].get(who, np.nan)) for one in points]) for who in names},
        yes=1,
        topics=np.array([one["topic"] for one in points], dtype=np.int64),
        told="A reviewer who accepts or edits a point says yes, one who rejects it no; what was accepted unread counts "
        "as not labelled.",
        unit="key points",
    )


def _labelled(study: Study, topics: Collection[int]) -> ScoredItems:
    """Return the collection's scored points in these topics with each person's label of them in the study."""
    rows = list(_scored_elements(study).filter(topic__in=topics).order_by("pk"))
    places = {element.pk: place for place, element in enumerate(rows)}
    models = {str(one.attributes.get("generated", {}).get("model") or "a build") for one in rows}
    criterion = study.criteria.filter(name="utility", task_type=TaskType.KEY_POINT).select_related(
        "study__collection", "scale"
    )
    found, judged = criterion.first(), None
    people: dict[str, FloatArray] = {}
    if found is not None:
        judged = load_criterion(found)
        people = _by_point(judged, found, places)
    return ScoredItems(
        by=", ".join(sorted(models)) or "a build",
        scores=np.array([float(element.attributes["score"]) for element in rows]),
        people=people,
        yes=found.threshold if found else 1,
        topics=np.array([element.topic_id for element in rows], dtype=np.int64),
        told="A person says yes to a point where they grade it so beside any of the documents they saw it with, for it "
        "is scored once for its question. Points that were masked for their score were asked of nobody: build with a "
        "Score to keep of 0 to have people label points of all scores.",
        simulated=judged is not None and judged.has_simulated_people,
        unit="key points",
    )


def _by_point(judged: CriterionRatings, criterion: Criterion, places: dict[int, int]) -> dict[str, FloatArray]:
    """Return the highest grade that each person gives a point over its documents, in the points' order."""
    asked = read_places(Item.objects.filter(study=criterion.study_id, task_type=TaskType.KEY_POINT))
    of_element = {int(item): int(element) for item, _, element, text in asked if text > 0}
    rows = np.array([places.get(of_element.get(int(item), 0), -1) for item in judged.ratings.items], dtype=np.int64)
    grades = grades_of(judged.ratings.codes, judged.ratings.numbers)
    found = {}
    for column in judged.columns(Rater.Kind.ASSESSOR):
        highest = np.full(len(places), -np.inf)
        there = (rows >= 0) & ~np.isnan(grades[:, column])
        np.maximum.at(highest, rows[there], grades[there, column])
        if there.any():
            found[str(judged.ratings.raters[column])] = np.where(np.isinf(highest), np.nan, highest)
    return found
