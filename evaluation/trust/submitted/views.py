"""The page on which files of judges are held against people. It keeps none of them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.contrib.auth.decorators import login_required
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from collection.accounts.views import SignedInRequest
from collection.formats.problems import BrokenFile
from collection.models import Criterion
from collection.web.options import REFUSALS
from collection.web.pages import study_and_criterion
from evaluation.trust.forms import SubmissionsForm

if TYPE_CHECKING:
    from evaluation.trust.submitted.submissions import SubmittedJudges


@require_http_methods(["GET", "POST"])
@login_required
def submitted_judges(request: SignedInRequest, name: str) -> HttpResponse:
    """Choose the files of judges; posting shows how far they agree with people, and order the systems alike."""
    study, _, usual = study_and_criterion(request, name)
    sent = (request.POST, request.FILES) if request.method == "POST" else (None, None)
    form = SubmissionsForm(*sent, study=study, initial={"criterion": usual.name if usual else None})

    found: SubmittedJudges | None = None
    if form.is_valid():
        criterion: Criterion = form.cleaned_data["criterion"]
        try:
            found = compared_files(criterion, form.cleaned_data["file"], form.cleaned_data)
        except BrokenFile as broken:
            form.add_error("file", "\n".join(f"{broken.name}: {problem}" for problem in broken.problems))
        except REFUSALS as refused:
            form.add_error(None, str(refused))

    context = {"study": study, "form": form, "found": found}
    return render(request, "evaluation/submitted_judges.html", context, status=422 if form.errors else 200)


def compared_files(
    criterion: Criterion, files: Iterable[UploadedFile[Any]], chosen: Mapping[str, Any]
) -> SubmittedJudges:
    """Hold uploaded files against people. Raises BrokenFile and Refused."""
    from evaluation.trust.submitted.submissions import compare_submissions  # pandas: none where nothing is sent

    asked = {name: chosen[name] for name in ("form", "measure", "stored")}
    with tempfile.TemporaryDirectory() as folder:
        kept = []
        for number, file in enumerate(files):
            path = Path(folder) / str(number)
            path.write_bytes(file.read())
            kept.append((file.name or f"file {number + 1}", path))
        return compare_submissions(criterion, kept, **asked)
