"""Who may come in. Whoever may not is told that there is nothing here.

Judges and prompt templates are shared by the researchers of an installation; studies and their jobs are not. Assessors
see none of it: what a judge thinks might sway them.
"""

from __future__ import annotations

from django.http import Http404
from django.shortcuts import get_object_or_404

from collection.models import Study, User


def refuse_unless_researcher(user: User) -> None:
    """Raise Http404 for people who only assess."""
    if not user.is_researcher:
        raise Http404


def study_of(user: User, name: str) -> Study:
    """Return the study of this name if the user researches its collection; else 404."""
    return get_object_or_404(Study.objects.of(user).select_related("collection", "created_by"), name=name)
