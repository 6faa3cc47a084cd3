"""The page that says whether a judge may be believed."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from collection.models import Criterion
from collection.views.account import SignedInRequest
from evaluation.alternative_annotator import EPSILONS
from evaluation.charts import draw
from evaluation.services.judges import JudgePairs
from evaluation.services.parts import times
from evaluation.services.populations import JudgeNotFound
from evaluation.services.trust import JudgeTrust, TestPartLocked, examine_judge, paired_judges
from evaluation.trust_charts import threshold_chart
from evaluation.views.chosen import chosen_criterion, criteria_of, criteria_queryset, json_file, my_study
from evaluation.views.downloads import TABLE_FORMATS, table_file


@require_safe
@login_required
def trust(request: SignedInRequest, name: str) -> HttpResponse:
    """One judge under one criterion: threshold, human ceiling, replacement test, audits."""
    study = my_study(request, name)
    criteria = criteria_of(study)
    chosen = chosen_criterion(criteria, request.GET.get("criterion"))

    pairs = paired_judges(chosen) if chosen else None
    found = _examined(request, chosen, pairs) if chosen and pairs and (pairs.pairs or pairs.tests) else None

    context = {
        "study": study,
        "criteria": criteria,
        "criterion": chosen,
        "pairs": pairs,
        "judges": sorted({pair.name for pair in (*pairs.pairs, *pairs.tests)}) if pairs else [],
        "trust": found,
        "epsilons": EPSILONS,
        "people_are": _people_are(request),
        "chosen": _query(chosen, found, request) if chosen and found else "",
    }
    return render(request, "evaluation/trust.html", context)


@require_safe
@login_required
def trust_json(request: SignedInRequest, name: str) -> HttpResponse:
    """Everything on the page, as JSON."""
    found = _asked_for(request, name)
    return json_file(found.as_dict(), f"{name}-{found.criterion}-trust.json")


@require_safe
@login_required
def trust_table(request: SignedInRequest, name: str, table: str, table_format: str) -> HttpResponse:
    """One of the page's tables, `thresholds` or `families`, as CSV or LaTeX."""
    found = _asked_for(request, name)
    tables = found.tables()
    if table not in tables or table_format not in TABLE_FORMATS:
        raise Http404("There is no such table.")
    part = "" if found.parts is None else f", {found.part} part (the test part was read {times(found.readings)})"
    caption = f"{table.capitalize()}: {found.name} under {found.criterion}, study {name}{part}"
    stem = f"{name}-{found.criterion}-{table}"
    return table_file(tables[table], table_format=table_format, stem=stem, caption=caption)


@require_safe
@login_required
def thresholds_chart(request: SignedInRequest, name: str, form: str) -> HttpResponse:
    """Precision, recall, F1 and κ over the thresholds, on the part that had no say (or, if it is locked, the other)."""
    found = _asked_for(request, name)
    if found.choice is None:
        raise Http404(found.choice_reason)
    shown = found.choice.reported_on or found.choice.chosen_on
    curves = {
        "precision of yes": [(one.at, one.positive.precision.value) for one in shown],
        "recall of yes": [(one.at, one.positive.recall.value) for one in shown],
        "F1 of yes": [(one.at, one.positive.f1.value) for one in shown],
        "Cohen’s κ": [(one.at, one.kappa.value) for one in shown],
    }
    if found.choice.reported_on:
        curves["κ on the part that chose"] = [(one.at, one.kappa.value) for one in found.choice.chosen_on]
    description = threshold_chart(curves, chosen=found.choice.at)
    if form == "json":
        return json_file(description, f"{name}-{found.criterion}-thresholds.vl.json")
    return HttpResponse(draw(description), content_type="image/svg+xml")


def _asked_for(request: SignedInRequest, name: str) -> JudgeTrust:
    """Return what a download's address asks for."""
    criterion = get_object_or_404(criteria_queryset(my_study(request, name)), name=request.GET.get("criterion"))
    return _examined(request, criterion, paired_judges(criterion))


def _examined(request: SignedInRequest, criterion: Criterion, pairs: JudgePairs) -> JudgeTrust:
    """Examine the judge on the part that is asked for. The test part is shown to whom has read it by POST alone."""
    try:
        return examine_judge(
            criterion,
            pairs,
            judge=request.GET.get("judge") or None,
            people_are=_people_are(request),
            on_test=request.GET.get("part") == "test",
        )
    except (JudgeNotFound, TestPartLocked) as error:
        raise Http404(str(error)) from error


def _people_are(request: SignedInRequest) -> str:
    """Who the people are, which decides what replacing them saves."""
    asked = request.GET.get("people", "skilled")
    return asked if asked in EPSILONS else "skilled"


def _query(criterion: Criterion, found: JudgeTrust, request: SignedInRequest) -> str:
    part = {"part": "test"} if found.part == "test" else {}
    return urlencode({"criterion": criterion.name, "judge": found.name, "people": _people_are(request), **part})
