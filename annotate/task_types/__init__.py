"""The rules of each task type: what a choice still lacks, what follows what, and which items are asked."""

from collections.abc import Collection, Iterator, Mapping

from annotate.task_types import (
    answer_evaluation,
    answer_revision,
    answerability,
    battle,
    citation_support,
    key_point,
    nugget,
    plain,
    question_fit,
    rating,
    relevance,
    sentence_nugget,
    written_answer,
)
from annotate.task_types.rules import AskedItem, Highlighting, TaskTypeRules
from annotate.task_types.texts import NewItem, NothingToJudge, Text
from collection.languages.languages import ENGLISH
from collection.models import Question
from collection.models.studies import TaskType
from collection.questions.shapes import TASK_TYPES, CriterionShape, TaskTypeShape, title_of
from collection.questions.wordings import in_language

_WITH_RULES: dict[str, TaskTypeRules] = {
    module.RULES.task_type: module.RULES
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


class Rules(Mapping[str, TaskTypeRules]):
    """The rules of each task type that people are asked: shipped ones, over which it iterates, and researchers' own."""

    def __getitem__(self, task_type: str) -> TaskTypeRules:
        return _WITH_RULES[task_type] if task_type in set(TaskType) else plain.rules_of(TASK_TYPES[task_type])

    def __iter__(self) -> Iterator[str]:
        return iter([*_WITH_RULES, *(name for name in TASK_TYPES if name not in set(TaskType))])

    def __len__(self) -> int:
        return len(list(iter(self)))


RULES = Rules()


def shapes_offered() -> list[TaskTypeShape]:
    """Return what a new study can ask people: the shipped task types, then the questions that are not withdrawn."""
    own = Question.objects.filter(withdrawn_at=None).values_list("name", flat=True)
    return [TASK_TYPES[name] for name in (*RULES, *own)]


def lacks_of(task_types: Collection[str]) -> list[str]:
    """Say which task types miss another that they need."""
    return [
        f"“{title_of(rules.task_type)}” needs “{title_of(rules.needs)}”: choose both."
        for rules in map(RULES.__getitem__, task_types)
        if rules.needs and rules.needs not in task_types
    ]


def criteria_asked(task_type: str, language: str = ENGLISH) -> list[tuple[str, CriterionShape]]:
    """Return the criteria that a task of this type asks, in this language, each with the task type of its items."""
    return [
        (of_items, in_language(shape, of_items, language))
        for of_items in RULES[task_type].asks_about
        for shape in TASK_TYPES[of_items].criteria
    ]
