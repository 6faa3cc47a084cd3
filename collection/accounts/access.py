"""Who may come in. Whoever may not is told that there is nothing here."""

from __future__ import annotations

from django.http import Http404

from collection.models import User


def refuse_unless_researcher(user: User) -> None:
    """Raise Http404 for people who only assess."""
    if not user.is_researcher:
        raise Http404
