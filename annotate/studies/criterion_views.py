"""The criteria of a new study in its language, and what is done to a study's criteria once they are there."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from annotate.studies.criterion_forms import ThresholdForm
from annotate.studies.forms import StudyForm
from collection.accounts import access
from collection.accounts.views import SignedInRequest
from collection.models import Criterion, Study, ThresholdChange
from collection.page_tools import telling
from collection.thresholds import ThresholdLocked, can_be_moved, change_threshold


@dataclass(frozen=True)
class CriterionRow:
    """A criterion as its study's page shows it: with the history of its threshold, and where this can go."""

    criterion: Criterion
    changes: list[ThresholdChange]
    form: ThresholdForm | None


@require_POST
@login_required
@never_cache
def study_criteria(request: SignedInRequest) -> HttpResponse:
    """The criteria of a new study in the language that was chosen, with what the researcher changed in them."""
    access.refuse_unless_researcher(request.user)
    form = StudyForm(request.POST, user=request.user)
    form.validate_nothing()
    return render(request, "annotate/study/criteria.html", {"form": form})


def criterion_rows(study: Study) -> list[CriterionRow]:
    """Return the study's criteria for its page."""
    criteria = study.criteria.select_related("scale").prefetch_related("threshold_changes__changed_by")
    return [
        CriterionRow(
            criterion,
            list(criterion.threshold_changes.all()),
            ThresholdForm(criterion=criterion) if can_be_moved(criterion.scale) else None,
        )
        for criterion in criteria
    ]


@require_POST
@login_required
def threshold(request: SignedInRequest, name: str, criterion: str) -> HttpResponse:
    """Move a criterion's η."""
    criteria = Criterion.objects.filter(study__in=Study.objects.of(request.user), study__name=name)
    found = get_object_or_404(criteria.select_related("scale", "study"), name=criterion)
    form = ThresholdForm(request.POST, criterion=found)

    if not form.is_valid():
        messages.error(request, f"η of “{found}” stays: {' '.join(map(str, form.errors.get('threshold', [])))}")
    else:
        with telling(request, ThresholdLocked):
            change = change_threshold(
                criterion=found, threshold=form.cleaned_data["threshold"], by=request.user, at=now()
            )
            moved = f"“{found}” counts as positive from {form.cleaned_data['threshold']:g} up"
            messages.success(request, f"{moved}; figures are updated." if change else f"{moved} already.")
    return redirect("annotate:study", name)
