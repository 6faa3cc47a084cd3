"""How well a topic's question fits its category (LONG²RAG, section 3.1): the best ones become seed questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotate.models import Assignment, AssignmentItem
from annotate.task_types.rules import TaskTypeRules, every_item
from annotate.task_types.texts import NewItem, NothingToJudge, Text
from collection.models import Study
from collection.models.studies import TaskType
from collection.question_categories import CATEGORIES, category_of, may_be_seed
from collection.questions.wordings import language_stored_in, wording_of


def questions_with_a_category(study: Study) -> list[Text]:
    """Every topic whose question has a category, was not filtered out, and was not made of another question."""
    kind = TaskType.QUESTION_FIT
    topics = study.collection.topics.order_by("pk")
    texts = [
        Text(kind, topic.pk, topic.topic_id, "question", (NewItem(kind, f"{kind.value}/{topic.topic_id}"),))
        for topic in topics
        if may_be_seed(topic.attributes)
    ]
    if not texts:
        raise NothingToJudge(
            f"“{study.collection}” has no topic with the attribute “category” whose question was kept. Let a model "
            "sort the questions (Building: long2rag-categories), import topics with that attribute, or leave out the "
            "task type “fit of a question to its category”."
        )
    return texts


def what_is_shown(assignment: Assignment, _: Sequence[AssignmentItem]) -> Mapping[str, Any]:
    """Return the question's `category`, and the `meaning` of one of LONG²RAG's in the `language` of its grades."""
    category = category_of(assignment.task.topic.attributes)
    fit = assignment.task.study.criteria.select_related("scale").get(task_type=TaskType.QUESTION_FIT, name="fit")
    language = language_stored_in(fit)
    meanings = wording_of(TaskType.QUESTION_FIT, language).get("categories", CATEGORIES)
    return {"category": category, "meaning": meanings.get(category, ""), "language": language}


RULES = TaskTypeRules(
    task_type=TaskType.QUESTION_FIT,
    summary="For each question with a category: how well does it fit there?",
    texts_are="questions",
    texts_of=questions_with_a_category,
    draw_items=every_item,
    extras_of=what_is_shown,
)
