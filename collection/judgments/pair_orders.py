"""In which order pairs were shown, and what was preferred in each: what an audit of position bias needs."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import transaction

from collection.models import Judgment, PairOrder


@transaction.atomic
def record_order(*, judgment: Judgment, swapped: bool) -> PairOrder:
    """Note the one order in which a person saw the pair that this judgment is about; an earlier note is replaced."""
    PairOrder.objects.filter(judgment=judgment).delete()
    return PairOrder.objects.create(judgment=judgment, swapped=swapped, grade=judgment.grade)


def add_orders(orders: Iterable[PairOrder], *, batch_size: int = 2_000) -> None:
    """Insert the orders in which a judge was asked, in bulk, leaving in place those that are stored."""
    PairOrder.objects.bulk_create(orders, batch_size=batch_size, ignore_conflicts=True)
