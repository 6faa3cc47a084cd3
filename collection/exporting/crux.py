"""One rater's labels as CRUX's labelling platform writes them: of reports (task T1) and of passages (task T2)."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from django.db.models import F

from collection.formats import crux
from collection.judgments.unaided import as_said_unaided
from collection.models import Criterion, Highlight, Judgment, Rater, RubricElement


class _Label(NamedTuple):
    """A rater's grade of a text under a sub-question; `text` is the run of a report, or a passage's id."""

    pk: int
    topic: int
    topic_id: str
    text: str
    element: int
    grade: float | None


def exported_qlabels(criterion: Criterion, rater: Rater) -> Iterator[str]:
    """Yield a line for each report that the rater labelled: 1 from the criterion's threshold up, else 0.

    Lines stand in the order in which the rater's labels were stored. Several marks of a label are a line each.
    """
    for topic, labels in _texts(criterion, rater, "item__report__run__name"):
        grades = {one.element: one.grade for one in labels}
        quotes = _quotes(labels, Highlight.Purpose.SUPPORT)
        answered: list[int] = []
        spans: dict[str, str] = {}
        for question in topic:
            grade = grades.get(question.pk)
            unjudged = crux.UNJUDGED if grade is None else int(grade >= criterion.threshold)
            answered.append(crux.MASKED if question.masked else unjudged)
            spans.setdefault(
                crux.NO_QUESTION if question.masked else question.text,
                "" if question.masked else quotes.get(question.pk, ""),
            )
        line = crux.CruxLabels(labels[0].text, labels[0].topic_id, tuple(answered), spans)
        yield _written(crux.written_labels(line))


def exported_qrels(criterion: Criterion, rater: Rater) -> Iterator[str]:
    """Yield a line for each passage and topic that the rater rated, with grades as they are on the scale."""
    for topic, labels in _texts(criterion, rater, "item__passage__passage_id"):
        places = {question.pk: place for place, question in enumerate(topic)}
        grades = dict.fromkeys(places.values(), crux.UNJUDGED)
        grades |= {places[one.element]: int(one.grade) for one in labels if one.grade is not None}
        quotes = {places[element]: quote for element, quote in _quotes(labels, Highlight.Purpose.RATIONALE).items()}
        line = crux.CruxRatings(labels[0].topic_id, labels[0].text, grades, quotes)
        yield _written(crux.written_ratings(line))


def _texts(criterion: Criterion, rater: Rater, text: str) -> Iterator[tuple[list[RubricElement], list[_Label]]]:
    """Yield the labels of each text on a topic, with all of the topic's sub-questions.

    Labels are those that people gave before they saw a judge's grade, and none of an excluded rater's.
    """
    sub_question = RubricElement.Kind.SUB_QUESTION
    judged = Judgment.objects.filter(criterion=criterion, rater=rater, item__element__kind=sub_question)
    said = as_said_unaided(judged.filter(**{f"{text}__isnull": False}).without_the_excluded())
    rows = said.order_by("pk").values_list(
        "pk", "item__topic_id", "item__topic__topic_id", F(text), "item__element_id", "unaided_grade"
    )
    of_text: dict[tuple[int, str], list[_Label]] = defaultdict(list)
    for row in rows:
        label = _Label(*row)
        of_text[label.topic, label.text].append(label)
    questions: dict[int, list[RubricElement]] = defaultdict(list)
    elements = RubricElement.objects.filter(topic__in={topic for topic, _ in of_text}, kind=sub_question)
    for element in elements.order_by("position", "pk"):
        questions[element.topic_id].append(element)
    for (key, _), labels in of_text.items():
        yield questions[key], labels


def _quotes(labels: list[_Label], purpose: str) -> dict[int, str]:
    """Return what the rater marked, by sub-question."""
    elements = {one.pk: one.element for one in labels}
    marked = Highlight.objects.filter(judgment__in=elements, purpose=purpose).order_by("pk")
    quotes: dict[int, list[str]] = defaultdict(list)
    for judgment, quote in marked.values_list("judgment_id", "quote"):
        quotes[elements[judgment]].append(quote)
    return {element: "\n".join(found) for element, found in quotes.items()}


def _written(line: dict[str, object]) -> str:
    return json.dumps(line, allow_nan=False) + "\n"
