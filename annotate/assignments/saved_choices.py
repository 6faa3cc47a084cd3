"""What an assessor has chosen in an assignment until now: judged, or kept as a draft."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import F, Q, QuerySet
from django.db.models.functions import Coalesce

from annotate.models import Assignment, Draft
from collection.judgments.compiled_sql import compiled
from collection.judgments.services import NOTHING_WRITTEN, Span, Written
from collection.models import Highlight, Judgment


@dataclass(frozen=True)
class Choice:
    grade: float | None = None
    spans: Sequence[Span] = ()
    seconds: float | None = None
    written: Written = NOTHING_WRITTEN
    unsure: bool = False


def choices_so_far(assignment: Assignment) -> defaultdict[tuple[int, int], Choice]:
    """Return what was chosen, by item and criterion: as it was judged, or as the draft has it where there is one."""
    chosen: defaultdict[tuple[int, int], Choice] = defaultdict(Choice)
    spans: defaultdict[int, list[Span]] = defaultdict(list)
    judged = _judged(assignment=assignment.pk, rater=assignment.rater_id)
    for judgment, *place in _marked(assignment=assignment.pk, rater=assignment.rater_id) if judged else ():
        spans[judgment].append(Span(*place))
    for judgment, item, criterion, grade, seconds, text, confirmations, unsure in judged:
        written = NOTHING_WRITTEN if text is None else Written(text, tuple(confirmations))
        chosen[item, criterion] = Choice(grade, spans[judgment], seconds, written, unsure)
    for draft in _drafts(assignment=assignment.pk):
        chosen[draft.item_id, draft.criterion_id] = Choice(
            draft.grade,
            [Span(**span) for span in draft.spans],
            draft.seconds,
            Written(draft.answer, tuple(draft.confirmations)),
            draft.unsure,
        )
    return chosen


@compiled
def _judged(*, assignment: int, rater: int) -> QuerySet[Judgment, tuple[Any, ...]]:
    judged = Judgment.objects.filter(item__asked__assignment=assignment, rater=rater)
    return judged.values_list(
        "pk", "item_id", "criterion_id", "grade", "seconds", "answer__text", "answer__confirmations", "unsure"
    )


@compiled
def _marked(*, assignment: int, rater: int) -> QuerySet[Highlight, tuple[Any, ...]]:
    """The highlights that stand at a known place, or are the passage's title, from 0 to 0."""
    marked = Highlight.objects.filter(judgment__item__asked__assignment=assignment, judgment__rater=rater)
    known = marked.filter(Q(start__isnull=False) | Q(quote=F("judgment__item__passage__title"))).order_by("pk")
    places = (Coalesce("start", 0), Coalesce("end", 0))
    return known.values_list("judgment_id", *places, "quote", "purpose")


@compiled
def _drafts(*, assignment: int) -> QuerySet[Draft]:
    return Draft.objects.filter(assignment=assignment)
