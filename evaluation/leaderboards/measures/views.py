"""The board of several measures: page, chart and files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from collection.accounts.views import SignedInRequest
from collection.models import Study
from collection.rankings import ORDERS
from collection.web.downloads import table_file
from collection.web.file_names import file_stem
from collection.web.options import choose
from collection.web.pages import (
    chart_file,
    figures_of,
    json_file,
    locked_is_not_found,
    my_study,
    query_without,
    refused_is_not_found,
)
from evaluation.data.visibility import in_words
from evaluation.leaderboards.measures.marks import names_of
from evaluation.leaderboards.serializers import MOST_COLUMNS, MeasuresChoice
from stats.ranking.common_topics import TOPICS
from stats.refusals import Refused

if TYPE_CHECKING:
    from evaluation.leaderboards.measures.board import MeasuresBoard

TABLES = {"scores": "Scores", "topics": "Scores by topic", "marks": "Minimum, median, maximum"}


@require_safe
@login_required
def measures_board(request: SignedInRequest, name: str) -> HttpResponse:
    """Systems by several measures, each by whose judgments is chosen."""
    from evaluation.leaderboards.available_measures import offered_measures

    study = my_study(request, name)
    board, sort, refusal = None, "", ""
    if offered_measures(study):
        try:
            with locked_is_not_found():
                board, sort = _board(request, study)
        except Refused as refused:
            refusal = str(refused)

    groups = board.groups(sort) if board else []
    context = {
        "study": study,
        "board": board,
        "groups": groups,
        "sort": sort,
        "refusal": refusal,
        "choices": _choices(board),
        "runs": list(study.collection.runs.values_list("name", flat=True)),
        "orders": ORDERS,
        "topic_choices": TOPICS,
        "oracle": request.GET.get("oracle", ""),
        "topics": request.GET.get("topics", ""),
        "most_columns": MOST_COLUMNS,
        "chosen": query_without(request, "shown", "sort"),
        "chosen_and_sorted": query_without(request, "shown"),
        "chosen_anywhere": query_without(request, "shown", "part"),
        "correlated": urlencode([("column", key) for key in board.keys]) if board else "",
        "sight": board.sight if board else None,
        "table_names": TABLES,
        "mark_names": names_of(one and one.marks for group in groups for one in group.spreads),
        "n_columns": 1 + len(board.columns) if board else 0,
    }
    return render(request, "evaluation/measures_board.html", context, status=422 if refusal else 200)


@require_safe
@login_required
def measures_chart(request: SignedInRequest, name: str, form: str) -> HttpResponse:
    """The figure of the board, as SVG, PDF or the Vega-Lite description it is drawn from."""
    study = my_study(request, name)
    with refused_is_not_found():
        chart = figures_of(request, "evaluation.computations:measures_chart", study, **_asked(request))
    return chart_file(request, chart, form=form, stem=file_stem(name, "measures"), nothing="No system has a score.")


@require_safe
@login_required
def measures_json(request: SignedInRequest, name: str) -> HttpResponse:
    """Everything on the page, as JSON."""
    from evaluation.leaderboards.measures.export import board_as_dict

    board, sort = _asked_for(request, name)
    return json_file(board_as_dict(board, sort), f"{_stem(name, 'board', board)}.json")


@require_safe
@login_required
def measures_table(request: SignedInRequest, name: str, table: str, table_format: str) -> HttpResponse:
    """One of the page's tables: `board` (in LaTeX as a paper prints it), `scores`, `topics` or `marks`."""
    from evaluation.leaderboards.measures.export import paper_table, tables_of_board

    board, sort = _asked_for(request, name)
    tables = tables_of_board(board, sort)
    if table_format == "tex":
        tables["board"] = paper_table(board, sort)
    over = " or ".join(map(str, board.n_topics))
    caption = (
        f"Mean ± standard error over {over} topics, study {name}{in_words(board.sight, board.order)}. Bold: best; "
        "underlined: worst; ** above the 85th, * above the 75th percentile"
        if table == "board"
        else f"{TABLES.get(table, table)}, study {name}{in_words(board.sight, board.order)}"
    )
    return table_file(tables, table, table_format=table_format, stem=_stem(name, table, board), caption=caption)


def _stem(name: str, what: str, board: MeasuresBoard) -> str:
    return file_stem(name, "measures", what, part=board.sight.part, order=board.order)


def _asked(request: SignedInRequest) -> dict[str, Any]:
    """Return what the address asks for. Raises Refused."""
    given: dict[str, Any] = {key: value for key, value in request.GET.dict().items() if value}
    also = [one.strip() for one in request.GET.get("also", "").split(";")]
    given["column"] = [*filter(None, request.GET.getlist("column")), *filter(None, also)]
    given["apart"] = list(filter(None, request.GET.getlist("apart")))
    return choose(MeasuresChoice, given)


def _board(request: SignedInRequest, study: Study) -> tuple[MeasuresBoard, str]:
    """Return the board that the address asks for, and by which column it is sorted. Raises Refused."""
    asked = _asked(request)
    sort = asked.pop("sort")
    return figures_of(request, "evaluation.computations:measures_board", study, **asked), sort


def _asked_for(request: SignedInRequest, name: str) -> tuple[MeasuresBoard, str]:
    with refused_is_not_found():
        return _board(request, my_study(request, name))


def _choices(board: MeasuresBoard | None) -> list[tuple[str, str, bool]]:
    """Return the columns that may be chosen: what each is asked for by, how it is called, and whether it is chosen."""
    return [(key, shown, key in board.keys) for key, shown in board.choices] if board else []
