"""The page that says whether a judge may be believed."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from collection.accounts.views import SignedInRequest
from collection.models import Criterion
from collection.web.downloads import table_file
from collection.web.file_names import file_stem
from collection.web.pages import (
    asked_criterion,
    chart_file,
    figures_of,
    json_file,
    refused_is_not_found,
    study_and_criterion,
)
from evaluation.data.judge_provenance import making_of
from evaluation.trust.page import Examination
from stats.judges.alt_test import EPSILONS
from stats.judges.text_level import RULES, Rule
from stats.plurals import times


@require_safe
@login_required
def trust(request: SignedInRequest, name: str) -> HttpResponse:
    """One judge under one criterion: threshold, human ceiling, replacement test, audits; and its grades rolled up."""
    study, criteria, chosen = study_and_criterion(request, name)

    found = _examined(request, chosen) if chosen else None

    context = {
        "study": study,
        "criteria": criteria,
        "criterion": chosen,
        "examination": found,
        "pairs": found.pairs if found else None,
        "trust": found.same_items if found else None,
        "rolled": found.rolled if found else None,
        "weak": bool(found and found.rolled and making_of(found.rolled.judge).weak),
        "epsilons": EPSILONS,
        "rules": RULES,
        "rule": _rule(request),
        "people_are": _people_are(request),
        "chosen": _query(found, request) if found and found.name else "",
    }
    return render(request, "evaluation/trust.html", context)


@require_safe
@login_required
def trust_json(request: SignedInRequest, name: str) -> HttpResponse:
    """Everything on the page, as JSON."""
    found = _asked_for(request, name)
    return json_file(found.as_dict(), f"{_stem(found, 'trust')}.json")


@require_safe
@login_required
def trust_table(request: SignedInRequest, name: str, table: str, table_format: str) -> HttpResponse:
    """One of the page's tables as CSV or LaTeX: `thresholds`, `families`, `contingency`, `rolled_up`."""
    found = _asked_for(request, name)
    what = table.replace("_", " ").capitalize()
    caption = f"{what}: {found.name} under {found.criterion}, study {name}{_part(found)}"
    return table_file(found.tables(), table, table_format=table_format, stem=_stem(found, table), caption=caption)


def _stem(found: Examination, what: str) -> str:
    """Return a download's name, with the judge's in it and the part of a split study."""
    return file_stem(found.criterion.study.name, found.criterion.name, found.name, what, part=found.part)


def _part(found: Examination) -> str:
    """Name the part that the figures rest on, where a study is split."""
    if found.same_items and found.same_items.parts:
        return f", {found.same_items.part} topics (test topics unlocked {times(found.same_items.readings)})"
    if found.rolled and found.rolled.parts:
        return f", {found.rolled.part} topics (test topics unlocked {times(found.rolled.readings)})"
    return ""


@require_safe
@login_required
def thresholds_chart(request: SignedInRequest, name: str, form: str) -> HttpResponse:
    """Precision, recall, F1 and κ over the thresholds, on the part that had no say (or, if it is locked, the other)."""
    criterion = asked_criterion(request, name)
    with refused_is_not_found():
        chart = figures_of(
            request, "evaluation.computations:thresholds_chart", criterion.study, **_asked(request, criterion)
        )
    if chart is None:
        found = _asked_for(request, name).same_items
        raise Http404(found.choice_reason if found else "Assessors and the judge have no item in common.")
    return chart_file(
        request, chart, form=form, stem=file_stem(name, criterion.name, request.GET.get("judge", ""), "thresholds")
    )


def _asked_for(request: SignedInRequest, name: str) -> Examination:
    """Return what a download's address asks for."""
    found = _examined(request, asked_criterion(request, name))
    if not found.name:
        raise Http404("No judge can be compared with humans yet.")
    return found


def _examined(request: SignedInRequest, criterion: Criterion) -> Examination:
    """Examine the judge on the part that is asked for. The test part is shown to whom has read it by POST alone."""
    with refused_is_not_found():
        found: Examination = figures_of(
            request, "evaluation.computations:examination", criterion.study, **_asked(request, criterion)
        )
    return found


def _asked(request: SignedInRequest, criterion: Criterion) -> dict[str, Any]:
    """Return what the examination is asked for."""
    return {
        "criterion": criterion.pk,
        "judge": request.GET.get("judge") or None,
        "people_are": _people_are(request),
        "on_test": request.GET.get("part") == "test",
        "against": request.GET.get("against", ""),
        "rule": _rule(request),
    }


def _people_are(request: SignedInRequest) -> str:
    """Who the people are, which decides what replacing them saves."""
    asked = request.GET.get("people", "skilled")
    return asked if asked in EPSILONS else "skilled"


def _rule(request: SignedInRequest) -> Rule:
    """How the judge's grades of a text become one."""
    return "answered" if request.GET.get("rule") == "answered" else "highest"


def _query(found: Examination, request: SignedInRequest) -> str:
    chosen = {"criterion": found.criterion.name, "judge": found.name, "people": _people_are(request)}
    if found.rolled:
        chosen |= {"rule": found.rolled.rule}
    if request.GET.get("against"):
        chosen |= {"against": request.GET["against"]}
    return urlencode(chosen | ({"part": "test"} if found.on_test else {}))
