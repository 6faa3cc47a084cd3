"""The pages that lead to a grading job: what it would take, and its start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.timezone import now
from django.views.decorators.http import require_POST

from collection.accounts.access import study_to_set_up
from collection.accounts.views import SignedInRequest
from collection.models import Criterion, Study, User
from judging.data.missing_grades import missing_in
from judging.data.selection import DEFAULT_SEED, NoSuchPart
from judging.engines.token_quotas import QuotaSpent, quota_for
from judging.grading.batch_files import SERVICES
from judging.grading.jobs import AlreadyUnderWay, JudgeDoesNotFit, NothingToGrade, start_jobs
from judging.jobs.available_judges import criterion_named, judge_named
from judging.jobs.estimate import JobEstimate, estimate, usual_prices
from judging.jobs.forms import StartForm
from judging.judges.registry import BadJudge
from judging.models import Judge


@dataclass(frozen=True)
class Expected:
    """What one judge would take."""

    judge: Judge
    estimate: JobEstimate


@require_POST
@login_required
def job_estimate(request: SignedInRequest, name: str) -> HttpResponse:
    """What jobs would do, before they are started; and what part of it, for how much at most."""
    study = study_to_set_up(request.user, name)
    form = StartForm(request.POST)
    if not form.is_valid() and ("criterion" in form.errors or "judge" in form.errors):
        return refused(request, study, form)

    try:
        criterion, judges = chosen_in(study, form)
        if not form.is_valid():
            return estimate_page(request, study, form, criterion, [], status=422)
        expected = [Expected(judge, estimate_of(criterion, judge, form, request.user)) for judge in judges]
    except (JudgeDoesNotFit, BadJudge) as refusal:
        messages.error(request, str(refusal))
        return redirect("judging:jobs", study.name)
    except NoSuchPart as refusal:
        form.add_error(None, str(refusal))
        return estimate_page(request, study, form, criterion, [], status=422)

    return estimate_page(request, study, form, criterion, expected)


@require_POST
@login_required
def job_start(request: SignedInRequest, name: str) -> HttpResponse:
    """Start a job for each judge, and go to the page of the only one or of all."""
    study = study_to_set_up(request.user, name)
    form = StartForm(request.POST)
    if not form.is_valid():
        if "criterion" in form.errors or "judge" in form.errors:
            return refused(request, study, form)
        criterion, _ = chosen_in(study, form)
        return estimate_page(request, study, form, criterion, [], status=422)

    try:
        criterion, judges = chosen_in(study, form)
        started = start_jobs(
            criterion=criterion,
            judges=judges,
            selection=form.selection,
            terms=form.terms,
            away=form.cleaned_data["service"],
            by=request.user,
            at=now(),
        )
    except (JudgeDoesNotFit, BadJudge, NothingToGrade, AlreadyUnderWay, QuotaSpent) as refusal:
        messages.error(request, str(refusal))
        return redirect("judging:jobs", study.name)
    except NoSuchPart as refusal:
        form.add_error(None, str(refusal))
        return estimate_page(request, study, form, criterion, [], status=422)

    if len(started) == 1:
        return redirect("judging:job", study.name, started[0].pk)
    return redirect("judging:jobs", study.name)


def estimate_page(
    request: SignedInRequest,
    study: Study,
    form: StartForm,
    criterion: Criterion,
    expected: list[Expected],
    *,
    status: int = 200,
) -> HttpResponse:
    """Show what the jobs would do, with a form to choose a part of it, filled with the last prices at first."""
    if expected and "seed" not in form.data:
        form = with_usual_values(form, [one.judge for one in expected], request.user)
    form.offer_missing_grades(*missing_in(criterion))
    context = {
        "study": study,
        "criterion": criterion,
        "quota": next(filter(None, (quota_for(one.judge, request.user, at=now()) for one in expected)), None),
        "form": form,
        "names": form.cleaned_data.get("judge", []),
        "expected": expected,
        "pairs": sum(one.estimate.pairs for one in expected),
        "weak": any(one.judge.weak for one in expected),
        "priced": any(one.estimate.cost is not None for one in expected),
        "services": list(SERVICES) if expected and all(one.judge.reads_prompts for one in expected) else [],
    }
    return render(request, "judging/job_estimate.html", context, status=status)


def with_usual_values(form: StartForm, judges: Sequence[Judge], user: User) -> StartForm:
    """Return the form with a seed, and with the prices of the only judge's servers or last job."""
    price_in, price_out = usual_prices(judges[0], user) if len(judges) == 1 else (None, None)
    data: Any = form.data.copy()  # type: ignore[attr-defined]  # a QueryDict
    data["price_in"], data["price_out"] = str(price_in or ""), str(price_out or "")
    data["seed"] = str(DEFAULT_SEED)
    filled = StartForm(data)
    filled.is_valid()
    return filled


def estimate_of(criterion: Criterion, judge: Judge, form: StartForm, by: User) -> JobEstimate:
    return estimate(
        criterion=criterion,
        judge=judge,
        selection=form.selection,
        price_in=form.terms.price_in,
        price_out=form.terms.price_out,
        by=by,
    )


def chosen_in(study: Study, form: StartForm) -> tuple[Criterion, list[Judge]]:
    """Return the criterion and the judges that the form names; 404 if there is none such."""
    try:
        criterion = criterion_named(study, form.cleaned_data["criterion"])
        return criterion, [judge_named(name, criterion) for name in form.cleaned_data["judge"]]
    except (Criterion.DoesNotExist, Judge.DoesNotExist) as error:
        raise Http404 from error


def refused(request: SignedInRequest, study: Study, form: StartForm) -> HttpResponse:
    """Say that no judge was chosen; 404 for a form that this page never sent."""
    if "criterion" in form.errors:
        raise Http404
    messages.error(request, "Choose at least one judge.")
    return redirect("judging:jobs", study.name)
