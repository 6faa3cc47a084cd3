"""What each task type is made of: which texts, which rubric elements, which criteria on which scales.

A shipped one is a folder beside this module, whose `question.toml` says it in English; a researcher's own is a row of
`Question`, the same thing. Scales of shipped ones are the papers', the words for their grades are ours: CRUX's T1
(answerable or not) and T2 (a rubric from 0 to 5), LONG²RAG's verification of key points (grounded or not, then agree,
neutral or disagree) and its three ways to miss one, CLAPNQ's written answers (six outcomes) and its evaluation of
answers (1 to 4, and pairs), TREC's graded relevance (0 to 3), TREC RAG's nuggets (support; vital or okay) and its
support of a sentence by what it cites, with BioGen's "contradicts", and ARGUE's questions that a sentence answers,
rightly or wrongly. How well a question fits its category is asked for LONG²RAG's seed questions.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from collection.models import Question, RubricElement, Scale
from collection.models.studies import TaskType
from collection.scales import ScaleShape, whole

FILES = Path(__file__).parent
# What is judged. Of a "pair" two reports, of a "use" a report and one of its passages, of a "citation" a sentence of a
# report and a passage that it cites; a "question" is the topic's own, without any text.
TEXTS = ("report", "passage", "pair", "use", "citation", "sentence", "question")
# What may be marked in the text beside a grade: nothing, what the assessor likes, something with each positive grade
# and nothing with others, or whole sentences.
MARKS = ("none", "optional", "when positive", "sentences")


@dataclass(frozen=True)
class CriterionShape:
    """A criterion that a task type asks, with the scale it comes with.

    An `open_scale` may be replaced by any other; of a closed one only the words may change, for the
    method counts on its values. One with `after_no` is asked of reports alone, where the criterion of that name was
    answered with no, and only in a study that wants it. `marks` is one of MARKS.
    """

    name: str
    question: str
    scale: ScaleShape
    threshold: float
    open_scale: bool = False
    after_no: str = ""
    marks: str = "none"

    def with_points(self, points: tuple[tuple[float, str, str], ...]) -> ScaleShape:
        """Return its scale with other points; one with other values is named after them."""
        scale = replace(self.scale, points=points)
        if scale.values == self.scale.values:
            return scale
        return replace(scale, name=f"{self.name} {', '.join(f'{value:g}' for value in scale.values)}")


@dataclass(frozen=True)
class TaskTypeShape:
    """A task type: what its items are about. `element_kind` is None where the topic alone is asked about.

    `text` is one of TEXTS; `title` names it to researchers, `queue` what assessors get. Its texts may come from a pool
    of rankings. `own` is the researcher's question that it is, if it is one.
    """

    task_type: str
    title: str
    queue: str
    text: str
    element_kind: RubricElement.Kind | None
    criteria: tuple[CriterionShape, ...]
    takes_a_pool: bool = False
    own: Question | None = None

    def criterion(self, name: str) -> CriterionShape | None:
        """Return its criterion of this name, if it has one."""
        return next((one for one in self.criteria if one.name == name), None)


def shape_in(task_type: str, document: Mapping[str, Any], *, own: Question | None = None) -> TaskTypeShape:
    """Return the task type that a question's document describes, as its file or its row has it; it is not checked."""
    element = document.get("element", "")
    return TaskTypeShape(
        task_type,
        document["title"],
        document.get("queue", document["title"]),
        document["text"],
        RubricElement.Kind(element) if element else None,
        tuple(map(_criterion_in, document["criteria"])),
        document.get("pool", own is not None and document["text"] == "passage"),
        own,
    )


def _criterion_in(table: Mapping[str, Any]) -> CriterionShape:
    name = table["name"]
    points = tuple(sorted((whole(float(value)), *words) for value, words in table["grades"].items()))
    return CriterionShape(
        name,
        table["question"],
        ScaleShape(table.get("scale", name), Scale.Level(table["level"]), points),
        whole(float(table["threshold"])),
        table.get("open_scale", False),
        table.get("after_no", ""),
        table.get("marks", "none"),
    )


class TaskTypes(Mapping[str, TaskTypeShape]):
    """The task types by name: the shipped ones, which are those that it iterates over, and researchers' own."""

    def __getitem__(self, task_type: str) -> TaskTypeShape:
        return _shipped().get(task_type) or own_shape(task_type)

    def __iter__(self) -> Iterator[str]:
        return iter(_shipped())

    def __len__(self) -> int:
        return len(_shipped())


@cache
def _shipped() -> dict[str, TaskTypeShape]:
    documents = {file.parent.name: tomllib.loads(file.read_text("utf-8")) for file in FILES.glob("*/question.toml")}
    known = [*TaskType, *sorted(documents)]  # those that code names come first, in their order there
    return {name: shape_in(name, documents[name]) for name in sorted(documents, key=known.index)}


@lru_cache(maxsize=1024)
def own_shape(task_type: str) -> TaskTypeShape:
    """Return a researcher's own. A question is never changed or deleted, so a process that has read it may keep it."""
    question = Question.objects.filter(name=task_type).first()
    if question is None:
        raise KeyError(task_type)
    return shape_in(task_type, question.document, own=question)


TASK_TYPES = TaskTypes()
RUBRIC_0_5 = TASK_TYPES["rating"].criteria[0].scale
RELEVANCE_0_3 = TASK_TYPES["relevance"].criteria[0].scale


def task_type_choices() -> list[tuple[str, str]]:
    """Return the names and titles of all task types, for a form: the shipped ones, then researchers' own."""
    own = Question.objects.values_list("name", flat=True)
    return [(name, title_of(name)) for name in (*TASK_TYPES, *own)]


def title_of(task_type: str) -> str:
    """Return what researchers call the task type; the name itself where nobody describes it any more."""
    shape = TASK_TYPES.get(task_type)
    return shape.title if shape else task_type
