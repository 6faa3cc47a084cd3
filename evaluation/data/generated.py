"""What of a study's texts a model wrote: the rubric elements and passages that it asks about, by how they were made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from collection.models import Item, Passage, RubricElement, Study


@dataclass(frozen=True)
class Generated:
    """So many elements or passages that were made in the same way; `of` counts all that the study asks about."""

    what: str
    n: int
    of: int
    pipeline: str
    model: str
    prompt: str
    prompt_version: str
    prompt_hash: str
    review: str

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def generated_in(study: Study) -> list[Generated]:
    """Return what a model wrote of what the study asks about, the most frequent making first."""
    items = Item.objects.filter(study=study).order_by()
    asked = {
        "rubric elements": RubricElement.objects.filter(pk__in=items.exclude(element=None).values("element")),
        "passages": Passage.objects.filter(pk__in=items.exclude(passage=None).values("passage")),
    }
    found = []
    for what, rows in asked.items():
        made = rows.filter(attributes__has_key="generated").values_list("attributes__generated", flat=True)
        makings = Counter(_making(said) for said in made)
        of = rows.count() if makings else 0
        found += [Generated(what, n, of, *making) for making, n in makings.most_common()]
    return found


def _making(said: object) -> tuple[str, ...]:
    """Return how it was made; an imported file may say anything there."""
    told: Mapping[str, Any] = said if isinstance(said, dict) else {}
    names = ("pipeline", "model", "prompt", "prompt_version", "prompt_hash", "review")
    return tuple(str(told.get(name) or "unknown")[:300] for name in names)
