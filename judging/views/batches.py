"""A job that is done by a batch service: its requests to download, and the replies to bring back."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.timezone import now
from django.views.decorators.http import require_POST, require_safe

from collection.formats.files import BrokenFile, InputFile
from collection.views.account import SignedInRequest
from judging.batches import NoBatch, read_replies, write_requests
from judging.job_forms import BatchForm
from judging.models import GradingJob
from judging.views.jobs import job_context, job_of


@require_safe
@login_required
def batch_requests(request: SignedInRequest, name: str, pk: int) -> HttpResponseBase:
    """The requests that the job misses, as a file for its batch service."""
    found = job_of(request, name, pk)
    if found.state != GradingJob.State.AWAY:
        raise Http404

    response = StreamingHttpResponse(
        write_requests(found, service=found.selection["service"]), content_type="application/jsonl"
    )
    response["Content-Disposition"] = f'attachment; filename="{name}-job-{pk}-requests.jsonl"'
    return response


@require_POST
@login_required
def batch_replies(request: SignedInRequest, name: str, pk: int) -> HttpResponse:
    """Read the service's output into the job; what is wrong with it is said line by line."""
    found = job_of(request, name, pk)
    form = BatchForm(request.POST, request.FILES)
    if not form.is_valid():
        return render(request, "judging/job.html", {**job_context(found), "batch_form": form}, status=422)

    sent = form.cleaned_data["file"]
    with NamedTemporaryFile(suffix=".jsonl", delete=False) as copy:
        for part in sent.chunks():
            copy.write(part)
    try:
        said = read_replies(job=found, file=InputFile(Path(copy.name), name=sent.name), at=now())
    except (BrokenFile, NoBatch) as refusal:
        form.add_error("file", str(refusal).splitlines())
        return render(request, "judging/job.html", {**job_context(found), "batch_form": form}, status=422)
    finally:
        with suppress(FileNotFoundError):
            Path(copy.name).unlink()
    messages.success(request, str(said))
    return redirect("judging:job", name, pk)
