"""Grades that were made elsewhere: a file is chosen, looked at, brought in; and the judge that they then are."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timezone import now
from django.views.decorators.http import require_http_methods, require_safe

from collection.accounts.access import study_of
from collection.accounts.views import SignedInRequest
from collection.importing.uploads import keep_to_look_at
from collection.models import Criterion
from judging.data.imported_judges import declared, graded_in, imported_judges
from judging.data.marked_judges import marked_under
from judging.imported.formats import FORMATS
from judging.imported.forms import GradesForm
from judging.imported.uploads import grades_chosen
from judging.models import Judge


@require_http_methods(["GET", "POST"])
@login_required
def imported_grades(request: SignedInRequest, name: str) -> HttpResponse:
    """Choose a file and say what it is; posting keeps it and goes on to the look at it."""
    study = study_of(request.user, name)
    form = GradesForm(request.POST or None, request.FILES or None, study=study)

    if form.is_valid():
        upload = keep_to_look_at(
            file=form.cleaned_data["file"],
            collection=study.collection,
            by=request.user,
            chosen=grades_chosen(study, form.wanted),
            at=now(),
        )
        return redirect("collection:import_preview", study.collection.name, upload.pk)

    context = {"study": study, "form": form, "formats": FORMATS}
    return render(request, "judging/imported_grades.html", context, status=422 if form.errors else 200)


@require_safe
@login_required
def imported_judge(request: SignedInRequest, name: str, pk: int) -> HttpResponse:
    """A judge from elsewhere: its origin, its files, and what it graded and left without a grade in the study."""
    study = study_of(request.user, name)
    rater = get_object_or_404(imported_judges(study.collection), pk=pk)
    graded = graded_in(study, [rater])
    context: dict[str, Any] = {
        "study": study,
        "rater": rater,
        "declared": declared(rater),
        "graded": [(each, judges_to_fill(each.criterion)) for each in graded],
        "formats": {key: each.label for key, each in FORMATS.items()},
    }
    return render(request, "judging/imported_judge.html", context)


def judges_to_fill(criterion: Criterion) -> list[tuple[Judge, str]]:
    """Return the judges that could grade what this one left without a grade, with their names as marked."""
    fitting = Judge.objects.fitting(criterion).exclude(engine=Judge.Engine.ENSEMBLE)
    return marked_under(criterion, fitting.select_related("template"))
