"""Masking rubric elements after their import, and asking them again: each time with a reason that is kept.

What is masked is asked of nobody and leaves the denominators of scores; judgments about it stay where they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q

from collection.models import Criterion, Item, Masking, RubricElement, User

AT_ONCE = 500


class NoReason(ValueError):
    """A masking tells why."""


class NothingToAsk(ValueError):
    """An element without a text was imported as masked, and cannot be asked."""


def mask_elements(
    *,
    elements: Iterable[RubricElement],
    reason: str,
    by: User | None,
    at: datetime,
    criterion: Criterion | None = None,
    basis: Mapping[str, Any] | None = None,
) -> int:
    """Mask those of the elements that are not, and return how many. Raises NoReason.

    `criterion` and `basis`: the grades it follows from, if it follows from grades.
    """
    return _decide(elements, masked=True, reason=reason, by=by, at=at, criterion=criterion, basis=basis or {})


def unmask_elements(*, elements: Iterable[RubricElement], reason: str, by: User | None, at: datetime) -> int:
    """Have those of the elements asked again that are masked, and return how many. Raises NoReason and NothingToAsk."""
    return _decide(elements, masked=False, reason=reason, by=by, at=at, criterion=None, basis={})


@transaction.atomic
def _decide(
    elements: Iterable[RubricElement],
    *,
    masked: bool,
    reason: str,
    by: User | None,
    at: datetime,
    criterion: Criterion | None,
    basis: Mapping[str, Any],
) -> int:
    reason = reason.strip()
    if not reason:
        raise NoReason("Enter a reason: it is shown beside every figure that it changes.")
    wanted = sorted({element.pk for element in elements})
    found: list[RubricElement] = []
    for start in range(0, len(wanted), AT_ONCE):
        other = RubricElement.objects.select_for_update().filter(pk__in=wanted[start : start + AT_ONCE])
        found += other.exclude(masked=masked).order_by("pk")
    if not masked and (silent := [element for element in found if not element.text]):
        raise NothingToAsk(f"“{silent[0].element_id}” was imported without a text, so there is nothing to ask.")
    events = Masking.objects.bulk_create(
        [
            Masking(
                element=element,
                masked=masked,
                reason=reason,
                criterion=criterion,
                basis=dict(basis),
                decided_by=by,
                decided_at=at,
            )
            for element in found
        ],
        batch_size=AT_ONCE,
    )
    for element, event in zip(found, events, strict=True):
        element.masked, element.masking = masked, event
    RubricElement.objects.bulk_update(found, ["masked", "masking"], batch_size=AT_ONCE)
    return len(found)


def uncounted_items(criterion: Criterion) -> set[int]:
    """Return the primary keys of the items that the criterion's statistics leave out.

    Those of elements masked since the import, but where the masking follows from the grades of these very items. What
    came masked was asked of nobody here; judgments that a file has of it stay in the agreement of who made them.
    """
    masked = RubricElement.objects.filter(
        topic__collection__studies=criterion.study_id, masked=True, masking__isnull=False
    )
    elements = list(masked.exclude(_by_grades_of(criterion)).values_list("pk", flat=True))
    items = Item.objects.filter(study=criterion.study_id, task_type=criterion.task_type)
    found: set[int] = set()
    for start in range(0, len(elements), AT_ONCE):
        some = elements[start : start + AT_ONCE]
        found.update(items.filter(element__in=some).values_list("pk", flat=True))
    return found


def _by_grades_of(criterion: Criterion) -> Q:
    return Q(masking__criterion__study=criterion.study_id, masking__criterion__task_type=criterion.task_type)
