"""Who may come in.

Judges and prompt templates are shared by the researchers of an installation; jobs belong to studies.
"""

from __future__ import annotations

from django.http import Http404
from django.shortcuts import get_object_or_404

from collection.models import Study, User


def refuse_unless_researcher(user: User) -> None:
    """Raise 404 for assessors: judges are none of their business, and might sway them."""
    if not user.is_researcher:
        raise Http404


def study_of(user: User, name: str) -> Study:
    """Return the study of this name if the user researches its collection; else 404."""
    return get_object_or_404(Study.objects.of(user).select_related("collection"), name=name)
