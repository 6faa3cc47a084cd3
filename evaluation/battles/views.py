"""The page of a study's battles: systems in order by people and by each judge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.timezone import now
from django.views.decorators.http import require_POST, require_safe

from collection.accounts.views import SignedInRequest
from collection.models import Draw, Study
from collection.models.studies import TaskType
from collection.web.downloads import table_file
from collection.web.file_names import file_stem
from collection.web.options import REFUSALS
from collection.web.pages import (
    chart_file,
    figures_of,
    json_file,
    my_study,
    query_without,
)
from evaluation.battles.forms import BattlesForm, RoundForm
from stats.plurals import counted

if TYPE_CHECKING:
    from evaluation.battles.battles import Battles


@require_safe
@login_required
def battles(request: SignedInRequest, name: str) -> HttpResponse:
    """What the battles say, or how to ask for some."""
    study = my_study(request, name)
    form = _form(request)
    found = _found(request, study, form) if form.is_valid() else None
    context = {"study": study, "form": form, "found": found, "query": query_without(request, "shown")}
    context |= _next_round(study) | {"round_form": RoundForm()}
    return render(request, "evaluation/battles.html", context, status=422 if form.errors else 200)


@require_POST
@login_required
def battles_draw(request: SignedInRequest, name: str) -> HttpResponse:
    """Draw the pairs that people compare next; then back to the page, which opens them."""
    from evaluation.battles.rounds import draw_next_pairs

    study, form = my_study(request, name), RoundForm(request.POST)
    if form.is_valid():
        try:
            made = draw_next_pairs(study, n=form.cleaned_data["n"], at=now())
        except REFUSALS as refused:
            form.add_error("n", str(refused))
        else:
            messages.success(request, f"{counted(made.drawn, 'pairs')} drawn. Open them to your assessors below.")
            return redirect("evaluation:battles", name)

    context = {"study": study, "form": _form(request), "found": None, "round_form": form} | _next_round(study)
    return render(request, "evaluation/battles.html", context, status=422)


@require_safe
@login_required
def battles_json(request: SignedInRequest, name: str) -> HttpResponse:
    """Everything on the page, as JSON."""
    return json_file(_asked_for(request, name).as_dict(), f"{file_stem(name, 'battles')}.json")


@require_safe
@login_required
def battles_table(request: SignedInRequest, name: str, table: str, table_format: str) -> HttpResponse:
    """One of the page's tables, `systems` or `against`, as CSV or LaTeX."""
    found = _asked_for(request, name)
    caption = f"Battles of study {name}: {table}"
    stem = file_stem(name, "battles", table)
    return table_file(found.tables(), table, table_format=table_format, stem=stem, caption=caption)


@require_safe
@login_required
def battles_chart(request: SignedInRequest, name: str, form: str) -> HttpResponse:
    """Who wins against whom, by one source's votes, as SVG, PDF or its Vega-Lite description."""
    study, chosen = my_study(request, name), _form(request)
    if not chosen.is_valid():
        raise Http404("These options do not exist.")
    voters = request.GET.get("voters", "")
    chart = figures_of(request, "battles_chart", study, voters=voters, **_asked(chosen))
    return chart_file(request, chart, form=form, stem=file_stem(name, voters, "battles"), nothing="There are no votes.")


def _next_round(study: Study) -> dict[str, Any]:
    """Return how many pairs were never drawn, and how many drawn ones wait for their tasks or a vote."""
    pairs = study.items.filter(task_type=TaskType.BATTLE)
    drawn = Draw.objects.filter(item__study=study, item__task_type=TaskType.BATTLE)
    return {
        "asks": study.criteria.filter(task_type=TaskType.BATTLE).exists(),
        "n_undrawn": pairs.filter(draws__isnull=True).count(),
        "n_waiting": drawn.filter(item__judgments__isnull=True).values("item").distinct().count(),
    }


def _form(request: SignedInRequest) -> BattlesForm:
    return BattlesForm(QueryDict(query_without(request, "shown", "voters")))


def _asked(form: BattlesForm) -> dict[str, Any]:
    chosen = form.cleaned_data
    return {"side": not chosen["no_side"], "penalty": chosen["penalty"]}


def _found(request: SignedInRequest, study: Study, form: BattlesForm) -> Battles | None:
    found: Battles | None = figures_of(request, "battles", study, **_asked(form))
    return found


def _asked_for(request: SignedInRequest, name: str) -> Battles:
    """Return what a download's address asks for."""
    study, form = my_study(request, name), _form(request)
    found = _found(request, study, form) if form.is_valid() else None
    if found is None:
        raise Http404("There are no votes.")
    return found
