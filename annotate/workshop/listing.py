"""A topic's nuggets as the pages of a workshop list them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from collection.banks.changes import Standing
from collection.models import RubricElement


@dataclass(frozen=True)
class Listed:
    """A nugget of the bank. `is_part`: of the nugget above it."""

    key: int
    text: str
    importance: str
    weight: float | None
    is_part: bool


def listed(nuggets: Sequence[Standing]) -> list[Listed]:
    """Return the nuggets with their words."""
    texts = dict(RubricElement.objects.filter(pk__in=[one.key for one in nuggets]).values_list("pk", "text"))
    return [
        Listed(one.key, texts[one.key], one.importance, one.weight, is_part=one.parent is not None) for one in nuggets
    ]
