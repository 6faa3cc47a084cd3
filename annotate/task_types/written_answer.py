"""Written answer, round 1 (CLAPNQ): an answer to the question in the assessor's own words, out of one passage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext

from annotate.models import Assignment, AssignmentItem
from annotate.task_types.missing_texts import left_out_of_pool
from annotate.task_types.rules import TaskTypeRules, every_item
from annotate.task_types.texts import NewItem, NothingToJudge, Text, pool_of
from annotate.task_types.writing import CONFIRMATIONS, OF_A_PART, Writing
from collection.models import AnswerToRevise, Study
from collection.models.studies import TaskType
from collection.texts.sentences import sentences_to_choose

PARTIAL, COMPLETE = 4, 5


def passages_to_answer_from(study: Study) -> list[Text]:
    """The pool of every topic: a question is answered out of each passage by itself."""
    texts = [
        Text(
            TaskType.WRITTEN_ANSWER,
            pooled.topic,
            pooled.topic_id,
            pooled.passage_id,
            (
                NewItem(
                    TaskType.WRITTEN_ANSWER,
                    f"written_answer/{pooled.topic_id}/{pooled.passage_id}",
                    passage=pooled.passage,
                ),
            ),
            passage=pooled.passage,
        )
        for pooled in pool_of(study)
    ]
    if not texts:
        raise NothingToJudge(
            f"“{study.collection}” has no ranked passage with its text, so there is nothing to answer from. Import "
            "questions with their passages, or leave out the task type “written answer, round 1”."
        )
    return texts


def extras_of(assignment: Assignment, asked: Sequence[AssignmentItem]) -> Mapping[str, Any]:  # noqa: ARG001 - an extras_of
    """The passage's title and sentences, what is to be confirmed, and whether another assessor reads it by now."""
    assert assignment.task.passage is not None
    sentences = [
        {"start": sentence.start, "end": sentence.end, "quote": sentence.quote}
        for sentence in sentences_to_choose(assignment.task.passage, assignment.task.study)
    ]
    return {"sentences": sentences, "confirmations": CONFIRMATIONS, "locked": is_read_by_now(assignment)}


def is_read_by_now(assignment: Assignment) -> bool:
    if assignment.task.task_type != TaskType.WRITTEN_ANSWER or assignment.state != Assignment.State.SUBMITTED:
        return False
    handed_on = AnswerToRevise.objects.filter(answered__asked__assignment=assignment, writer=assignment.rater_id)
    return handed_on.filter(item__task_item__task__assignments__isnull=False).exists()


def called_your_answer(asked: Sequence[AssignmentItem]) -> Mapping[int, str]:
    """Name the one question of a task, where a number would tell nothing."""
    return {row.item_id: gettext("Your answer") for row in asked}


RULES = TaskTypeRules(
    task_type=TaskType.WRITTEN_ANSWER,
    summary="For each question and passage: which sentences answer it? Write a concise answer from them.",
    texts_are="passages",
    texts_of=passages_to_answer_from,
    left_out_of=left_out_of_pool,
    draw_items=every_item,
    writing=Writing(grades=frozenset({PARTIAL, COMPLETE}), wordings={PARTIAL: OF_A_PART}),
    extras_of=extras_of,
    names_of=called_your_answer,
)
