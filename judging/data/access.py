"""Who may come in.

Judges and prompt templates are shared by the researchers of an installation; jobs belong to studies. Assessors see
none of it: what a judge thinks might sway them.
"""

from __future__ import annotations

from django.shortcuts import get_object_or_404

from collection.accounts.access import refuse_unless_researcher
from collection.models import Study, User

__all__ = ["refuse_unless_researcher", "study_of"]


def study_of(user: User, name: str) -> Study:
    """Return the study of this name if the user researches its collection; else 404."""
    return get_object_or_404(Study.objects.of(user).select_related("collection"), name=name)
