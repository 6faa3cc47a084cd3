"""The one order of what people must not recognise by its place: systems, their reports, and who said what."""

from __future__ import annotations

from django.utils.crypto import salted_hmac


def hidden_order(*names: object) -> bytes:
    """Return what to sort by, of the names of what is sorted: the same at all times, and as good as drawn by lot.

    It follows from the site's SECRET_KEY, so nobody computes it of names and numbers that they know.
    """
    return salted_hmac("collection.hidden_order", "\n".join(map(str, names)), algorithm="sha256").digest()
