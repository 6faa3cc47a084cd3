"""How systems' answers miss key points: incomplete, general or missing, by system.

Source: Qi et al., LONG²RAG (2024), section 6.1 and Figure 8.
"""

from __future__ import annotations

import numpy as np

from collection.models import Criterion, Item, Rater, Study
from collection.questions.shapes import TASK_TYPES
from evaluation.charts.missed_points import missed_points_chart
from evaluation.data.judge_pairs import IDS_AT_ONCE, batched
from evaluation.data.judgments import CriterionRatings, load_criterion
from evaluation.data.visibility import parts_of, visibility_of
from evaluation.figures.figure import StudyFigure, chosen_of
from stats.measures.missed_points import MissedPoints, most_frequent, ways_of_missing
from stats.plurals import counted
from stats.ratings import grades_of

NAME = "missed-points"
TITLE = "How systems miss key points"
PEOPLE = "people"
HEAD = ("system", "way", "judgments", "points", "share", "low", "high", "topics", "reason")


def missed_points(study: Study, *, source: str = "") -> StudyFigure:
    """Return the shares of the ways in which each system's reports miss points, by people or a judge. Raises NoFigure.

    A report counts for its system; several runs of one system count together.
    """
    criterion = _criterion(study)
    judged = load_criterion(criterion) if criterion else None
    columns = _sources(judged) if judged else {}
    sources = [(one, one) for one in columns]
    name = chosen_of(source, sources, "answer to how a key point was missed")
    assert judged is not None  # there are sources
    raters = [judged.raters[column] for column in columns[name]]
    parts = parts_of(study)
    visibility = visibility_of(parts, [one for one in raters if one.kind == Rater.Kind.JUDGE], part="development")
    if parts:
        judged = judged.of_topics(parts.development)
    found = _by_system(judged, columns[name])
    if not found:
        chosen_of("", [], "answer to how a key point was missed")
    names = {float(point["value"]): str(point["name"]) for point in judged.criterion.scale.points}
    n_points = sum(ways[0].n_points for ways in found.values())
    return StudyFigure(
        name=NAME,
        title=f"How systems miss key points, by {name}",
        visibility=visibility,
        simulated=any(one.simulated for one in raters),
        description=missed_points_chart(
            found,
            names,
            title="How systems miss key points",
            subtitle=f"{counted(n_points, 'missed points')}, by {name}",
        ),
        head=HEAD,
        rows=[
            [system, names[one.grade], one.n_grades, one.n_points, *one.share.cells[:3], *one.share.cells[4:7:2]]
            for system, ways in found.items()
            for one in ways
        ],
        notes=[
            "A point that several people judged counts once, for each way with the share of them who named it.",
            "Asked only where a report does not say a point. A judge is asked about those of which somebody said so.",
        ],
        answer=_in_words(found, names, n_points),
        choices={"source": sources},
        chosen={"source": name},
    )


def offers(study: Study) -> bool:
    criterion = _criterion(study)
    return criterion is not None and criterion.judgments.exists()


def _criterion(study: Study) -> Criterion | None:
    names = [one.name for shape in TASK_TYPES.values() for one in shape.criteria if one.after_no]
    return study.criteria.filter(name__in=names).select_related("study__collection", "scale").first()


def _sources(judged: CriterionRatings) -> dict[str, list[int]]:
    """Return whose grades there are: people together, then each judge; by name the columns."""
    people = judged.columns(Rater.Kind.ASSESSOR)
    judges = {str(judged.ratings.raters[column]): [column] for column in judged.columns(Rater.Kind.JUDGE)}
    return ({PEOPLE: people} if people else {}) | judges


def _by_system(judged: CriterionRatings, columns: list[int]) -> dict[str, list[MissedPoints]]:
    ratings = judged.ratings.of_raters(columns)
    grades = grades_of(ratings.codes, ratings.numbers)
    assert ratings.topics is not None  # load_criterion
    systems = np.array(_systems(list(map(int, ratings.items))), dtype=object)
    found = {}
    for system in sorted(set(systems.tolist())):
        rows = np.flatnonzero(systems == system)
        if ways := ways_of_missing(grades[rows], ratings.topics[rows], judged.criterion.scale.values):
            found[system] = ways
    return found


def _systems(items: list[int]) -> list[str]:
    named: dict[int, str] = {}
    for some in batched(items, IDS_AT_ONCE):
        named |= dict(Item.objects.filter(pk__in=some).values_list("pk", "report__run__system__name"))
    return [named[item] for item in items]


def _in_words(found: dict[str, list[MissedPoints]], names: dict[float, str], n_points: int) -> str:
    """Return over what the shares are, and which way is the most frequent in how many systems."""
    most = list(most_frequent(found).values())
    counts = {names[grade]: most.count(grade) for grade in sorted(set(most))}
    told = "; ".join(f"“{name}” is the most frequent way in {n} of {len(found)} systems" for name, n in counts.items())
    return f"{counted(n_points, 'missed points')} of {counted(len(found), 'systems')}" + (f": {told}." if told else ".")
