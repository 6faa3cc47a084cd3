"""The report of several measures side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.http import HttpRequest

from collection.models import Criterion, Study
from collection.rankings import ORDERS
from collection.web.pages import query_without
from collection.web.reports import Chart
from collection.web.tables import Table
from evaluation.leaderboards.measures.marks import names_of
from evaluation.leaderboards.reports import BoardsReport, sources_named
from evaluation.leaderboards.serializers import MOST_COLUMNS, MeasuresChoice
from stats.ranking.common_topics import TOPICS

if TYPE_CHECKING:
    from evaluation.leaderboards.sources import JudgmentLoader, Source


class MeasuresBoardReport(BoardsReport):
    name, path, file = "measures_board", "leaderboard/measures", "measures"
    title = "Several measures"
    lead = "Systems by several measures side by side."
    about = "A study's systems by several measures, side by side."
    command = "board measures"
    options = MeasuresChoice
    compute = "evaluation.leaderboards.computing:measures_board"
    charts = {"systems": Chart("evaluation.leaderboards.measures.chart:board_chart", stem="measures")}
    template = "evaluation/measures_board.html"

    def as_dict(self, result: Any) -> dict[str, Any]:
        from evaluation.leaderboards.measures.export import board_as_dict

        return board_as_dict(result)

    def tables(self, result: Any) -> Mapping[str, Table]:
        from evaluation.leaderboards.measures.export import tables_of_board

        return tables_of_board(result)

    def stem(self, subject: Study | Criterion, result: Any, *what: str) -> str:
        return super().stem(subject, result, "measures", *("board" if one == "measures" else one for one in what))

    def caption(self, subject: Study | Criterion, result: Any, table: Table) -> str:
        return f"{super().caption(subject, result, table)}. {table.note}".rstrip()

    def sources_shown(self, loader: JudgmentLoader, chosen: Mapping[str, Any]) -> list[Source]:
        return sources_named(loader, chosen)

    def context(self, request: HttpRequest, study: Study, result: Any) -> dict[str, Any]:
        groups = result.groups() if result else []
        return {
            "board": result,
            "groups": groups,
            "sort": request.GET.get("sort", ""),
            "column_choices": [(key, shown, key in result.keys) for key, shown in result.choices] if result else [],
            "runs": list(study.collection.runs.values_list("name", flat=True)),
            "orders": ORDERS,
            "topic_choices": TOPICS,
            "oracle": request.GET.get("oracle", ""),
            "topics": request.GET.get("topics", ""),
            "most_columns": MOST_COLUMNS,
            "query_unsorted": query_without(request, "shown", "sort"),
            "correlated": urlencode([("column", key) for key in result.keys]) if result else "",
            "mark_names": names_of(one and one.marks for group in groups for one in group.spreads),
            "n_columns": 1 + len(result.columns) if result else 0,
        }
