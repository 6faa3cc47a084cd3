"""How easily judges are talked round: a study's audits side by side, and the start of one."""

from __future__ import annotations

from django import forms
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from collection.accounts.access import study_of
from collection.accounts.views import SignedInRequest
from collection.completeness import judges_of_studies
from collection.models import Criterion, Study
from judging.engines.token_quotas import QuotaSpent
from judging.gullibility.audit import (
    MOST_TEXTS,
    SEE_NO_TEXT,
    TEXTS,
    KindResult,
    NoAudit,
    in_words,
    progress_of,
    requeue_if_stalled,
    results_of,
    start_audit,
)
from judging.models import GullibilityAudit, Judge
from stats.completeness import complete_first

SHOWN = 6


class AuditForm(forms.Form):
    """Which judge, and how many texts."""

    judge = forms.ChoiceField()
    texts = forms.IntegerField(
        min_value=1, max_value=MOST_TEXTS, initial=TEXTS, help_text="For each kind of planted text, and once unchanged."
    )

    def __init__(self, *args: object, study: Study, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.pairs = {f"{criterion.pk}:{judge.pk}": (criterion, judge) for criterion, judge in judges_of(study)}
        completeness = judges_of_studies([study])
        marked = ((key, pair, completeness.of(pair[0].pk, pair[1].rater_id)) for key, pair in self.pairs.items())
        choices = [
            (key, f"{found.after(judge.name)} on {criterion}")
            for key, (criterion, judge), found in complete_first(marked, of=lambda one: one[2])
        ]
        self.fields["judge"].choices = choices  # type: ignore[attr-defined]

    @property
    def chosen(self) -> tuple[Criterion, Judge]:
        return self.pairs[self.cleaned_data["judge"]]


def judges_of(study: Study) -> list[tuple[Criterion, Judge]]:
    """Return the judges of single texts that fit the study, by criterion."""
    criteria = study.criteria.select_related("scale", "study").exclude(name__in=SEE_NO_TEXT).order_by("position", "pk")
    return [
        (criterion, judge)
        for criterion in criteria
        for judge in Judge.objects.fitting(criterion)
        .exclude(engine=Judge.Engine.ENSEMBLE)
        .select_related("template", "scale")
    ]


@require_http_methods(["GET", "POST"])
@login_required
@never_cache
def gullibility(request: SignedInRequest, name: str) -> HttpResponse:
    """A study's audits, the newest first; posting starts one. The table looks again by itself while one runs."""
    study = study_of(request.user, name)
    form = AuditForm(request.POST or None, study=study)

    if form.is_valid():
        criterion, judge = form.chosen
        try:
            start_audit(judge=judge, criterion=criterion, texts=form.cleaned_data["texts"], by=request.user, at=now())
        except (NoAudit, QuotaSpent) as refusal:
            form.add_error(None, str(refusal))
        else:
            return redirect("judging:gullibility", study.name)

    audits = GullibilityAudit.objects.filter(criterion__study=study).select_related("judge__template", "criterion")[
        :SHOWN
    ]
    running = [audit for audit in audits if audit.state == GullibilityAudit.State.RUNNING]
    for audit in running:
        requeue_if_stalled(audit, at=now())
    rows = [(audit, progress_of(audit), *_told(audit)) for audit in audits]
    context = {"study": study, "form": form, "rows": rows, "running": bool(running)}
    template = "judging/gullibility_audits.html" if request.htmx else "judging/gullibility.html"
    return render(request, template, context, status=422 if form.errors else 200)


def _told(audit: GullibilityAudit) -> tuple[list[KindResult], str]:
    """Return what is known of a finished audit, and its sentence."""
    if audit.state != GullibilityAudit.State.DONE:
        return [], ""
    results = results_of(audit)
    return results, in_words(audit, results)
