"""Leaderboards, and what two measures make of the same systems."""

from __future__ import annotations

from rest_framework.request import Request
from rest_framework.response import Response

from collection.api_tools import study_of
from evaluation.leaderboards.serializers import DivergenceChoice, LeaderboardChoice
from evaluation.parameters.api import chosen_by, figures_of, shows


@shows(
    "studies_leaderboard",
    "Systems scored with each source of judgments, with intervals, and the agreement of the sources.",
    LeaderboardChoice,
)
def leaderboard(request: Request, name: str) -> Response:
    # It takes pandas, which a web process that serves assessors does without.
    from evaluation.leaderboards.export import leaderboard_as_dict

    study = study_of(request, name)
    chosen = chosen_by(request, LeaderboardChoice)
    sources = chosen.pop("source")
    return Response(leaderboard_as_dict(figures_of(request, "leaderboard", study, sources=sources, **chosen)))


@shows(
    "studies_divergence",
    "The rank of each system by two measures, or two sources of judgments; the most divergent first.",
    DivergenceChoice,
)
def divergence(request: Request, name: str) -> Response:
    found = figures_of(request, "divergence", study_of(request, name), **chosen_by(request, DivergenceChoice))
    return Response(found.as_dict())
