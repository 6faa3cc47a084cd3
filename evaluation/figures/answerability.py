"""The answerability matrix of a topic: which passage answers which sub-question, how well, and which are required.

Source: Ju et al., Controlled Retrieval-augmented Context Evaluation for Long-form RAG (2025), section 3.2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from collection.models import RubricElement, Study
from collection.models.studies import TaskType
from evaluation.charts.answerability import GradedCell, answerability_chart
from evaluation.figures.figure import StudyFigure, chosen_of
from evaluation.leaderboards.sources import Scorer
from stats.measures.crux import required_subset
from stats.measures.grades import GradeTable
from stats.plurals import counted

NAME = "answerability"
TITLE = "Answerability of a topic’s sub-questions"
CLASSES = {3: "required", 2: "partly redundant", 1: "fully redundant"}


def answerability(study: Study, *, source: str = "", topic: str = "", part: Any = "development") -> StudyFigure:
    """Return the matrix of a topic by one source's grades of passages. Raises NoFigure, and as `visibility_of` does."""
    scorer = Scorer.of(study)
    there = scorer.loader.sources_under((TaskType.RATING, ""))
    sources = [(one.name, one.shown) for one in there]
    name = chosen_of(source, sources, "source of grades of passages")
    chosen = next(one for one in there if one.name == name)
    scorer = scorer.seen([chosen], part=part, named=True)
    tables = {name: table for name, table in scorer.grades(chosen).tables.items() if not np.isnan(table.grades).all()}
    topics = [(one, one) for one in tables]
    at_topic = chosen_of(topic, topics, "topic with graded passages")
    table, at = tables[at_topic], chosen.criterion.threshold
    subset = required_subset(table, threshold=at)
    classes = subset.qrels()
    passages = _in_order(table, subset.required, at)
    texts = _texts(study, at_topic)
    rows = {question: f"{question}  {texts.get(question, '')}" for question in table.elements}  # texts may be alike
    first = {question: _first(table, question, subset.required, at) for question in table.elements}
    places = {passage: row for row, passage in enumerate(table.passages)}
    cells = [
        GradedCell(rows[question], passage, float(grade))
        for passage in passages
        for question, grade in zip(table.elements, table.grades[places[passage]], strict=True)
        if not np.isnan(grade)
    ]
    n_answered = sum(one is not None for one in first.values())
    scale = chosen.criterion.scale.values
    return StudyFigure(
        name=NAME,
        title=f"Which passages answer what is asked of {at_topic}",
        visibility=scorer.visibility,
        simulated=chosen.simulated,
        description=answerability_chart(
            cells,
            questions=list(rows.values()),
            passages=passages,
            required=list(subset.required),
            first={rows[question]: passage for question, passage in first.items() if passage},
            top=float(max(scale)),
            title=f"Answerability, topic {at_topic}",
            subtitle=f"Grades by {chosen.name}, {min(scale):g} to {max(scale):g}; answered from {at:g}",
        ),
        head=["sub_question", "text", "answered_by", "graded", "highest", "first_answered_by"],
        rows=[
            [question, texts.get(question, ""), *_column(table, question, at), first[question]]
            for question in table.elements
        ],
        long_head=["passage", "class", "sub_question", "grade"],
        long_rows=[
            [passage, CLASSES.get(classes.get(passage, 0), "unjudged"), question, float(grade)]
            for passage in passages
            for question, grade in zip(table.elements, table.grades[places[passage]], strict=True)
            if not np.isnan(grade)
        ],
        notes=[
            f"{counted(len(cells), 'pairs')} of {len(passages) * len(table.elements):,} have a grade; an empty place "
            "has none, and counts as not answered.",
            "Masked sub-questions are left out.",
        ],
        answer=(
            f"{n_answered} of {counted(len(table.elements), 'sub-questions')} are answered, by "
            f"{counted(len(passages), 'graded passages')}; {len(subset.required)} are required: each time the one that "
            "answers most of what is open, the first where several do."
        ),
        choices={"source": sources, "topic": topics},
        chosen={"source": name, "topic": at_topic},
    )


def offers(study: Study) -> bool:
    return study.items.filter(task_type=TaskType.RATING, passage__isnull=False, judgments__isnull=False).exists()


def _texts(study: Study, topic: str) -> dict[str, str]:
    found = RubricElement.objects.filter(topic__collection=study.collection_id, topic__topic_id=topic)
    return dict(found.values_list("element_id", "text"))


def _in_order(table: GradeTable, required: tuple[str, ...], at: float) -> list[str]:
    """Return the graded passages: those required as they were taken, then by how many sub-questions they answer."""
    answered = dict(zip(table.passages, (table.grades >= at).sum(axis=1).tolist(), strict=True))
    graded = [one for one, of in zip(table.passages, table.grades, strict=True) if not np.isnan(of).all()]
    rest = [one for one in graded if one not in required]
    return [*required, *sorted(rest, key=lambda one: -answered[one])]


def _first(table: GradeTable, question: str, required: tuple[str, ...], at: float) -> str | None:
    """Return the first passage, in the order in which they are required, that answers the sub-question."""
    column = table.elements.index(question)
    return next((one for one in required if table.grades[table.passages.index(one), column] >= at), None)


def _column(table: GradeTable, question: str, at: float) -> tuple[int, int, float | None]:
    grades = table.grades[:, table.elements.index(question)]
    known = grades[~np.isnan(grades)]
    return int((known >= at).sum()), len(known), float(known.max()) if len(known) else None
