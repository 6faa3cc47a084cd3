"""How a judge's scores are distributed, and how many of what a threshold keeps people say is wrong.

Source: Qi et al., LONG²RAG (2024), appendix A.2 and Figure 13: the false positives at a threshold are the labelled
items that a person says no to, of the labelled items with that score or more; the mean is over people.
"""

from __future__ import annotations

import numpy as np

from collection.completeness import judges_of_studies
from collection.models import Rater, Study
from evaluation.charts.score_distribution import score_distribution_chart
from evaluation.data.judgments import load_criterion
from evaluation.data.visibility import Part, in_sight, parts_of
from evaluation.figures.figure import StudyFigure, chosen_of
from evaluation.leaderboards.breakdown import read_edges
from stats.judges.score_thresholds import ScoreThreshold, marked_scores, thresholds_of_scores
from stats.plurals import counted
from stats.ratings import grades_of

NAME = "score-distribution"
TITLE = "A judge’s scores, and false positives by threshold"


def score_distribution(study: Study, *, criterion: str = "", judge: str = "", edges: str = "") -> StudyFigure:
    """Return the figure of a judge's grades under a criterion; `edges` are thresholds to cut at. Raises NoFigure."""
    there = {one.name: one for one in study.criteria.select_related("study__collection", "scale")}
    loaded = {name: load_criterion(one) for name, one in there.items()}
    criteria = [(name, name) for name, one in loaded.items() if one.columns(Rater.Kind.JUDGE)]
    name = chosen_of(criterion, criteria, "criterion that a judge graded under")
    judged, parts = loaded[name], parts_of(study)
    columns = {str(judged.ratings.raters[column]): column for column in judged.columns(Rater.Kind.JUDGE)}
    known = judges_of_studies([study], part=Part.DEVELOPMENT)
    judges = [
        (one, known.of(judged.criterion.pk, judged.raters[column].pk).after(one)) for one, column in columns.items()
    ]
    by = chosen_of(judge, judges, "judge")
    rater = judged.raters[columns[by]]
    sight = in_sight(parts, [rater], part="development")
    if parts:
        judged = judged.of_topics(parts.development)
    people = judged.columns(Rater.Kind.ASSESSOR)
    grades = grades_of(judged.ratings.codes, judged.ratings.numbers)
    at = judged.criterion.threshold
    persons = {str(judged.ratings.raters[column]): grades[:, column] for column in people}
    scores = grades[:, columns[by]]
    found = thresholds_of_scores(scores, persons, yes=at, at=read_edges(edges))
    if not found:
        chosen_of("", [], "grade by this judge")
    simulated = rater.simulated or any(judged.raters[column].simulated for column in people)
    n, marked = int((~np.isnan(scores)).sum()), marked_scores(scores)
    return StudyFigure(
        name=NAME,
        title=f"Scores by {by} under {name}",
        sight=sight,
        simulated=simulated,
        description=score_distribution_chart(
            found,
            marked,
            title=f"Scores by {by}",
            subtitle=f"{counted(n, 'items')}; nobody labelled them"
            if not people
            else f"{counted(n, 'items')}; false positives: what people say no to, of the labelled ones kept, mean "
            f"over {counted(len(people), 'people')}",
        ),
        head=["threshold", "kept", "share_kept", "labelled_kept", "false_positives", *persons],
        rows=[
            [one.at, one.n_kept, one.share_kept, one.n_labelled, one.mean, *(one.by_person[who] for who in persons)]
            for one in found
        ],
        notes=[
            f"{counted(n, 'items')} have a score by {by}; without one: {len(grades) - n:,} of those judged.",
            f"A person’s yes is a grade of {at:g} or more. False positives are 1 − precision among what is kept, "
            "person by person, then the mean; a threshold that keeps nothing a person labelled has none.",
            "Dotted: "
            + ", ".join(f"a share of {share:g} of scores are {score:g} or less" for share, score in marked.items())
            + ".",
        ],
        choices={"criterion": criteria, "judge": judges},
        chosen={"criterion": name, "judge": by},
        typed={"edges": edges},
        answer=_answer(found),
    )


def _answer(found: list[ScoreThreshold]) -> str:
    """Return how false positives change from the lowest threshold to the one where they are the fewest."""
    known = [(one.mean, one) for one in found if one.mean is not None]
    if not known:
        return "Nobody labelled any of the items, so that there are no false positives to count."
    (first, lowest), (fewest, best) = known[0], min(known, key=lambda pair: (pair[0], pair[1].at))
    if first == fewest:
        return f"No higher threshold has fewer false positives than {lowest.at:g}, where they are {first:.1%}."
    return (
        f"From {lowest.at:g} to {best.at:g} the threshold lowers false positives from {first:.1%} to {fewest:.1%}, and "
        f"keeps {best.share_kept:.1%} of the items, {best.n_labelled:,} of them labelled."
    )


def offers(study: Study) -> bool:
    return study.criteria.filter(judgments__rater__kind=Rater.Kind.JUDGE).exists()
