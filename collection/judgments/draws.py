"""Drawing items for people, kept with the probabilities with which they were drawn."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction

from collection.models import Draw, Item, Study

AT_ONCE = 5_000


class ItemsNotToBeDrawn(ValueError):
    """Some of the items are not the study's, or were drawn before."""


@transaction.atomic
def draw_items(
    *,
    study: Study,
    drawn: Mapping[int, float],
    purpose: Draw.Purpose,
    design: str,
    at: datetime,
    strata: Mapping[int, str] | None = None,
) -> int:
    """Store that these items, by id, were drawn, each with its inclusion probability. Returns how many.

    The probability is among the items that had never been drawn when this draw was made. Raises ItemsNotToBeDrawn, and
    stores nothing, where an item is not the study's or has a draw already, whose meaning a second one would change.
    """
    # Two draws at once would each think the other's items free.
    Study.objects.select_for_update().get(pk=study.pk)
    ours = set(Item.objects.filter(study=study).values_list("pk", flat=True))
    before = set(Draw.objects.filter(item__study=study).values_list("item", flat=True))
    if strangers := drawn.keys() - ours:
        raise ItemsNotToBeDrawn(f"{len(strangers)} of these items are not in the study “{study.name}”.")
    if again := drawn.keys() & before:
        raise ItemsNotToBeDrawn(f"{len(again)} of these items were drawn before. Draw again from what is left.")
    Draw.objects.bulk_create(
        (
            Draw(
                item_id=pk,
                purpose=purpose,
                inclusion_probability=probability,
                design=design,
                stratum=(strata or {}).get(pk, ""),
                drawn_at=at,
            )
            for pk, probability in drawn.items()
        ),
        batch_size=AT_ONCE,
    )
    return len(drawn)
