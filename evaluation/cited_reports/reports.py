"""Cited reports: how well their citations support them, by one source, and ARGUE's figures of each run."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from collection.web.options import Choices
from evaluation.data.study_reports import StudyReport


class CitedReportsChoice(serializers.Serializer[Any]):
    """Whose judgments."""

    source = serializers.CharField(  # type: ignore[assignment]  # a parameter's name, and DRF's own
        default="", label="Judgments of", help_text="People, or a judge; default: the first that judged citations."
    )


class CitedReportsReport(StudyReport):
    name, path, file = "cited_reports", "reports", "cited-reports"
    title = "Cited reports"
    lead = "Each report with how well its citations support it, by the judgments of people or of a judge."
    command = "board cited-reports"
    about = "Cited reports by the support of their citations, and ARGUE’s figures of each run, micro and macro."
    options, shown = CitedReportsChoice, ("source",)
    compute = "evaluation.cited_reports.reading:read_reports"
    nothing = "No citation is judged yet."
    template = "evaluation/cited_reports.html"

    def choices(self, result: Any) -> dict[str, Choices]:
        return {"source": [(name, name) for name in result.names]}

    def missing(self, result: Any) -> str:
        return "" if result.names else self.nothing
