"""The pages of a study's grading jobs: all of them with what can be started, one with its counts, and its replies."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timezone import now
from django.views.decorators.http import require_POST, require_safe

from collection.accounts.access import StillAssesses, study_of, study_to_set_up
from collection.accounts.views import SignedInRequest
from collection.formats.problems import BrokenFile
from collection.importing.background import outcome_of
from collection.importing.uploads import keep_upload
from collection.models import Upload
from collection.page_tools import download, telling
from judging.data.imported_judges import graded_in, imported_judges
from judging.engines.embedded import INSTALL, missing_packages
from judging.engines.token_quotas import QuotaSpent, quota_of_job
from judging.grading.batch_files import write_requests
from judging.grading.drift import drift_of
from judging.grading.jobs import (
    AlreadyUnderWay,
    LimitReached,
    NothingToGrade,
    WrongState,
    cancel_job,
    grade_again,
    pause_job,
    resume_job,
)
from judging.grading.progress import JobCounts, counts_of_job, pace_of
from judging.grading.spending import SPENT, ledger_of
from judging.imported.uploads import replies_chosen
from judging.jobs.available_judges import judges_on_offer
from judging.jobs.forms import AgainForm, BatchForm, LimitsForm
from judging.models import GradingJob

REPLIES_A_PAGE = 50
# Replies that a job's page shows while they come.
OF_AN_ITEM = ("item__topic", "item__element", "item__report", "item__sentence")
LATEST = 5


@require_safe
@login_required
def jobs(request: SignedInRequest, name: str) -> HttpResponse:
    """The study's jobs, and every judge that could be started. htmx asks for the jobs alone while some are at work."""
    study = study_to_set_up(request.user, name)
    listed = list(study.grading_jobs.select_related("judge", "criterion")[:100])
    context: dict[str, Any] = {"study": study, "jobs": listed, "at_work": any(job.active for job in listed)}
    if request.htmx:
        return render(request, "judging/jobs_list.html", context)
    context |= {"offers": judges_on_offer(study), "missing_packages": missing_packages(), "install": INSTALL}
    context["elsewhere"] = graded_in(study, list(imported_judges(study.collection)))
    return render(request, "judging/jobs.html", context)


@require_safe
@login_required
def job(request: SignedInRequest, name: str, pk: int) -> HttpResponse:
    """One job with its counts. htmx asks for the changing part alone until the job is over."""
    found = job_of(request, name, pk)
    template = "judging/job_progress.html" if request.htmx else "judging/job.html"
    return render(request, template, job_context(found))


@require_POST
@login_required
def job_move(request: SignedInRequest, name: str, pk: int, move: str) -> HttpResponse:
    """Pause, resume or cancel the job."""
    found = job_of(request, name, pk)

    with telling(request, WrongState, LimitReached):
        match move:
            case "pause":
                pause_job(job=found)
            case "resume":
                form = LimitsForm(request.POST)
                if "token_limit" in request.POST and not form.is_valid():
                    return render(request, "judging/job.html", {**job_context(found), "terms_form": form}, status=422)
                terms = form.terms if "token_limit" in request.POST else None
                resume_job(job=found, terms=terms, by=request.user, at=now())
            case "cancel":
                cancel_job(job=found, at=now())
    return redirect("judging:job", name, pk)


@require_POST
@login_required
def job_again(request: SignedInRequest, name: str, pk: int) -> HttpResponse:
    """Grade what was left ungraded again, in a job of its own."""
    found = job_of(request, name, pk)
    form = AgainForm(request.POST)
    if not form.is_valid():
        raise Http404

    with telling(request, NothingToGrade, AlreadyUnderWay, QuotaSpent):
        again = grade_again(job=found, kinds=form.cleaned_data["kinds"], by=request.user, at=now())
        return redirect("judging:job", name, again.pk)
    return redirect("judging:job", name, pk)


@require_safe
@login_required
def job_replies(request: SignedInRequest, name: str, pk: int) -> HttpResponse:
    """The job's replies, newest first, as they came; filtered by grade or by kind of ungraded."""
    study_of(request.user, name)
    found = job_of(request, name, pk)
    shown = found.completions.select_related(*OF_AN_ITEM)
    shown = shown.prefetch_related("item__text_flags").order_by("-pk")
    became = request.GET.get("became", "")
    if became.startswith("grade:"):
        shown = shown.filter(ungraded="", grade=number_in(became.removeprefix("grade:")))
    elif became:
        shown = shown.filter(ungraded=became) if became != "ungraded" else shown.exclude(ungraded="")
    if (before := request.GET.get("before", "")).isdecimal() and len(before) < 19:
        shown = shown.filter(pk__lt=int(before))
    rows = list(shown[: REPLIES_A_PAGE + 1])
    older = rows[REPLIES_A_PAGE - 1].pk if len(rows) > REPLIES_A_PAGE else None
    context = {
        **job_context(found),
        "filters": filters_of(found, counts_of_job(found)),
        "rows": rows[:REPLIES_A_PAGE],
        "older": older,
        "became": became,
        "before": before,
    }
    return render(request, "judging/job_replies.html", context)


def job_of(request: SignedInRequest, name: str, pk: int) -> GradingJob:
    """Return the study's job if the user researches it; else 404."""
    study = study_to_set_up(request.user, name)
    found = get_object_or_404(
        GradingJob.objects.select_related("criterion__scale", "judge__template", "judge__scale", "created_by", "build"),
        study=study,
        pk=pk,
    )
    found.study = study
    return found


def job_context(job: GradingJob) -> dict[str, Any]:
    """Return what the job's pages show. Counts are the job's own: no completion is counted for a page.

    What the judge said is not for who assesses in the study.
    """
    counts = counts_of_job(job)
    closed = job.study.is_assessed  # type: ignore[attr-defined]
    seen = None if closed else job.anchor_checks.select_related("earlier_judge").first()
    points = [] if closed else job.criterion.scale.points
    latest = job.completions.none() if closed else job.completions.select_related(*OF_AN_ITEM)
    waits = job.pause_cause in SPENT
    return {
        "job": job,
        "study": job.study,
        "counts": counts,
        "closed": StillAssesses.default_detail if closed else "",
        "grades": [(point, counts.graded.get(point["value"], 0)) for point in points],
        "percent": 100 * job.done // job.total,
        "ungraded_percent": 100 * job.ungraded / job.done if job.done else None,
        "cache_percent": None if job.cache_share is None else 100 * job.cache_share,
        "pace": pace_of(job),
        "ledger": ledger_of(job) if job.build else None,
        "anchor_check": seen,
        "drift": drift_of(seen) if seen else None,
        "quota": quota_of_job(job, at=now()),
        "terms_form": LimitsForm(initial=LimitsForm.initial_of(job)) if waits else None,
        "batch_form": BatchForm() if job.state == GradingJob.State.AWAY else None,
        "latest": latest.order_by("-pk")[:LATEST],
    }


def filters_of(job: GradingJob, counts: JobCounts) -> list[tuple[str, str, int]]:
    """Return what replies can be filtered by: the key in the address, its label, and how many there are."""
    return [
        ("", "all", counts.graded_pairs + counts.ungraded_pairs),
        *(
            (f"grade:{point['value']}", f"grade {point['value']}", counts.graded.get(point["value"], 0))
            for point in job.criterion.scale.points
        ),
        ("ungraded", "ungraded", counts.ungraded_pairs),
        *((kind, f"ungraded: {label}", count) for kind, label, count in counts.kinds() if count),
    ]


def number_in(text: str) -> float:
    """Return the number, or 404."""
    try:
        return float(text)
    except ValueError:
        raise Http404 from None


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
