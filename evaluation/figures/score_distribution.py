"""How a judge's scores are distributed, and how many of what a threshold keeps people say is wrong.

Source: Qi et al., LONG²RAG (2024), appendix A.2 and Figure 13: the false positives at a threshold are the labelled
items that a person says no to, of the labelled items with that score or more; the mean is over people.
"""

from __future__ import annotations

from collection.completeness import judges_of_studies
from collection.models import Rater, Study
from evaluation.charts.score_distribution import score_distribution_chart
from evaluation.data.judgments import load_criterion
from evaluation.data.visibility import Part, in_sight, parts_of
from evaluation.figures.figure import StudyFigure, chosen_of
from stats.judges.score_thresholds import thresholds_of_scores
from stats.plurals import counted
from stats.ratings import grades_of

NAME = "score-distribution"
TITLE = "A judge’s scores, and false positives by threshold"


def score_distribution(study: Study, *, criterion: str = "", judge: str = "") -> StudyFigure:
    """Return the figure of a judge's grades under a criterion. Raises NoFigure."""
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
    found = thresholds_of_scores(grades[:, columns[by]], persons, yes=at)
    if not found:
        chosen_of("", [], "grade by this judge")
    simulated = rater.simulated or any(judged.raters[column].simulated for column in people)
    n = found[0].n_kept
    return StudyFigure(
        name=NAME,
        title=f"Scores by {by} under {name}",
        sight=sight,
        simulated=simulated,
        description=score_distribution_chart(
            found,
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
        ],
        choices={"criterion": criteria, "judge": judges},
        chosen={"criterion": name, "judge": by},
    )


def offers(study: Study) -> bool:
    return study.criteria.filter(judgments__rater__kind=Rater.Kind.JUDGE).exists()
