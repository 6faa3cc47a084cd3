"""Why raters graded as they did: what people marked as their reason, what a file or a judge wrote beside a grade."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from django.conf import settings
from django.utils.module_loading import import_string

from collection.models import Criterion, Highlight, Rater


def rationales_of(rater: Rater, criterion: Criterion, items: Iterable[int]) -> dict[int, str]:
    """Return the rater's reason about each of the items, by the item's key; none where it gave none.

    It is what is kept beside the judgment, several pieces a line each, and for a judge that graded here the reason in
    its reply: the app that has the replies is named in the settings.
    """
    items = list(items)
    pieces: dict[int, list[str]] = defaultdict(list)
    kept = Highlight.objects.filter(
        judgment__rater=rater,
        judgment__criterion=criterion,
        judgment__item__in=items,
        purpose=Highlight.Purpose.RATIONALE,
    )
    for item, quote in kept.order_by("id").values_list("judgment__item_id", "quote"):
        pieces[item].append(quote)
    replied: dict[int, str] = {}
    if rater.kind == Rater.Kind.JUDGE:
        replied = import_string(settings.REASONS_OF_JUDGES)(rater, criterion, items)
    return {**replied, **{item: "\n".join(quotes) for item, quotes in pieces.items()}}
