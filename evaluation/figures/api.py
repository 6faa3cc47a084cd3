"""A study's figures: which there are, and the numbers of one."""

from __future__ import annotations

from rest_framework.request import Request
from rest_framework.response import Response

from collection.api_tools import study_of
from collection.web.api import chosen_by, figures_of, shows
from evaluation.figures.rests_on import rests_on
from evaluation.figures.serializers import FigureChoice


@shows("studies_figures", "The figures that the study’s judgments allow, by name, with their titles.")
def figures(request: Request, name: str) -> Response:
    from evaluation.figures.studies import offered_figures

    return Response({"figures": offered_figures(study_of(request, name))})


@shows("studies_figure", "The numbers of a figure, with what may be chosen for it.", FigureChoice)
def figure(request: Request, name: str, figure: str) -> Response:
    study = study_of(request, name)
    asked = chosen_by(request, FigureChoice) | rests_on(study, figure)
    return Response(
        figures_of(request, "evaluation.figures.studies:draw_figure", study, figure=figure, **asked).as_dict()
    )
