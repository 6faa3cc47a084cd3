"""A job that is done by a batch service: its requests to download, and the replies to bring back."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.timezone import now
from django.views.decorators.http import require_POST, require_safe

from collection.accounts.views import SignedInRequest
from collection.formats.problems import BrokenFile
from collection.importing.background import outcome_of
from collection.importing.uploads import keep_upload
from collection.models import Upload
from collection.page_tools import download
from judging.grading.batch_files import write_requests
from judging.imported.uploads import replies_chosen
from judging.jobs.forms import BatchForm
from judging.jobs.views import job_context, job_of
from judging.models import GradingJob


@require_safe
@login_required
def job_batch_requests(request: SignedInRequest, name: str, pk: int) -> HttpResponseBase:
    """The requests that the job misses, as a file for its batch service."""
    found = job_of(request, name, pk)
    if found.state != GradingJob.State.AWAY:
        raise Http404

    return download(write_requests(found, service=found.selection["service"]), f"{name}-job-{pk}-requests.jsonl")


@require_POST
@login_required
def job_batch_replies(request: SignedInRequest, name: str, pk: int) -> HttpResponse:
    """Read the service's output into the job; what is wrong with it is said line by line. A worker reads large ones."""
    found = job_of(request, name, pk)
    form = BatchForm(request.POST, request.FILES)
    if not form.is_valid():
        return render(request, "judging/job.html", {**job_context(found), "batch_form": form}, status=422)

    upload = keep_upload(
        file=form.cleaned_data["file"],
        collection=found.criterion.study.collection,
        by=request.user,
        chosen=replies_chosen(found),
        at=now(),
        ask=Upload.State.IMPORTING,
    )
    if upload.is_at_work:
        return redirect("collection:import_preview", upload.collection.name, upload.pk)
    outcome = outcome_of(upload, really=True, at=now())
    upload.delete()
    if outcome.problems:
        form.add_error("file", BrokenFile(upload.name, list(outcome.problems)).args[0].splitlines())
        return render(request, "judging/job.html", {**job_context(found), "batch_form": form}, status=422)
    messages.success(request, " ".join(outcome.remarks))
    return redirect("judging:job", name, pk)
