"""Who may come in. Whoever may not is told that there is nothing here.

Judges and prompt templates are shared by the researchers of an installation; studies and their jobs are not. Assessors
see none of it: what a judge thinks might sway them. Nor do researchers see what others said in a study in which they
assess themselves, until it is closed or they assess in it no more.
"""

from __future__ import annotations

from django.db.models import Exists, OuterRef
from django.http import Http404
from django.shortcuts import get_object_or_404
from rest_framework.exceptions import APIException

from collection.models import Study, User


def refuse_unless_researcher(user: User) -> None:
    """Raise Http404 for people who only assess."""
    if not user.is_researcher:
        raise Http404


class StillAssesses(APIException):
    """A researcher asks for what others said in a study in which they assess themselves."""

    status_code = 403
    default_code = "still_assesses"
    default_detail = (
        "You assess in this study, so what others said in it and its results are closed to you until the study is "
        "closed or you remove yourself from its people."
    )

    def __init__(self, study: Study) -> None:
        super().__init__()
        self.study = study.name


def study_of(user: User, name: str | None) -> Study:
    """Return the study of this name if the user researches its collection; else 404.

    Raises StillAssesses where they may not read what was said in it.
    """
    study = study_to_set_up(user, name)
    if study.is_assessed:  # type: ignore[attr-defined]
        raise StillAssesses(study)
    return study


def study_to_set_up(user: User, name: str | None) -> Study:
    """Return the study for pages that show and change its design, its people and its progress, and nothing that
    follows from what somebody said; else 404. `is_assessed` says whether what was said is closed to the user.
    """
    assessed = Exists(Study.objects.assessed_by(user).filter(pk=OuterRef("pk")))
    studies = Study.objects.of(user).select_related("collection", "created_by")
    return get_object_or_404(studies.annotate(is_assessed=assessed), name=name)
