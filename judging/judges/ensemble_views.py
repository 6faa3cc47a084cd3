"""The pages of ensembles: a new one, and combining one."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timezone import now
from django.views.decorators.http import require_http_methods, require_POST

from collection.accounts.access import refuse_unless_researcher
from collection.accounts.views import SignedInRequest
from collection.completeness import judges_of_studies
from collection.models import Study, User
from collection.page_tools import telling
from judging.judges.combining import EnsembleDoesNotFit, combine
from judging.judges.ensemble_forms import CombineForm, EnsembleForm
from judging.judges.ensembles import RULES, TIES, make_ensemble, make_ensemble_of_samples
from judging.judges.members import OF_OTHERS, name_to
from judging.judges.registry import BadJudge
from judging.models import Combination, Judge
from stats.completeness import complete_first
from stats.plurals import counted


def ensemble_context(judge: Judge, user: User) -> dict[str, Any]:
    """Return what a judge's page shows of an ensemble: members, rule, where it can be combined and what came of it."""
    if judge.engine != Judge.Engine.ENSEMBLE:
        return {}
    newest = judge.combinations.filter(criterion__study__in=Study.objects.read_by(user)).select_related(
        "criterion__study"
    )
    by_criterion: dict[int, Combination] = {}
    for combination in newest:
        by_criterion.setdefault(combination.criterion_id, combination)
    completeness = judges_of_studies(Study.objects.read_by(user))
    return {
        "members": complete_first(
            (
                (member, completeness.worst_of(member.voter.pk), name_to(user, member))
                for member in judge.members.select_related("judge__rater", "rater")
            ),
            of=lambda row: row[1],
        ),
        "of_others": OF_OTHERS,
        "rule": RULES[judge.decoding["rule"]],
        "ties": TIES[judge.decoding["ties"]],
        "combine_form": CombineForm(user=user, ensemble=judge),
        "combinations": list(by_criterion.values()),
    }


def examples_for(judge: Judge, user: User) -> list[Any]:
    """Return the examples that the judge's prompt shows; none for whom their study is not."""
    if judge.examples_from is None or not Study.objects.read_by(user).filter(pk=judge.examples_from.pk).exists():
        return []
    return list(judge.examples)


@require_http_methods(["GET", "POST"])
@login_required
def ensemble_new(request: SignedInRequest) -> HttpResponse:
    """Members and a rule; posting makes the ensemble, or finds the one that is the same."""
    refuse_unless_researcher(request.user)
    form = EnsembleForm(request.POST or None, user=request.user)

    if form.is_valid():
        sent = form.cleaned_data
        try:
            choices = {name: sent[name] for name in ("rule", "ties", "quorum", "at", "name")} | {"by": request.user}
            made, new = (
                make_ensemble(list(sent["members"]), **choices)
                if sent["members"]
                else make_ensemble_of_samples(
                    sent["sampled"], count=sent["samples"], temperature=sent["temperature"], **choices
                )
            )
        except BadJudge as error:
            form.add_error(None, str(error))
        else:
            messages.success(
                request, f"The ensemble “{made}” is {'created' if new else 'the same as one created before'}."
            )
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
        messages.error(request, "Choose a criterion of your studies that the ensemble can grade.")
        return redirect("judging:judge", ensemble.name)
    with telling(request, EnsembleDoesNotFit):
        done = combine(ensemble=ensemble, criterion=form.cleaned_data["criterion"], by=request.user, at=now())
        items, judgments = counted(done.graded, "items"), counted(done.changed, "judgments")
        waiting = f"{done.ungraded:,} undecided, {done.waiting:,} waiting for a member"
        messages.success(request, f"{items} graded, {waiting}; {judgments} new or changed.")
    return redirect("judging:judge", ensemble.name)
