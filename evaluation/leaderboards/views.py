"""Leaderboards and rank correlations between measures.

What computes them takes pandas, scipy and statsmodels, which are imported when a page asks for it: a web process that
serves assessors does without.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from collection.accounts.views import SignedInRequest
from collection.models import Study
from evaluation.data.visibility import in_words
from evaluation.leaderboards.forms import LeaderboardForm
from evaluation.parameters.downloads import table_file
from evaluation.parameters.pages import (
    asked_part,
    chart_file,
    figures_of,
    json_file,
    locked_is_not_found,
    my_study,
    query_without,
    refused_is_not_found,
)
from stats.refusals import Refused

if TYPE_CHECKING:
    from evaluation.leaderboards.leaderboard import Leaderboard
    from evaluation.leaderboards.measure_correlations import MeasureCorrelations

MOST_LISTED = 100
TABLES = {
    "scores": "Scores",
    "topics": "Scores by topic",
    "pairs": "Pairs",
    "correlations": "Rank correlations",
    "flips": "Changed winners",
}
CORRELATION_TABLES = {
    "matrix": "Matrix",
    "thresholds": "Thresholds",
    "sizes": "Values of k",
    "divergent": "Divergent systems",
}
MARKS = {
    "minimum": "Minimum",
    "median": "Median",
    "maximum": "Maximum",
    "percentile_75": "75th percentile",
    "percentile_85": "85th percentile",
}


@require_safe
@login_required
def leaderboard(request: SignedInRequest, name: str) -> HttpResponse:
    """Systems under one measure, by every source of judgments."""
    study = my_study(request, name)
    form, offered = _form(request, study)

    board, refusal = _board(request, study, form)

    sort = request.GET.get("sort", "")
    context = {
        "study": study,
        "form": form,
        "offered": offered,
        "measure": form["measure"].value(),
        "board": board,
        "rows": board.rows(sort) if board else (),
        "drawn": board is not None and _has_points(board),
        "sort": sort,
        "refusal": refusal,
        "chosen": _chosen(request, form),
        "chosen_and_sorted": urlencode([*_pairs(request, form), *([("sort", sort)] if sort else [])]),
        "chosen_anywhere": urlencode(_measured_by(form)),
        "sight": board.sight if board else None,
        "without_judges": _without_judges(request),
        "most_listed": MOST_LISTED,
        "table_names": TABLES | ({"breakdown": "Breakdown"} if board and board.breakdown else {}),
        "mark_names": _mark_names(board),
    }
    return render(request, "evaluation/leaderboard.html", context, status=422 if refusal else 200)


@require_safe
@login_required
def leaderboard_chart(request: SignedInRequest, name: str, form: str) -> HttpResponse:
    """The chart of systems' scores, as SVG or as the Vega-Lite description it is drawn from."""
    study = my_study(request, name)
    chosen, _ = _form(request, study)
    if not chosen.data["measure"]:
        raise Http404("There are no judgments yet.")
    if not chosen.is_valid():
        raise Http404(_errors(chosen))
    with refused_is_not_found():
        sort = request.GET.get("sort", "")
        chart = figures_of(request, "leaderboard_chart", study, sort=sort, **_asked(request, chosen))
    return chart_file(chart, form=form, filename=f"{name}-leaderboard.vl.json", nothing="No system has a score.")


@require_safe
@login_required
def leaderboard_json(request: SignedInRequest, name: str) -> HttpResponse:
    """Everything on the page, as JSON."""
    from evaluation.leaderboards.export import leaderboard_as_dict

    board = _asked_for(request, name)
    return json_file(leaderboard_as_dict(board), f"{_stem(name, 'leaderboard', board)}.json")


@require_safe
@login_required
def leaderboard_table(request: SignedInRequest, name: str, table: str, table_format: str) -> HttpResponse:
    """One of the page's tables as CSV or LaTeX: `scores`, `topics`, `pairs`, `flips` or `correlations`."""
    from evaluation.leaderboards.export import tables_of_leaderboard

    board = _asked_for(request, name)
    tables = tables_of_leaderboard(board)
    caption = f"{table.capitalize()} under {board.measure.name}, study {name}{_in_words(board)}"
    return table_file(tables, table, table_format=table_format, stem=_stem(name, table, board), caption=caption)


@require_safe
@login_required
def correlations(request: SignedInRequest, name: str) -> HttpResponse:
    """Whether measures, thresholds and values of k rank the systems in the same order."""
    from evaluation.leaderboards.measure_correlations import COEFFICIENTS

    study = my_study(request, name)

    found, offered, refusal = _correlations(request, study)

    context = {
        "study": study,
        "found": found,
        "offered": [measure for measure in offered if "@" in measure or measure.startswith(("coverage", "AP("))],
        "coefficients": COEFFICIENTS,
        "coefficient_name": COEFFICIENTS[found.coefficient] if found else "",
        "refusal": refusal,
        "chosen": query_without(request, "shown"),
        "chosen_anywhere": query_without(request, "shown", "part"),
        "sight": found.sight if found else None,
        "variant_names": CORRELATION_TABLES,
    }
    return render(request, "evaluation/correlations.html", context, status=422 if refusal else 200)


@require_safe
@login_required
def correlations_table(request: SignedInRequest, name: str, table: str, table_format: str) -> HttpResponse:
    """One of the page's tables as CSV or LaTeX: `matrix`, `thresholds` or `sizes`."""
    found, _, refusal = _correlations(request, my_study(request, name))
    if found is None:
        raise Http404(refusal or "There are no judgments yet.")
    caption = f"Rank correlation of measures ({table}), study {name}{_in_words(found)}"
    return table_file(found.tables(), table, table_format=table_format, stem=_stem(name, table, found), caption=caption)


def _in_words(found: Leaderboard | MeasureCorrelations) -> str:
    return in_words(found.sight, found.order)


def _mark_names(board: Leaderboard | None) -> dict[str, str]:
    """Return the marks that the systems of any source have."""
    marks = [column.marks for column in board.columns] if board else []
    return {mark: label for mark, label in MARKS.items() if any(getattr(one, mark, None) is not None for one in marks)}


def _has_points(board: Leaderboard) -> bool:
    from evaluation.leaderboards.leaderboard import score_points

    return bool(score_points(board))


def _stem(name: str, what: str, found: Leaderboard | MeasureCorrelations) -> str:
    """Return a download's name; the part of a split study is in it, and an order of passages by rank."""
    part = "" if found.sight.part == "all" else f"-{found.sight.part}"
    return f"{name}{part}-{what}{'-by-rank' if found.order == 'rank' else ''}"


def _form(request: SignedInRequest, study: Study) -> tuple[LeaderboardForm, list[str]]:
    """Return the form with what was chosen, else with the first measure there is; and the measures there are."""
    from evaluation.leaderboards.available_measures import offered_measures
    from evaluation.leaderboards.breakdown import groupings
    from evaluation.leaderboards.sources import StudySources

    offered = offered_measures(study)
    data = {"measure": next(iter(offered), ""), "oracle": "", **LeaderboardForm.usual()}
    data |= {key: value for key, value in request.GET.dict().items() if key in data and value}
    runs = [(name, name) for name in study.collection.runs.values_list("name", flat=True)]
    by = [(name, name) for name in groupings(StudySources(study))]
    choices = {"oracle": [("", "The run named “oracle”, if it exists"), *runs], "by": [("", "–"), *by]}
    return LeaderboardForm(data, choices=choices), offered


def _board(request: SignedInRequest, study: Study, form: LeaderboardForm) -> tuple[Leaderboard | None, str]:
    """Return the leaderboard that the form asks for, or why there is none; neither where nothing is judged yet."""
    if not form.data["measure"]:
        return None, ""
    if not form.is_valid():
        return None, _errors(form)
    try:
        with locked_is_not_found():
            return figures_of(request, "leaderboard", study, **_asked(request, form)), ""
    except Refused as refused:
        return None, str(refused)


def _errors(form: LeaderboardForm) -> str:
    return " ".join(str(error) for errors in form.errors.values() for error in errors)


def _asked(request: SignedInRequest, form: LeaderboardForm) -> dict[str, Any]:
    """Return what the leaderboard's computation is asked for."""
    return {**form.cleaned_data, "without_judges": _without_judges(request), "part": asked_part(request)}


def _asked_for(request: SignedInRequest, name: str) -> Leaderboard:
    """Return the leaderboard that a download's address asks for."""
    study = my_study(request, name)
    board, refusal = _board(request, study, _form(request, study)[0])
    if board is None:
        raise Http404(refusal or "There are no judgments yet.")
    return board


def _correlations(request: SignedInRequest, study: Study) -> tuple[MeasureCorrelations | None, list[str], str]:
    """Return the correlations that are asked for, the measures there are, and why there are no correlations."""
    from evaluation.leaderboards.available_measures import offered_measures
    from evaluation.leaderboards.measure_correlations import COEFFICIENTS
    from stats.ranking.answer_measures import group_of

    offered = offered_measures(study)
    if not offered:
        return None, offered, ""
    asked = request.GET.get("coefficient", "")
    try:
        with locked_is_not_found():
            found = figures_of(
                request,
                "correlations",
                study,
                order="rank" if request.GET.get("order") == "rank" else "score",
                measures=[one for one in offered if not one.startswith("density") and not group_of(one)],
                coefficient=next((one for one in COEFFICIENTS if one == asked), "kendall"),
                reference=request.GET.get("reference", ""),
                varied=request.GET.get("measure", ""),
                other=request.GET.get("other", ""),
                also=offered,
                part=asked_part(request),
            )
    except Refused as refused:
        return None, offered, str(refused)
    return found, offered, ""


def _without_judges(request: SignedInRequest) -> bool:
    """Whether people are asked for alone, which no lock binds."""
    return request.GET.get("sources") == "people"


def _measured_by(form: LeaderboardForm) -> list[tuple[str, str]]:
    return [(key, str(value)) for key, value in form.data.items() if value]


def _pairs(request: SignedInRequest, form: LeaderboardForm) -> list[tuple[str, str]]:
    narrowed = [("sources", "people")] if _without_judges(request) else []
    return [*_measured_by(form), *narrowed, *([("part", "test")] if asked_part(request) == "test" else [])]


def _chosen(request: SignedInRequest, form: LeaderboardForm) -> str:
    """Return the page's choices as a query for its links."""
    return urlencode(_pairs(request, form))
