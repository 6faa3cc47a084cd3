"""The page on which versions of a prompt and other judges of a study stand side by side."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timezone import now
from django.views.decorators.http import require_POST, require_safe

from collection.accounts.access import study_of
from collection.accounts.views import SignedInRequest
from collection.models import Topic
from collection.page_tools import telling
from judging.comparison.figures import criteria_to_compare
from judging.comparison.kept import kept_comparison, kept_pair
from judging.data.human_labels import topics_to_compare
from judging.data.selection import NoSuchPart, Selection
from judging.engines.token_quotas import QuotaSpent
from judging.grading.jobs import AlreadyUnderWay, JudgeDoesNotFit, NothingToGrade, start_job
from judging.models import Judge
from stats.votes import RULE_OF_PEOPLE


@require_safe
@login_required
def comparison(request: SignedInRequest, name: str) -> HttpResponse:
    """How far each judge agrees with the human majority, on the development part if any; and where two differ."""
    study = study_of(request.user, name)
    criteria = list(criteria_to_compare(study))
    chosen = next((each for each in criteria if each.name == request.GET.get("criterion")), None)
    chosen = chosen or next(iter(criteria), None)
    context: dict[str, Any] = {"study": study, "criteria": criteria, "chosen": chosen, "rule_of_people": RULE_OF_PEOPLE}
    if chosen is None:
        return render(request, "judging/comparison.html", context)
    context["comparison"] = kept_comparison(request, chosen)
    if pair := _two_judges(request, chosen):
        context |= {"pair": pair, **kept_pair(request, chosen, pair)}
    return render(request, "judging/comparison.html", context)


@require_POST
@login_required
def comparison_start(request: SignedInRequest, name: str) -> HttpResponse:
    """Let a judge grade what it has not graded of the development part, or of all topics where there is no split."""
    study = study_of(request.user, name)
    criterion = get_object_or_404(criteria_to_compare(study), name=request.POST.get("criterion", ""))
    judge = get_object_or_404(Judge.objects.fitting(criterion), name=request.POST.get("judge", ""))

    with telling(request, NoSuchPart, JudgeDoesNotFit, NothingToGrade, AlreadyUnderWay, QuotaSpent):
        topics = Topic.objects.filter(pk__in=topics_to_compare(study)[0]).values_list("topic_id", flat=True)
        selection = Selection(topics=tuple(topics))
        started = start_job(criterion=criterion, judge=judge, selection=selection, by=request.user, at=now())
        return redirect("judging:job", study.name, started.pk)
    return redirect("judging:comparison", study.name)


def _two_judges(request: SignedInRequest, criterion: Any) -> list[Judge]:
    """Return the two judges that were chosen to be read side by side; none unless there are two that differ."""
    names = request.GET.getlist("judge")[:2]
    judges = {judge.name: judge for judge in Judge.objects.fitting(criterion).filter(name__in=names)}
    pair = [judges[name] for name in dict.fromkeys(names) if name in judges]
    return pair if len(pair) == 2 else []
