"""Written answer, round 2 (CLAPNQ): another assessor reads an answer of round 1, and keeps or changes it.

Its tasks come into being when answers are submitted (`annotate.assignments.revisions`), not when the study opens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotate.models import Assignment, AssignmentItem
from annotate.task_types import written_answer
from annotate.task_types.rules import TaskTypeRules, every_item
from annotate.task_types.texts import NothingToJudge, Text
from annotate.task_types.writing import OF_A_PART, Writing
from collection.models import Study
from collection.models.studies import TaskType

KEPT, CHANGED = 0, 1


def none_before_round_1(study: Study) -> list[Text]:
    """No texts yet. Raises NothingToJudge if there will never be any."""
    if not study.criteria.filter(task_type=TaskType.WRITTEN_ANSWER).exists():
        raise NothingToJudge(
            "Round 2 reads the answers of round 1: choose the task type “written answer, round 1” too, or leave out "
            "“written answer, round 2”."
        )
    return []


def extras_of(assignment: Assignment, asked: Sequence[AssignmentItem]) -> Mapping[str, Any]:
    """What round 1 shows, with the answer to revise."""
    seen = asked[0].item.answer_to_revise
    return {**written_answer.extras_of(assignment, asked), "seen": {"text": seen.text, "spans": seen.spans}}


RULES = TaskTypeRules(
    task_type=TaskType.ANSWER_REVISION,
    summary="For each answer of round 1, by another assessor: is it good as it stands? If not, change it.",
    texts_are="answers",
    texts_of=none_before_round_1,
    draw_items=every_item,
    # What was answered in round 1 may be a part, whether it is kept or changed.
    writing=Writing(
        grades=frozenset({KEPT, CHANGED}),
        kept=KEPT,
        changed=CHANGED,
        wordings={KEPT: OF_A_PART, CHANGED: OF_A_PART},
    ),
    extras_of=extras_of,
    names_of=written_answer.called_your_answer,
    drawn=False,
    needs=TaskType.WRITTEN_ANSWER,
)
