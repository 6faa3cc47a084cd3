"""What the rules of a task type are made of."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext

from annotate.models import Assignment, AssignmentItem, Task
from annotate.task_types.texts import Text
from annotate.task_types.writing import Writing
from collection.judgments.compiled_sql import compiled
from collection.judgments.services import Span, Written
from collection.models import Criterion, Highlight, Item, Rater, Study
from collection.questions.shapes import TASK_TYPES


class Highlighting(Enum):
    """What highlights a criterion takes beside its grade, as questions' documents name it (`marks`)."""

    NONE = "none"
    WHEN_POSITIVE = "when positive"  # at least one with a positive grade, none with another
    OPTIONAL = "optional"
    SENTENCES = "sentences"  # whole ones, at least one with the grades that take a written answer


@dataclass(frozen=True)
class AskedItem:
    """An item that an assignment asks, with the probability with which it was drawn.

    `swapped`: of a pair, the second stands on the left.
    """

    item: Item
    inclusion_probability: float = 1.0
    swapped: bool = False


@dataclass(frozen=True)
class TaskTypeRules:
    """The rules of one task type.

    `summary` tells a researcher what is asked of each text, `texts_are` what the texts are ("passages").
    `texts_of` finds what a study may ask about, `draw_items` what one assessor is asked of a task's items (those that
    are not masked, in their order); where the rater is None, what somebody might be asked who has done nothing yet.
    `follows` names, for a criterion, the one whose positive grade opens it; for those in `after_no`, which are asked
    of reports alone, it is a grade below the threshold that opens them. `closed_by` names those of which a
    positive grade closes it: of the same item or, where they are another task type's, of the item about the
    same report. Criteria that neither of the two
    names are always asked. Where there is a `first_step`, its criteria are answered before the
    page shows what the others need, and are fixed then. `names_of` gives items a name where a number would
    tell little. `writing` says which grades take an answer in the assessor's own words, and what it must have.
    `said_once` names criteria about the rubric element alone: answered about one text, they are copied to the others.
    `left_out_of` says how much on some topics (by primary key) cannot be asked about, or nothing.
    `needs` is the task type without which a study cannot ask this one.
    `topic_after_topic` says that a topic's tasks are handed out one after another, in an order drawn at random.
    `points_of` are the scale's points as an item is asked them: their order and names and, as `key`, their keys.
    `drawn` is false where the texts only come into being by the work itself, so that none can be drawn before.
    `item_types` are the task types of its items where a task mixes several; each item is asked the
    criteria of its own. `extras_of` reads what the task type's template shows besides, of the assignment
    and what it asks, in its order: it is the template's `screen.extras`, and a part of the API's answer, so it holds
    what JSON can say. Neither the assignment nor its items need be stored.
    `screen` names its template, where that is not named after it.
    """

    task_type: str
    summary: str
    texts_are: str
    texts_of: Callable[[Study], list[Text]]
    draw_items: Callable[[Sequence[Item], Task, Rater | None], list[AskedItem]]
    follows: Mapping[str, str] = field(default_factory=dict)
    after_no: Container[str] = ()
    closed_by: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    purpose: Highlight.Purpose = Highlight.Purpose.SUPPORT
    item_types: tuple[str, ...] = ()
    extras_of: Callable[[Assignment, Sequence[AssignmentItem]], Mapping[str, Any]] = field(default=lambda *_: {})
    first_step: tuple[str, ...] = ()
    names_of: Callable[[Sequence[AssignmentItem]], Mapping[int, str]] = field(default=lambda _: {})
    writing: Writing | None = None
    points_of: Callable[[AssignmentItem, Criterion], Sequence[Mapping[str, Any]]] = field(
        default=lambda _, criterion: criterion.scale.points
    )
    drawn: bool = True
    topic_after_topic: bool = False
    needs: str | None = None
    said_once: tuple[str, ...] = ()
    left_out_of: Callable[[Study, Container[int]], str] = field(default=lambda *_: "")
    screen: str = ""

    @property
    def template(self) -> str:
        return f"annotate/assignment_{self.screen or self.task_type}.html"

    @property
    def asks_about(self) -> tuple[str, ...]:
        """The task types of its items."""
        return self.item_types or (self.task_type,)

    def highlighting_of(self, criterion: Criterion) -> Highlighting:
        shape = TASK_TYPES[criterion.task_type].criterion(criterion.name)
        return Highlighting(shape.marks) if shape else Highlighting.NONE

    def refusal(self, criterion: Criterion, grade: float | None, n_spans: int) -> str:
        """Say why a choice may not have these highlights, or nothing."""
        if n_spans == 0:
            return ""
        highlighting = self.highlighting_of(criterion)
        if highlighting is Highlighting.NONE:
            return gettext("“{criterion}” takes no highlights.").format(criterion=criterion.question)
        if highlighting is Highlighting.WHEN_POSITIVE and grade is not None and not is_positive(criterion, grade):
            positive = next(one["name"] for one in criterion.scale.points if is_positive(criterion, one["value"]))
            return gettext("Highlights need the answer “{grade}”: choose it, or remove them.").format(grade=positive)
        return ""

    def lack(self, criterion: Criterion, grade: float | None, n_spans: int) -> str:
        """Say what the choice still lacks to be a judgment, or nothing."""
        if grade is None:
            return gettext("Choose an answer.") if n_spans else gettext("Not answered yet.")
        needs_one = self.highlighting_of(criterion) is Highlighting.WHEN_POSITIVE and is_positive(criterion, grade)
        return gettext("Mark the words that answer it at least once.") if needs_one and not n_spans else ""

    def refusal_of(
        self, item: Item, criterion: Criterion, grade: float | None, spans: Sequence[Span], written: Written
    ) -> str:
        """Say why a choice cannot even be kept as a draft, or nothing."""
        if self.writing is None:
            unwanted = written.text or written.confirmations
            return (
                gettext("“{criterion}” takes no written answer.").format(criterion=criterion.question)
                if unwanted
                else self.refusal(criterion, grade, len(spans))
            )
        return self.writing.refusal(item, grade, spans, written)

    def lack_of(
        self, item: Item, criterion: Criterion, grade: float | None, spans: Sequence[Span], written: Written
    ) -> str:
        """Say what the choice about this item still lacks to be a judgment, or nothing."""
        lack = self.lack(criterion, grade, len(spans))
        if lack or self.writing is None:
            return gettext("Choose an answer.") if lack and written.text else lack
        return self.writing.lack(item, grade, spans, written)

    def handed_in(
        self, item: Item, grade: float, spans: Sequence[Span], written: Written
    ) -> tuple[Sequence[Span], Written | None]:
        """Return what goes with a complete judgment of what is on the page."""
        return self.writing.handed_in(item, grade, spans, written) if self.writing else (spans, None)

    def asks(self, criterion: Criterion, item: Item) -> bool:
        """Whether the criterion can be asked of the item, whatever is said of it."""
        return criterion.name not in self.after_no or item.report_id is not None

    def closed_with(self, criterion: Criterion, grade: float | None) -> list[str]:
        """Return the names of the criteria that are not asked of an item with this answer to this criterion."""
        positive = grade is not None and is_positive(criterion, grade)
        closed = [name for name, closing in self.closed_by.items() if positive and criterion.name in closing]
        following = [name for name, followed in self.follows.items() if followed == criterion.name]
        return closed + [name for name in following if not self.opens(name, criterion, grade)]

    def is_asked(self, criterion: Criterion, gate: Criterion | None, grade_of_gate: float | None) -> bool:
        """Whether the criterion is asked, given the grade of the one it follows."""
        return criterion.name not in self.follows or gate is None or self.opens(criterion.name, gate, grade_of_gate)

    def opens(self, name: str, gate: Criterion, grade: float | None) -> bool:
        """Whether this grade of the criterion that it follows opens the criterion of this name."""
        return grade is not None and is_positive(gate, grade) != (name in self.after_no)


def is_positive(criterion: Criterion, grade: float) -> bool:
    """Whether the grade reaches the criterion's threshold η."""
    return grade >= criterion.threshold


def every_item(items: Sequence[Item], task: Task, rater: Rater | None) -> list[AskedItem]:  # noqa: ARG001 - a draw_items
    """All of them, in their order."""
    return [AskedItem(item) for item in items]


def unmasked_items(task: Task) -> list[Item]:
    """Return the items of the task whose rubric element is not masked, in their order."""
    return [item for item in _items_of(task=task.pk) if item.element is None or not item.element.masked]


@compiled
def _items_of(*, task: int) -> QuerySet[Item]:
    items = Item.objects.filter(task_item__task=task).select_related("element", "topic", "answer_to_revise", "sentence")
    return items.order_by("task_item__position")
