"""A study's items as tables of texts and rubric elements, topic by topic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from collection.banks.versions import dropped_elements
from collection.models import Item, Passage, RubricElement, Run, Study
from collection.models.studies import TaskType
from collection.questions.shapes import TASK_TYPES
from evaluation.data.judgments import read_places
from stats.measures.grades import GradeTable
from stats.ranking.measures.own_questions import OF_REPORTS
from stats.ratings import FloatArray, IntArray


@dataclass(frozen=True)
class TopicShape:
    """Where a topic's items stand in its table: places in the layout's items, rows and columns."""

    texts: tuple[str, ...]
    elements: tuple[str, ...]
    places: IntArray
    rows: IntArray
    columns: IntArray


@dataclass(frozen=True)
class Layout:
    """A study's items of one task type, by topic; elements that are masked or out of their bank are left out."""

    items: IntArray
    shapes: Mapping[str, TopicShape]

    @cached_property
    def asked(self) -> dict[str, FloatArray]:
        """1 where an item exists, texts × elements, and NaN elsewhere, by topic."""
        return {topic: table.grades for topic, table in self.tables(np.ones(len(self.items))).items()}

    def place(self, items: IntArray, grades: FloatArray) -> FloatArray:
        """Return the grades, given for some of the items, in the order of the layout's; NaN where there is none."""
        known = np.full(len(self.items), np.nan)
        places = np.searchsorted(self.items, items)
        inside = places < len(self.items)
        inside[inside] = self.items[places[inside]] == items[inside]
        known[places[inside]] = grades[inside]
        return known

    def tables(self, known: FloatArray) -> dict[str, GradeTable]:
        """Return the items' grades, in the order of the layout's, as a table for each topic; NaN without item."""
        tables = {}
        for topic, shape in self.shapes.items():
            cells = np.full((len(shape.texts), len(shape.elements)), np.nan)
            cells[shape.rows, shape.columns] = known[shape.places]
            tables[topic] = GradeTable(shape.texts, shape.elements, cells)
        return tables


def load_layout(study: Study, task_type: str, topics: Mapping[int, str], runs: Mapping[int, Run]) -> Layout:
    """Read the study's items of this task type, of these topics."""
    items = Item.objects.filter(study=study, task_type=task_type).exclude(element__masked=True)
    items = items.exclude(element__in=dropped_elements(study.collection_id))
    if task_type == TaskType.KEY_POINT:
        items = items.exclude(element__attributes__has_key="run")  # an answer's own, which no ranking need hold
    rows = read_places(items)
    elements = dict(RubricElement.objects.filter(topic__collection=study.collection_id).values_list("pk", "element_id"))
    passages: dict[int, str] = {}
    if (rows[:, 3] > 0).any():
        stored = Passage.objects.filter(collection=study.collection_id)
        passages = dict(stored.values_list("pk", "passage_id").iterator(chunk_size=10_000))
    shapes = {}
    for topic in [topic for topic in np.unique(rows[:, 1]).tolist() if topic in topics]:
        places = np.flatnonzero(rows[:, 1] == topic)
        of_topic = rows[places]
        texts, row = np.unique(of_topic[:, 3], return_inverse=True)
        columns, column = np.unique(of_topic[:, 2], return_inverse=True)
        shapes[topics[topic]] = TopicShape(
            texts=tuple(passages[pk] if pk > 0 else runs[-pk].name for pk in texts.tolist()),
            elements=tuple(elements.get(pk, "") for pk in columns.tolist()),
            places=places,
            rows=row.ravel(),
            columns=column.ravel(),
        )
    return Layout(rows[:, 0], dict(sorted(shapes.items())))


# The shipped task types whose measures the judgments of an own question allow, by its text and elements.
LIKE = {
    ("passage", ""): TaskType.RELEVANCE,
    ("passage", RubricElement.Kind.SUB_QUESTION): TaskType.RATING,
    ("report", RubricElement.Kind.SUB_QUESTION): TaskType.ANSWERABILITY,
}


def measured_as(task_type: str) -> str:
    """Return the task type as measures know it: of an own question what it is like, or OF_REPORTS; else its name."""
    own = TASK_TYPES[task_type].own if task_type in TASK_TYPES else None
    if own is None:
        return task_type
    text, element = own.document["text"], own.document["element"]
    alike = LIKE.get((text, element))
    return alike or (OF_REPORTS if text in ("report", "sentence", "citation") and not element else task_type)
