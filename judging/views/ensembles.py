"""The pages of ensembles: a new one, and combining one."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timezone import now
from django.views.decorators.http import require_http_methods, require_POST

from collection.models import Study, User
from collection.views.account import SignedInRequest
from judging.combining import EnsembleDoesNotFit, combine
from judging.ensemble_forms import CombineForm, EnsembleForm
from judging.ensembles import RULES, TIES, make_ensemble, samples_of
from judging.judges import BadJudge
from judging.models import Combination, Judge
from judging.views.access import refuse_unless_researcher


def ensemble_context(judge: Judge, user: User) -> dict[str, Any]:
    """Return what a judge's page shows of an ensemble: members, rule, where it can be combined and what came of it."""
    if judge.engine != Judge.Engine.ENSEMBLE:
        return {}
    newest = judge.combinations.filter(criterion__study__in=Study.objects.of(user)).select_related("criterion__study")
    by_criterion: dict[int, Combination] = {}
    for combination in newest:
        by_criterion.setdefault(combination.criterion_id, combination)
    return {
        "members": [member.judge for member in judge.members.select_related("judge__template")],
        "rule": RULES[judge.decoding["rule"]],
        "ties": TIES[judge.decoding["ties"]],
        "combine_form": CombineForm(user=user, ensemble=judge),
        "combinations": list(by_criterion.values()),
    }


def examples_for(judge: Judge, user: User) -> list[Any]:
    """Return the examples that the judge's prompt shows; none for whom their study is not."""
    if judge.examples_from is None or not Study.objects.of(user).filter(pk=judge.examples_from.pk).exists():
        return []
    return list(judge.examples)


@require_http_methods(["GET", "POST"])
@login_required
def ensemble_new(request: SignedInRequest) -> HttpResponse:
    """Members and a rule; posting makes the ensemble, or finds the one that is the same."""
    refuse_unless_researcher(request.user)
    form = EnsembleForm(request.POST or None)

    if form.is_valid():
        sent = form.cleaned_data
        try:
            members = list(sent["members"]) or samples_of(
                sent["sampled"], count=sent["samples"], temperature=sent["temperature"], by=request.user
            )
            made, new = make_ensemble(
                members, rule=sent["rule"], ties=sent["ties"], quorum=sent["quorum"], name=sent["name"], by=request.user
            )
        except BadJudge as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"The ensemble “{made}” is {'made' if new else 'the same, and was made before'}.")
            return redirect("judging:judge", made.name)

    return render(request, "judging/ensemble_new.html", {"form": form}, status=422 if form.errors else 200)


@require_POST
@login_required
def ensemble_combine(request: SignedInRequest, name: str) -> HttpResponse:
    """Make the ensemble's judgments of a criterion of the user's from its members' as they stand."""
    refuse_unless_researcher(request.user)
    ensemble = get_object_or_404(
        Judge.objects.select_related("rater", "scale", "examples_from"), name=name, engine=Judge.Engine.ENSEMBLE
    )
    form = CombineForm(request.POST, user=request.user, ensemble=ensemble)

    if not form.is_valid():
        messages.error(request, "Choose one of your studies’ criteria that the ensemble fits.")
        return redirect("judging:judge", ensemble.name)
    try:
        done = combine(ensemble=ensemble, criterion=form.cleaned_data["criterion"], by=request.user, at=now())
    except EnsembleDoesNotFit as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(
            request,
            f"{done.graded:,} items graded, {done.ungraded:,} undecided, {done.waiting:,} wait for a member; "
            f"{done.changed:,} judgments are new or changed.",
        )
    return redirect("judging:judge", ensemble.name)
