"""The rules of each task type: what a choice still lacks, what follows what, and which items are asked."""

from collections.abc import Collection

from annotate.task_types import (
    answer_evaluation,
    answer_revision,
    answerability,
    battle,
    citation_support,
    key_point,
    nugget,
    question_fit,
    rating,
    relevance,
    sentence_nugget,
    written_answer,
)
from annotate.task_types.rules import AskedItem, Highlighting, TaskTypeRules
from annotate.task_types.texts import NewItem, NothingToJudge, Text
from collection.languages.languages import ENGLISH
from collection.models.studies import TaskType
from collection.questions.shapes import TASK_TYPES, CriterionShape
from collection.questions.wordings import in_language

RULES: dict[str, TaskTypeRules] = {
    module.RULES.task_type.value: module.RULES
    for module in (
        answerability,
        rating,
        key_point,
        relevance,
        nugget,
        written_answer,
        answer_revision,
        answer_evaluation,
        citation_support,
        battle,
        sentence_nugget,
        question_fit,
    )
}
SHAPES = [TASK_TYPES[name] for name in RULES]


def lacks_of(task_types: Collection[str]) -> list[str]:
    """Say which task types miss another that they need."""
    return [
        f"“{rules.task_type.label}” needs “{rules.needs.label}”: choose both."
        for rules in map(RULES.__getitem__, task_types)
        if rules.needs and rules.needs not in task_types
    ]


def criteria_asked(task_type: str, language: str = ENGLISH) -> list[tuple[TaskType, CriterionShape]]:
    """Return the criteria that a task of this type asks, in this language, each with the task type of its items."""
    return [
        (of_items, in_language(shape, of_items, language))
        for of_items in RULES[task_type].asks_about
        for shape in TASK_TYPES[of_items].criteria
    ]
