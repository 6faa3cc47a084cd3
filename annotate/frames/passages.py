"""Passages that grades choose: those that are relevant, or those that are required to answer what can be answered."""

from __future__ import annotations

from collections import defaultdict

from annotate.frames.checks import criterion_named
from annotate.frames.frame import Frame
from collection.judgments.unaided import without_the_aided
from collection.models import Collection, Criterion, Judgment, Rater
from stats.measures.crux import required_subset
from stats.measures.grades import GradeTable
from stats.votes import majority_of

# Topic, passage id, rubric element (none: the topic itself), grade.
Grades = dict[tuple[int, str, str], list[float | None]]


def passages_by_grades(frame: Frame, collection: Collection) -> list[tuple[int, str]]:
    """Return the passages that the frame's grades choose, as (topic's primary key, passage id), by topic and id.

    Several people become one by majority, ties to the lower grade. A passage with several graded sub-questions is
    relevant where one of them reaches the grade.
    """
    criterion = criterion_named(frame.grades_of, collection)
    if criterion is None:
        return []
    at = criterion.threshold if frame.least_grade is None else frame.least_grade
    grades = {
        key: majority_of(one for one in given if one is not None)
        for key, given in _given(criterion, frame.grades_by).items()
    }
    if frame.passages == "required":
        by_topic: dict[int, list[tuple[str, str, float | None]]] = defaultdict(list)
        for (topic, passage, element), grade in grades.items():
            by_topic[topic].append((passage, element, grade))
        return [
            (topic, passage)
            for topic, rows in sorted(by_topic.items())
            for passage in required_subset(GradeTable.from_rows(rows), threshold=at).required
        ]
    return sorted(
        {(topic, passage) for (topic, passage, _), grade in grades.items() if grade is not None and grade >= at}
    )


def _given(criterion: Criterion, rater: str) -> Grades:
    """Return the grades of people, or of the rater of this name, in the order of the items."""
    judgments = (
        Judgment.objects.filter(criterion=criterion, item__passage__isnull=False).graded().without_the_excluded()
    )
    chosen = judgments.filter(rater__name=rater) if rater else judgments.filter(rater__kind=Rater.Kind.ASSESSOR)
    unmasked = without_the_aided(chosen).exclude(item__element__masked=True).order_by("item_id", "rater_id")
    given: Grades = defaultdict(list)
    for topic, passage, element, grade in unmasked.values_list(
        "item__topic_id", "item__passage__passage_id", "item__element__element_id", "grade"
    ):
        given[topic, passage, element or ""].append(grade)
    return given
