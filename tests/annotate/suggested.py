"""Studies in which a judge's grades are suggested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from annotate.models import Assignment, Task
from annotate.suggestions.design import set_suggestions
from collection.models import Arm, Judgment, Rater, Study, SuggestionDesign, User
from tests.annotate.factories import NOON, in_hands_of, the_criterion
from tests.factories import a_judge_rater

ALONE = {arm: {Arm.NONE: 10, arm: 90} if arm != Arm.NONE else {Arm.NONE: 100} for arm in Arm}


def graded_by_a_judge(task: Task, criterion: str, grades: Sequence[float], *, name: str = "llama") -> Rater:
    """Let a judge grade the task's items."""
    judge = Rater.objects.filter(name=name).first() or a_judge_rater(task.study.collection, name)
    of = the_criterion(task.study, criterion)
    for row, grade in zip(task.task_items.all(), grades, strict=True):
        Judgment.objects.create(item=row.item, criterion=of, rater=judge, grade=grade, judged_at=NOON)
    return judge


def suggesting(study: Study, judge: Rater, percents: Mapping[Arm, int]) -> SuggestionDesign:
    return set_suggestions(study=study, judge=judge, percents=percents, by=study.created_by, at=NOON)


def in_hands_with(arm: Arm, user: User, task: Task, criterion: str, grades: Sequence[float]) -> Assignment:
    """Put the task into the person's hands under this arm, after a judge gave its items these grades."""
    judge = graded_by_a_judge(task, criterion, grades)
    suggesting(task.study, judge, ALONE[arm])
    import annotate.suggestions.draw as draw

    before = draw._random
    draw._random = Always(arm)  # type: ignore[assignment]
    try:
        return in_hands_of(user, task)
    finally:
        draw._random = before


class Always:
    """Chance that falls on one arm."""

    def __init__(self, arm: Arm) -> None:
        self.arm = arm

    def choices(self, arms: list[Arm], weights: list[float]) -> list[Arm]:
        assert self.arm in arms
        assert len(arms) == len(weights)
        return [self.arm]
