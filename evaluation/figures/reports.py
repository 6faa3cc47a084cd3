"""The figures of a study: which there are, and each with its picture and its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from collection.models import Criterion, Study
from collection.web.options import Choices
from collection.web.reports import Chart
from evaluation.data.study_reports import StudyReport
from evaluation.figures.serializers import FigureChoice


class FiguresReport(StudyReport):
    name, path, file = "figures", "figures", "figures"
    title = "Figures"
    lead = "Pictures of what was judged, each with its numbers and files for a paper."
    about = "The figures that the study’s judgments allow, by name, with their titles."
    compute = "evaluation.figures.studies:figures_of"
    template = "evaluation/figures.html"


class FigureReport(StudyReport):
    name, path, file = "figure", "figures/<slug:figure>", "figure"
    title = "Figure"
    about = "The numbers of a figure, with what may be chosen for it."
    command = "study figure"
    options, addressed = FigureChoice, ("figure",)
    shown = ("source", "topic", "criterion", "judge", "measure", "by", "unit", "edges")
    compute = "evaluation.figures.studies:draw_figure"
    charts = {"figure": Chart("evaluation.figures.studies:description_of", stem="")}
    template = "evaluation/figure_of_study.html"

    def choices(self, result: Any) -> dict[str, Choices]:
        """Return what may be chosen for this figure, the first of each unless another is; nothing of other options."""
        return {name: result.choices.get(name, []) for name in self.shown if name not in result.typed}

    def stem(self, subject: Study | Criterion, result: Any, *what: str) -> str:
        return super().stem(subject, result, *([result.name] if result else []), *what)

    def chart_words(self, chosen: Mapping[str, Any]) -> list[str]:
        return [chosen["figure"]]
