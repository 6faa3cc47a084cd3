"""Which items have known grades."""

from __future__ import annotations

from annotate.models import GoldGrade
from collection.models import Study


def items_for_training(study: Study) -> set[int]:
    """Return the keys of the items that are for training alone, and so are never asked as work."""
    training = GoldGrade.objects.filter(item__study=study, purpose=GoldGrade.Purpose.TRAINING)
    return set(training.values_list("item_id", flat=True))
