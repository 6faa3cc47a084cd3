"""Numbers in sentences for assessors: `{n:,}` is 5,000 in every language, which German reads as five."""

from __future__ import annotations

from django.utils.formats import number_format


def grouped(n: int) -> str:
    """Return the number with its digits grouped as the active language does: 5,000 in English, 5.000 in German."""
    return number_format(n, force_grouping=True)
