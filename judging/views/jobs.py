"""The pages of a study's grading jobs: all of them with what can be started, one with its ledger, and its replies."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timezone import now
from django.views.decorators.http import require_POST, require_safe

from collection.models import Criterion, Study
from collection.views.account import SignedInRequest
from judging.engines.embedded import INSTALL, missing_packages
from judging.forms import AgainForm, StartForm
from judging.grading import (
    AlreadyUnderWay,
    JudgeDoesNotFit,
    NothingToGrade,
    WrongState,
    cancel_job,
    estimate,
    grade_again,
    pause_job,
    resume_job,
    start_job,
)
from judging.judges import BadJudge
from judging.ledgers import Ledger, ledger_of, pace_of
from judging.models import GradingJob, Judge
from judging.offers import criterion_named, judge_named, offers_of
from judging.views.access import study_of

REPLIES_A_PAGE = 50


@require_safe
@login_required
def jobs(request: SignedInRequest, name: str) -> HttpResponse:
    """The study's jobs, and every judge that could be started. htmx asks for the jobs alone while some are at work."""
    study = study_of(request.user, name)
    listed = list(study.grading_jobs.select_related("judge", "criterion")[:100])
    context: dict[str, Any] = {"study": study, "jobs": listed, "at_work": any(job.active for job in listed)}
    if request.htmx:
        return render(request, "judging/jobs_list.html", context)
    context |= {"offers": offers_of(study), "missing_packages": missing_packages(), "install": INSTALL}
    return render(request, "judging/jobs.html", context)


@require_POST
@login_required
def job_estimate(request: SignedInRequest, name: str) -> HttpResponse:
    """What a job would do, before it is started."""
    study = study_of(request.user, name)
    form = StartForm(request.POST)
    if not form.is_valid():
        raise Http404

    try:
        criterion, judge = chosen_in(study, form)
        expected = estimate(criterion=criterion, judge=judge)
    except (JudgeDoesNotFit, BadJudge) as refusal:
        messages.error(request, str(refusal))
        return redirect("judging:jobs", study.name)

    context = {"study": study, "criterion": criterion, "judge": judge, "estimate": expected}
    return render(request, "judging/job_estimate.html", context)


@require_POST
@login_required
def job_start(request: SignedInRequest, name: str) -> HttpResponse:
    """Start a job and go to its page."""
    study = study_of(request.user, name)
    form = StartForm(request.POST)
    if not form.is_valid():
        raise Http404

    try:
        criterion, judge = chosen_in(study, form)
        started = start_job(criterion=criterion, judge=judge, by=request.user, at=now())
    except (JudgeDoesNotFit, BadJudge, NothingToGrade, AlreadyUnderWay) as refusal:
        messages.error(request, str(refusal))
        return redirect("judging:jobs", study.name)
    return redirect("judging:job", study.name, started.pk)


@require_safe
@login_required
def job(request: SignedInRequest, name: str, pk: int) -> HttpResponse:
    """One job with its ledger. htmx asks for the changing part alone until the job is over."""
    found = job_of(request, name, pk)
    template = "judging/job_progress.html" if request.htmx else "judging/job.html"
    return render(request, template, job_context(found))


@require_POST
@login_required
def job_move(request: SignedInRequest, name: str, pk: int, move: str) -> HttpResponse:
    """Pause, resume or cancel the job."""
    found = job_of(request, name, pk)

    try:
        match move:
            case "pause":
                pause_job(job=found)
            case "resume":
                resume_job(job=found, at=now())
            case "cancel":
                cancel_job(job=found, at=now())
    except WrongState as refusal:
        messages.error(request, str(refusal))
    return redirect("judging:job", name, pk)


@require_POST
@login_required
def job_again(request: SignedInRequest, name: str, pk: int) -> HttpResponse:
    """Grade what was left ungraded again, in a job of its own."""
    found = job_of(request, name, pk)
    form = AgainForm(request.POST)
    if not form.is_valid():
        raise Http404

    try:
        again = grade_again(job=found, kinds=form.cleaned_data["kinds"], by=request.user, at=now())
    except (NothingToGrade, AlreadyUnderWay) as refusal:
        messages.error(request, str(refusal))
        return redirect("judging:job", name, pk)
    return redirect("judging:job", name, again.pk)


@require_safe
@login_required
def replies(request: SignedInRequest, name: str, pk: int) -> HttpResponse:
    """The job's replies, newest first, as they came; filtered by grade or by kind of ungraded."""
    found = job_of(request, name, pk)
    shown = found.completions.select_related("item__topic", "item__element").order_by("-pk")
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
        "filters": filters_of(found, ledger_of(found)),
        "rows": rows[:REPLIES_A_PAGE],
        "older": older,
        "became": became,
        "before": before,
    }
    return render(request, "judging/replies.html", context)


def job_of(request: SignedInRequest, name: str, pk: int) -> GradingJob:
    """Return the study's job if the user researches it; else 404."""
    study = study_of(request.user, name)
    return get_object_or_404(
        GradingJob.objects.select_related("study", "criterion__scale", "judge__template", "judge__scale", "created_by"),
        study=study,
        pk=pk,
    )


def job_context(job: GradingJob) -> dict[str, Any]:
    """Return what the job's pages show."""
    ledger = ledger_of(job)
    return {
        "job": job,
        "study": job.study,
        "ledger": ledger,
        "grades": [(point, ledger.graded.get(point["value"], 0)) for point in job.criterion.scale.points],
        "percent": 100 * job.done // job.total,
        "pace": pace_of(job),
    }


def filters_of(job: GradingJob, ledger: Ledger) -> list[tuple[str, str, int]]:
    """Return what replies can be filtered by: the key in the address, its label, and how many there are."""
    return [
        ("", "all", ledger.graded_pairs + ledger.ungraded_pairs),
        *(
            (f"grade:{point['value']}", f"grade {point['value']}", ledger.graded.get(point["value"], 0))
            for point in job.criterion.scale.points
        ),
        ("ungraded", "ungraded", ledger.ungraded_pairs),
        *((kind, f"ungraded: {label}", count) for kind, label, count in ledger.kinds() if count),
    ]


def chosen_in(study: Study, form: StartForm) -> tuple[Criterion, Judge]:
    """Return the criterion and the judge that the form names; 404 if there is none such."""
    try:
        criterion = criterion_named(study, form.cleaned_data["criterion"])
        return criterion, judge_named(form.cleaned_data["judge"], criterion)
    except (Criterion.DoesNotExist, Judge.DoesNotExist) as error:
        raise Http404 from error


def number_in(text: str) -> float:
    """Return the number, or 404."""
    try:
        return float(text)
    except ValueError:
        raise Http404 from None
