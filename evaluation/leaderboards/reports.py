"""Reports about systems: how far measures put them in the same order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, QueryDict

from collection.models import Criterion, Study
from collection.web.options import with_asked
from collection.web.reports import Chart, Report
from evaluation.leaderboards.serializers import CorrelationsChoice


class CorrelationsReport(Report):
    name, path, file = "correlations", "leaderboard/correlations", "correlations"
    api_path = "correlations"
    title = "Correlations between measures"
    lead = "Whether measures, thresholds and values of k rank the systems in the same order."
    about = "How far measures put the systems in the same order, two by two, at other thresholds and values of k."
    options = CorrelationsChoice
    compute = "evaluation.leaderboards.computing:correlations"
    charts = {"matrix": Chart("evaluation.leaderboards.measures.chart:matrix_chart", stem="correlations")}
    template = "evaluation/correlations.html"

    def asked_in(self, query: QueryDict) -> dict[str, Any]:
        """Return what an address asks; `also` names measures with semicolons between."""
        asked = super().asked_in(query)
        also = [name.strip() for name in query.get("also", "").split(";") if name.strip()]
        return asked | ({"column": [*asked.get("column", []), *also]} if also else {})

    def context(self, request: HttpRequest, study: Study, result: Any) -> dict[str, Any]:
        from evaluation.leaderboards.available_measures import offered_measures
        from evaluation.leaderboards.measure_correlations import COEFFICIENTS

        offered = [one for one in offered_measures(study) if "@" in one or one.startswith(("coverage", "AP("))]
        return {
            "offered": with_asked(offered, result.varied if result else ""),
            "asked": "; ".join(board.key for board in result.boards) if result else "",
            "columns": self.asked_in(request.GET).get("column", []),
            "coefficients": COEFFICIENTS,
            "coefficient_name": COEFFICIENTS[result.coefficient] if result else "",
        }

    def read_test_part(self, subject: Study | Criterion, chosen: Mapping[str, Any]) -> None:
        from evaluation.leaderboards.divergence import asked_of
        from evaluation.leaderboards.sources import StudySources
        from evaluation.management.leaderboards import read_test_parts

        assert isinstance(subject, Study)
        boards = StudySources(subject, **{name: chosen[name] for name in ("combine", "oracle", "order")})
        read_test_parts(boards, [asked_of(boards, key)[1] for key in chosen["column"]])
