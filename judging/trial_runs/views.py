"""A judge looked at before it costs anything: what it would see of an item, and what it says of five."""

from __future__ import annotations

import random
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe
from django_htmx.http import HttpResponseClientRefresh

from collection.accounts.access import refuse_unless_researcher
from collection.accounts.views import SignedInRequest
from collection.models import Criterion, Study
from judging.engines import EngineUnavailable
from judging.models import Errand, Judge
from judging.prompts.placeholders import BadTemplate
from judging.trial_runs.engine_choice import NoTrialHere, criterion_to_try, seen_by
from judging.trial_runs.errands import ask_for_trial, errand_of, trials_of


@require_http_methods(["GET", "POST"])
@login_required
def judge_trial(request: SignedInRequest, name: str) -> HttpResponse:
    """What the judge sees of an item of a study of the user's; posting has it grade five beside what people said."""
    refuse_unless_researcher(request.user)
    judge = get_object_or_404(
        Judge.objects.select_related("rater", "template", "scale", "examples_from").exclude(
            engine=Judge.Engine.ENSEMBLE
        ),
        name=name,
    )
    sent = request.POST if request.method == "POST" else request.GET
    studies = Study.objects.read_by(request.user).filter(
        criteria__task_type=judge.task_type, criteria__scale=judge.scale_id
    )
    studies = studies.distinct().select_related("collection")
    study = studies.filter(name=sent.get("study", "")).first()
    if study is None and sent.get("study"):
        raise Http404
    study = study or studies.first()
    criterion = criterion_to_try(judge, study) if study else None
    context: dict[str, Any] = {"judge": judge, "studies": studies, "study": study, "criterion": criterion}
    if criterion is None:
        return render(request, "judging/judge_trial.html", context)

    if request.method == "POST":
        try:
            errand = ask_for_trial(judge, criterion, seed=seed_in(sent.get("seed", "")), by=request.user, at=now())
        except EngineUnavailable as refusal:
            return trial_refused(request, judge, criterion, refusal)
        return redirect("judging:trial", errand.pk)
    try:
        context["seen"] = seen_by(judge, criterion, after=sent.get("item", ""))
    except BadTemplate as refusal:
        context["refusal"] = str(refusal)
    return render(request, "judging/judge_trial.html", context, status=503 if "refusal" in context else 200)


@require_safe
@login_required
@never_cache
def trial(request: SignedInRequest, pk: int) -> HttpResponse:
    """A trial run of the user's: how far it is, or what came of it. htmx asks for the changing part alone."""
    refuse_unless_researcher(request.user)
    errand = errand_of(request.user, pk, at=now())
    if errand is None or errand.criterion is None:
        raise Http404
    if request.htmx:
        if not errand.is_at_work:
            return HttpResponseClientRefresh()
        return render(request, "judging/trial_progress.html", {"errand": errand})
    context = about(errand.judge, errand.criterion) | {"errand": errand}
    if errand.state == Errand.State.DONE:
        context["trials"] = trials_of(errand)
    return render(request, "judging/trial.html", context)


def trial_refused(request: SignedInRequest, judge: Judge, criterion: Criterion, refusal: Exception) -> HttpResponse:
    """Say why there is no trial run, and where there can be one."""
    context = about(judge, criterion) | {"refusal": str(refusal), "elsewhere": isinstance(refusal, NoTrialHere)}
    return render(request, "judging/trial.html", context, status=503)


def about(judge: Judge, criterion: Criterion) -> dict[str, Any]:
    study = criterion.study
    return {"judge": judge, "criterion": criterion, "study": study, "split": hasattr(study, "split")}


def seed_in(sent: str) -> int:
    """Return the seed that was sent, or a new one."""
    return int(sent) if sent.isdecimal() and len(sent) < 10 else random.randrange(10**6)  # noqa: S311  # no secret
