"""A study's screens as its assessors will see them."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotate.screens import Screen
from annotate.services.preview import with_preview
from annotate.task_types import RULES, NothingToJudge
from annotate.views.studies import study_of
from annotate.views.work import render_screen
from collection.models.studies import TaskType
from collection.views.account import SignedInRequest


@require_safe
@login_required
@never_cache
def preview(request: SignedInRequest, name: str, task_type: str) -> HttpResponse:
    """The first task of a type, to try out. Nothing is saved."""
    study = study_of(request, name)
    if task_type not in RULES:
        raise Http404

    def show(screen: Screen) -> HttpResponse:
        return render_screen(request, screen, preview=True)

    try:
        return with_preview(study, TaskType(task_type), show, at=now(), revealed=request.GET.get("step") == "2")
    except NothingToJudge as nothing:
        messages.error(request, str(nothing))
        return redirect("annotate:study", name)
