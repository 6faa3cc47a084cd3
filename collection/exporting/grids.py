"""A rater's grades of passages as a grid: a row for each passage, a column for each question of its topic."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from collection.judgments.unaided import as_said_unaided
from collection.models import Criterion, Judgment, Rater, RubricElement
from stats.csv_files import csv_lines

FIRST = ("topic_id", "passage_id", "highest", "yes", "ungraded")


def exported_grid(criterion: Criterion, rater: Rater) -> Iterator[str]:
    """Yield the lines of a CSV: topics one after another, each with a row of its questions before its passages.

    `yes` counts the grades from the criterion's threshold up. An empty cell has no grade: it was not asked, or the
    reply is ungraded, which `ungraded` counts; it is never 0. Nothing is there of an excluded rater, and of people
    what they said before they saw a judge's grade.
    """
    judged = Judgment.objects.filter(criterion=criterion, rater=rater, item__passage__isnull=False)
    said = as_said_unaided(judged.filter(item__element__isnull=False).without_the_excluded())
    topics = dict(said.order_by("item__topic_id").values_list("item__topic_id", "item__topic__topic_id").distinct())
    questions = {topic: _questions(topic, said) for topic in topics}
    n_columns = max(map(len, questions.values()), default=0)
    yield from csv_lines([[*FIRST, *(f"question {number}" for number in range(1, n_columns + 1))]])
    for topic, topic_id in topics.items():
        yield from csv_lines([[topic_id, "", None, None, None, *(one.element_id for one in questions[topic])]])
        rows: dict[str, dict[int, float | None]] = defaultdict(dict)
        grades = said.filter(item__topic=topic).order_by("item__passage_id", "pk")
        for passage_id, element, grade in grades.values_list(
            "item__passage__passage_id", "item__element_id", "unaided_grade"
        ):
            rows[passage_id][element] = grade
        for passage_id, of_passage in rows.items():
            graded = [grade for grade in of_passage.values() if grade is not None]
            yield from csv_lines(
                [
                    [
                        topic_id,
                        passage_id,
                        _plain(max(graded, default=None)),
                        sum(grade >= criterion.threshold for grade in graded),
                        len(of_passage) - len(graded),
                        *(_plain(of_passage.get(one.pk)) for one in questions[topic]),
                    ]
                ]
            )


def _questions(topic: int, said: Any) -> list[RubricElement]:
    """Return the topic's questions that the rater was asked, in their order."""
    asked = said.filter(item__topic=topic).values("item__element")
    return list(RubricElement.objects.filter(pk__in=asked).order_by("position", "pk"))


def _plain(grade: float | None) -> int | float | None:
    """Return a whole grade without its point."""
    return grade if grade is None or grade != int(grade) else int(grade)
