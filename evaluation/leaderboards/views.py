"""Leaderboards and rank correlations between measures.

What computes them takes pandas, scipy and statsmodels: it is imported when a page asks for it, so that commands that
need no figures start without.
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
from collection.web.downloads import as_file, table_file
from collection.web.file_names import file_stem
from collection.web.options import with_asked
from collection.web.pages import (
    MOST_LISTED,
    asked_part,
    chart_file,
    figures_of,
    json_file,
    locked_is_not_found,
    my_study,
    refused_is_not_found,
)
from evaluation.data.visibility import in_words
from evaluation.leaderboards.forms import LeaderboardForm
from evaluation.leaderboards.measures.marks import names_of
from evaluation.leaderboards.serializers import WRITTEN_FORMS
from stats.refusals import Refused

if TYPE_CHECKING:
    from evaluation.leaderboards.leaderboard import Leaderboard

# People and five judges stay legible side by side. Of more, people and three judges are shown; all are a click away.
MOST_AT_FIRST = 6
MOST_IN_A_NAME = 3
TABLES = {
    "scores": "Scores",
    "topics": "Scores by topic",
    "pairs": "Pairs",
    "correlations": "Rank correlations",
    "flips": "Changed winners",
    "corrected": "Corrected scores",
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
        "evaluation_forms": WRITTEN_FORMS,
        "chosen_pairs": _pairs(request, form),
        "table_names": TABLES | ({"breakdown": "Breakdown"} if board and board.breakdown else {}),
        "mark_names": names_of(column.marks for column in board.columns) if board else {},
    }
    return render(request, "evaluation/leaderboard.html", context, status=422 if refusal else 200)


@require_safe
@login_required
def leaderboard_chart(request: SignedInRequest, name: str, form: str) -> HttpResponse:
    """The chart of systems’ scores, as SVG, PDF or the Vega-Lite description it is drawn from."""
    study = my_study(request, name)
    chosen, _ = _form(request, study)
    if not chosen.data["measure"]:
        raise Http404("There are no judgments yet.")
    if not chosen.is_valid():
        raise Http404(_errors(chosen))
    with refused_is_not_found():
        sort = request.GET.get("sort", "")
        chart = figures_of(
            request, "evaluation.computations:leaderboard_chart", study, sort=sort, **_asked(request, chosen)
        )
    whose = "people" if _without_judges(request) else ""
    on_test = "test" if asked_part(request) == "test" else ""
    order = chosen.cleaned_data["order"]
    stem = file_stem(name, chosen.cleaned_data["measure"], whose, on_test, "leaderboard", order=order)
    return chart_file(request, chart, form=form, stem=stem, nothing="No system has a score.")


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
    """One of the page's tables as CSV or LaTeX: `scores`, `topics`, `pairs`, `flips`, `correlations`, `corrected`."""
    from evaluation.leaderboards.export import tables_of_leaderboard

    board = _asked_for(request, name)
    tables = tables_of_leaderboard(board)
    caption = f"{table.capitalize()} under {board.measure.name}, study {name}{_in_words(board)}"
    return table_file(tables, table, table_format=table_format, stem=_stem(name, table, board), caption=caption)


@require_safe
@login_required
def leaderboard_evaluation(request: SignedInRequest, name: str) -> HttpResponse:
    """The page's scores as an evaluation file for each source: `form` says in which of the exchanged forms."""
    from evaluation.leaderboards.evaluation_files.values import evaluation_download

    form = request.GET.get("form", "")
    if form not in dict(WRITTEN_FORMS):
        raise Http404("There is no such form.")
    with refused_is_not_found():
        filename, content = evaluation_download(_asked_for(request, name), form=form)
    return as_file(content, filename.replace("/", "-"), "application/octet-stream")


def _in_words(found: Leaderboard) -> str:
    return in_words(found.sight, found.order)


def _has_points(board: Leaderboard) -> bool:
    from evaluation.leaderboards.leaderboard import score_points

    return bool(score_points(board))


def _stem(name: str, what: str, found: Leaderboard) -> str:
    """Return a download's name, with the measure and whose judgments it is by."""
    columns = found.columns
    whose = [column.name for column in columns] if len(columns) <= MOST_IN_A_NAME else [f"{len(columns)} sources"]
    return file_stem(name, found.measure.name, *whose, what, part=found.sight.part, order=found.order)


def _form(request: SignedInRequest, study: Study) -> tuple[LeaderboardForm, list[str]]:
    """Return the form with what was chosen, else with the first measure there is; and the measures there are."""
    from evaluation.leaderboards.available_measures import offered_measures
    from evaluation.leaderboards.breakdown import groupings
    from evaluation.leaderboards.sources import StudySources

    offered = offered_measures(study)
    data = {"measure": next(iter(offered), ""), "oracle": "", "confidence": "", **LeaderboardForm.usual()}
    data |= {key: value for key, value in request.GET.dict().items() if key in data and value}
    runs = [(name, name) for name in study.collection.runs.values_list("name", flat=True)]
    by = [(name, name) for name in groupings(StudySources(study))]
    choices = {"oracle": [("", "The run named “oracle”, if it exists"), *runs], "by": [("", "–"), *by]}
    return LeaderboardForm(data, choices=choices), with_asked(offered, data["measure"])


def _board(request: SignedInRequest, study: Study, form: LeaderboardForm) -> tuple[Leaderboard | None, str]:
    """Return the leaderboard that the form asks for, or why there is none; neither where nothing is judged yet."""
    if not form.data["measure"]:
        return None, ""
    if not form.is_valid():
        return None, _errors(form)
    try:
        with locked_is_not_found():
            return figures_of(request, "evaluation.computations:leaderboard", study, **_asked(request, form)), ""
    except Refused as refused:
        return None, str(refused)


def _errors(form: LeaderboardForm) -> str:
    return " ".join(str(error) for errors in form.errors.values() for error in errors)


def _asked(request: SignedInRequest, form: LeaderboardForm) -> dict[str, Any]:
    """Return what the leaderboard's computation is asked for."""
    return {
        **form.cleaned_data,
        "without_judges": _without_judges(request),
        "most_sources": None if _sources(request) == "all" else MOST_AT_FIRST,
        "part": asked_part(request),
    }


def _asked_for(request: SignedInRequest, name: str) -> Leaderboard:
    """Return the leaderboard that a download's address asks for."""
    study = my_study(request, name)
    board, refusal = _board(request, study, _form(request, study)[0])
    if board is None:
        raise Http404(refusal or "There are no judgments yet.")
    return board


def _sources(request: SignedInRequest) -> str:
    """Return whose judgments are asked for: people’s alone, all, or the first of all where this is empty."""
    asked = request.GET.get("sources", "")
    return asked if asked in ("people", "all") else ""


def _without_judges(request: SignedInRequest) -> bool:
    """Whether people are asked for alone, which no lock binds."""
    return _sources(request) == "people"


def _measured_by(form: LeaderboardForm) -> list[tuple[str, str]]:
    return [(key, str(value)) for key, value in form.data.items() if value]


def _pairs(request: SignedInRequest, form: LeaderboardForm) -> list[tuple[str, str]]:
    narrowed = [("sources", _sources(request))] if _sources(request) else []
    return [*_measured_by(form), *narrowed, *([("part", "test")] if asked_part(request) == "test" else [])]


def _chosen(request: SignedInRequest, form: LeaderboardForm) -> str:
    """Return the page's choices as a query for its links."""
    return urlencode(_pairs(request, form))
