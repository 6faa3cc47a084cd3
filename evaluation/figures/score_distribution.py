"""How a judge's scores are distributed, and how many of what a threshold keeps people say is wrong.

Source: Qi et al., LONG²RAG (2024), appendix A.2 and Figure 13: the false positives at a threshold are the labelled
items that a person says no to, of the labelled items with that score or more; the mean is over people.
"""

from __future__ import annotations

from collection.models import Rater, Study
from evaluation.data.judgments import completeness_of, load_criterion
from evaluation.data.visibility import Part, parts_of, visibility_of
from evaluation.figures.figure import StudyFigure, chosen_of
from evaluation.figures.score_thresholds import ScoredItems, figure_of_thresholds
from stats.ratings import grades_of

NAME = "score-distribution"
TITLE = "A judge’s scores, and false positives by threshold"


def score_distribution(study: Study, *, criterion: str = "", judge: str = "", edges: str = "") -> StudyFigure:
    """Return the figure of a judge's grades under a criterion; `edges` are thresholds to cut at. Raises NoFigure."""
    there = {one.name: one for one in study.criteria.select_related("study__collection", "scale")}
    loaded = {name: load_criterion(one) for name, one in there.items()}
    criteria = [(name, name) for name, one in loaded.items() if one.columns(Rater.Kind.JUDGE)]
    name = chosen_of(criterion, criteria, "criterion that a judge graded under")
    judged = loaded[name]
    columns = {str(judged.ratings.raters[column]): column for column in judged.columns(Rater.Kind.JUDGE)}
    known = completeness_of(study, Part.DEVELOPMENT)
    judges = [
        (one, known.of(judged.criterion.pk, judged.raters[column].pk).after(one)) for one, column in columns.items()
    ]
    by = chosen_of(judge, judges, "judge")
    rater = judged.raters[columns[by]]
    visibility = visibility_of(parts_of(study), [rater], part="development")
    judged = visibility.of_ratings(judged)
    people = judged.columns(Rater.Kind.ASSESSOR)
    grades = grades_of(judged.ratings.codes, judged.ratings.numbers)
    at = judged.criterion.threshold
    scored = ScoredItems(
        by=by,
        scores=grades[:, columns[by]],
        people={str(judged.ratings.raters[column]): grades[:, column] for column in people},
        yes=at,
        topics=judged.ratings.topics,
        told=f"A person’s yes is a grade of {at:g} or more.",
        simulated=rater.simulated or any(judged.raters[column].simulated for column in people),
    )
    return figure_of_thresholds(
        scored,
        name=NAME,
        title=f"Scores by {by} under {name}",
        visibility=visibility,
        choices={"criterion": criteria, "judge": judges},
        chosen={"criterion": name, "judge": by},
        edges=edges,
    )


def offers(study: Study) -> bool:
    return study.criteria.filter(judgments__rater__kind=Rater.Kind.JUDGE).exists()
