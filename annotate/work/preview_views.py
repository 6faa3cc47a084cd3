"""A study's screens as its assessors will see them."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotate.studies.views import study_of
from annotate.task_types import RULES, NothingToJudge
from annotate.work.preview import preview_of
from annotate.work.views import render_screen
from collection.accounts.views import SignedInRequest
from collection.models.studies import TaskType


@require_safe
@login_required
@never_cache
def preview(request: SignedInRequest, name: str, task_type: str) -> HttpResponse:
    """The first task of a type, to try out. Nothing is saved."""
    study = study_of(request, name)
    if task_type not in RULES:
        raise Http404

    try:
        screen = preview_of(study, TaskType(task_type), at=now(), revealed=request.GET.get("step") == "2")
    except NothingToJudge as nothing:
        messages.error(request, str(nothing))
        return redirect("annotate:study", name)
    return render_screen(request, screen, preview=True)
