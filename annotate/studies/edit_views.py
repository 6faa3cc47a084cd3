"""Changing a study that stands, and copying it."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotate.studies.edit_forms import CopyForm, EditForm
from annotate.studies.edits import OverlapLowered, copy_study, edit_study
from annotate.studies.lifecycle import NameTaken, WrongState
from annotate.studies.views import study_to_set_up
from collection.accounts.views import SignedInRequest
from stats.plurals import counted


@require_http_methods(["GET", "POST"])
@login_required
@never_cache
def study_edit(request: SignedInRequest, name: str) -> HttpResponse:
    """Change the study's title, language, translation, overlap, limits, batches and time-out."""
    study = study_to_set_up(request, name)
    form = EditForm(request.POST or None, instance=study)

    if form.is_valid():
        try:
            made = edit_study(study=study, at=now(), **form.cleaned_data)
        except (WrongState, OverlapLowered) as refused:
            form.add_error(None, str(refused))
        else:
            messages.success(request, f"Saved. Added: {counted(made, 'places')}." if made else "Saved.")
            return redirect("annotate:study", name)

    context = {"study": study_to_set_up(request, name), "form": form}
    return render(request, "annotate/study_edit.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "POST"])
@login_required
@never_cache
def study_copy(request: SignedInRequest, name: str) -> HttpResponse:
    """Make a draft of the study's design, criteria and guidelines."""
    study = study_to_set_up(request, name)
    form = CopyForm(request.POST or None, initial={"title": f"{study} (copy)"[:200]})

    if form.is_valid():
        try:
            copy = copy_study(study=study, by=request.user, **form.cleaned_data)
        except NameTaken as refused:  # by somebody else at this moment
            form.add_error("name", str(refused))
        else:
            messages.success(request, f"“{copy}” is created as a draft. Add its people, check it, then open it.")
            return redirect("annotate:study", copy.name)

    context = {"study": study, "form": form}
    return render(request, "annotate/study_copy.html", context, status=422 if form.errors else 200)
