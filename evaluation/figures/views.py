"""A study's figures: the list of them, and each with its numbers and its files."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from collection.accounts.views import SignedInRequest
from collection.models import Study
from collection.web.downloads import table_download
from collection.web.file_names import file_stem
from collection.web.options import choose
from collection.web.pages import (
    chart_file,
    figures_of,
    locked_is_not_found,
    my_study,
    query_without,
    refused_is_not_found,
)
from evaluation.data.visibility import in_words
from evaluation.figures.rests_on import rests_on
from evaluation.figures.serializers import FigureChoice
from stats.refusals import Refused

DRAW = "evaluation.figures.studies:draw_figure"


@require_safe
@login_required
def figures(request: SignedInRequest, name: str) -> HttpResponse:
    """What there is to draw of the study."""
    from evaluation.figures.studies import OF_TEXTS, offered_figures

    study = my_study(request, name)
    offered = offered_figures(study)
    context = {"study": study, "offered": offered, "judged": offered.keys() - OF_TEXTS}
    return render(request, "evaluation/figures.html", context)


@require_safe
@login_required
def figure(request: SignedInRequest, name: str, figure: str) -> HttpResponse:
    """One figure, with its numbers beside it."""
    study = my_study(request, name)
    found, refusal = None, ""
    try:
        with locked_is_not_found():
            found = _figures(request, study, DRAW, figure)
    except Refused as refused:
        refusal = str(refused)

    labels = FigureChoice().fields
    context = {
        "study": study,
        "figure": figure,
        "found": found,
        "refusal": refusal,
        "options": [(one, labels[one].label, of, found.chosen[one]) for one, of in found.choices.items()]
        if found
        else [],
        "typed": [(option, labels[option], value) for option, value in found.typed.items()] if found else [],
        "tables": found.tables() if found else {},
        "chosen": query_without(request, "shown"),
        "chosen_anywhere": query_without(request, "shown", "part"),
        "sight": found.sight if found else None,
    }
    return render(request, "evaluation/figure_of_study.html", context, status=422 if refusal else 200)


@require_safe
@login_required
def figure_chart(request: SignedInRequest, name: str, figure: str, form: str) -> HttpResponse:
    """The picture, as SVG, PDF or the Vega-Lite description it is drawn from."""
    study = my_study(request, name)
    with refused_is_not_found():
        chart = _figures(request, study, "evaluation.figures.studies:picture_of", figure)
    return chart_file(request, chart, form=form, stem=file_stem(name, figure))


@require_safe
@login_required
def figure_table(request: SignedInRequest, name: str, figure: str, table: str, table_format: str) -> HttpResponse:
    """The numbers beside the picture, or all that it shows, as CSV or LaTeX."""
    study = my_study(request, name)
    with refused_is_not_found():
        found = _figures(request, study, DRAW, figure)
    wanted = found.tables().get(table)
    if wanted is None:
        raise Http404("This table does not exist.")
    caption = f"{found.title}, study {name}{in_words(found.sight, 'score')}"
    return table_download(wanted, table_format=table_format, stem=file_stem(name, figure, table), caption=caption)


def _figures(request: SignedInRequest, study: Study, kind: str, figure: str) -> Any:
    """Return the figure, or its picture, that the address asks for. Raises Refused."""
    with refused_is_not_found():
        asked = choose(FigureChoice, {key: value for key, value in request.GET.dict().items() if value})
    return figures_of(request, kind, study, figure=figure, **asked, **rests_on(study, figure))
