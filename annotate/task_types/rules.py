"""What the rules of a task type are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from annotate.models import Task
from collection.models import Criterion, Highlight, Item, Rater


class Highlighting(Enum):
    """What highlights a criterion takes beside its grade."""

    NONE = "none"
    WHEN_POSITIVE = "when positive"  # at least one with a positive grade, none with another
    OPTIONAL = "optional"


@dataclass(frozen=True)
class AskedItem:
    """An item that an assignment asks, with the probability with which it was drawn."""

    item: Item
    inclusion_probability: float = 1.0


@dataclass(frozen=True)
class TaskTypeRules:
    """The rules of one task type.

    `follows` names, for a criterion, the one whose positive grade opens it. `highlighting` says of a
    criterion what highlights it takes. Criteria that neither names are always asked and take none.
    """

    draw_items: Callable[[Task, Rater], list[AskedItem]]
    follows: Mapping[str, str] = field(default_factory=dict)
    highlighting: Mapping[str, Highlighting] = field(default_factory=dict)
    purpose: Highlight.Purpose = Highlight.Purpose.SUPPORT

    def highlighting_of(self, criterion: Criterion) -> Highlighting:
        return self.highlighting.get(criterion.name, Highlighting.NONE)

    def refusal(self, criterion: Criterion, grade: float | None, n_spans: int) -> str:
        """Say why a choice may not have these highlights, or nothing."""
        if n_spans == 0:
            return ""
        highlighting = self.highlighting_of(criterion)
        if highlighting is Highlighting.NONE:
            return f"“{criterion}” takes no highlights."
        if highlighting is Highlighting.WHEN_POSITIVE and grade is not None and not is_positive(criterion, grade):
            return "Only an answerable question has highlights: choose “answerable”, or remove them."
        return ""

    def lack(self, criterion: Criterion, grade: float | None, n_spans: int) -> str:
        """Say what the choice still lacks to be a judgment, or nothing."""
        if grade is None:
            return "Choose an answer." if n_spans else "Not answered yet."
        needs_one = self.highlighting_of(criterion) is Highlighting.WHEN_POSITIVE and is_positive(criterion, grade)
        return "Mark the words that answer it, at least once." if needs_one and not n_spans else ""

    def is_asked(self, criterion: Criterion, gate: Criterion | None, grade_of_gate: float | None) -> bool:
        """Whether the criterion is asked, given the grade of the one it follows."""
        if criterion.name not in self.follows or gate is None:
            return True
        return grade_of_gate is not None and is_positive(gate, grade_of_gate)


def is_positive(criterion: Criterion, grade: float) -> bool:
    """Whether the grade reaches the criterion's threshold η."""
    return grade >= criterion.threshold


def every_item(task: Task, rater: Rater) -> list[AskedItem]:  # noqa: ARG001 - a draw_items
    """All items of the task whose rubric element is not masked, in their order."""
    return [AskedItem(item) for item in unmasked_items(task)]


def unmasked_items(task: Task) -> list[Item]:
    items = Item.objects.filter(task_item__task=task).select_related("element").order_by("task_item__position")
    return [item for item in items if item.element is None or not item.element.masked]
