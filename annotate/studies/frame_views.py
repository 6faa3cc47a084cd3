"""The frame of a study: which runs, topics and passages it asks about, with what that comes to."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from annotate.frames.checks import FrameRefused
from annotate.frames.frame import frame_of, frame_sentences
from annotate.studies.frame_forms import FrameForm
from annotate.studies.frames import change_frame
from annotate.studies.lifecycle import WrongState
from annotate.studies.task_counts import asked_of, forecast_from, preview_from
from annotate.studies.views import study_to_set_up
from collection.accounts import access
from collection.accounts.views import SignedInRequest
from collection.models import Collection


@require_http_methods(["GET", "POST"])
@login_required
@never_cache
def study_frame(request: SignedInRequest, name: str) -> HttpResponse:
    """The study's frame with what it asks; posting changes it, and shows what it asks then."""
    study = study_to_set_up(request, name)
    form = FrameForm(request.POST or None, collection=study.collection, frame=frame_of(study))

    if form.is_valid():
        try:
            change_frame(study=study, frame=form.frame)
        except (FrameRefused, WrongState) as refused:
            form.add_error(getattr(refused, "field", None), str(refused))
        else:
            messages.success(request, "Saved. Below is what the study asks.")
            return redirect("annotate:study_frame", study.name)

    asked = asked_of(study)
    context = {
        "study": study,
        "frame_form": form,
        "sentences": frame_sentences(frame_of(study)),
        "forecast": forecast_from(study, asked),
        "preview": preview_from(study, asked),
        "has_items": study.items.exists(),
    }
    return render(request, "annotate/study_frame.html", context, status=422 if form.errors else 200)


@require_safe
@login_required
@never_cache
def study_frame_fields(request: SignedInRequest) -> HttpResponse:
    """The fields of a new study's frame, for the collection that was chosen."""
    access.refuse_unless_researcher(request.user)
    collection = get_object_or_404(Collection.objects.of(request.user), name=request.GET.get("collection", ""))
    return render(request, "annotate/study/frame_fields.html", {"frame_form": FrameForm(collection=collection)})
