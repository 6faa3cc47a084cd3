"""Leaderboards, and what two measures make of the same systems."""

from __future__ import annotations

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from collection.rankings import ORDERS
from evaluation.parameters.api import chosen_by, figures_of, refused_as_bad_request, study_of
from stats.ranking.common_topics import TOPICS


class LeaderboardRules(serializers.Serializer[Any]):
    """By which rules judgments become scores, and of which part of a study that is split."""

    combine = serializers.ChoiceField(choices=["majority", "median"], default="majority")
    order = serializers.ChoiceField(
        choices=list(ORDERS),
        default="score",
        help_text="Passages of a ranking by score as trec_eval, or by rank.",
    )
    oracle = serializers.CharField(required=False, help_text="The run whose passages define what can be answered.")
    part = serializers.ChoiceField(
        choices=["development", "test"],
        default="development",
        help_text="If the study is split and a judge is among the sources.",
    )


class LeaderboardChoice(LeaderboardRules):
    """Which measure, whose judgments, and by which rules."""

    measure = serializers.CharField(help_text="coverage, Cover@20>=3, alpha-nDCG@10, nDCG@20, P(rel=η)@5, …")
    source = serializers.ListField(  # type: ignore[assignment]  # a parameter's name, and DRF's own
        child=serializers.CharField(), default=list, help_text="people, a judge; or all."
    )
    topics = serializers.ChoiceField(
        choices=list(TOPICS),
        default="common",
        help_text="Topics that every source scores, or each source’s own topics, unranked.",
    )
    by = serializers.CharField(default="", help_text="A topic attribute or length to break the means down by.")


@extend_schema(
    operation_id="studies_leaderboard",
    description="Systems scored with each source of judgments, with intervals, and the agreement of the sources.",
    parameters=[LeaderboardChoice],
    responses=OpenApiTypes.OBJECT,
)
@api_view(["GET"])
def leaderboard(request: Request, name: str) -> Response:
    # They take pandas, which a web process that serves assessors does without.
    from evaluation.leaderboards.breakdown import LENGTH
    from evaluation.leaderboards.export import leaderboard_as_dict
    from stats.ranking.measure_names import NoLeaderboard

    study = study_of(request, name)
    chosen = chosen_by(request, LeaderboardChoice)
    with refused_as_bad_request(NoLeaderboard):
        board = figures_of(
            request,
            "leaderboard",
            study,
            measure=chosen["measure"],
            combine=chosen["combine"],
            oracle=chosen.get("oracle"),
            order=chosen["order"],
            sources=chosen["source"],
            part=chosen["part"],
            by=LENGTH if chosen["by"] == "length" else chosen["by"],
            topics=chosen["topics"],
        )
    return Response(leaderboard_as_dict(board))


class DivergenceChoice(LeaderboardRules):
    """Which two measures, or which two sources of one, are held against each other."""

    measure = serializers.CharField(help_text="Cover@20>=4, nDCG@20, coverage, …")
    other = serializers.CharField(default="", help_text="The other measure; default: the same.")
    source = serializers.CharField(  # type: ignore[assignment]  # a parameter's name, and DRF's own
        default="", help_text="people, or a judge; default: the first source."
    )
    other_source = serializers.CharField(default="", help_text="The other source; default: the same.")


@extend_schema(
    operation_id="studies_divergence",
    description="The rank of each system by two measures, or two sources of judgments; the most divergent first.",
    parameters=[DivergenceChoice],
    responses=OpenApiTypes.OBJECT,
)
@api_view(["GET"])
def divergence(request: Request, name: str) -> Response:
    from stats.ranking.measure_names import NoLeaderboard

    study = study_of(request, name)
    chosen = {"oracle": None} | chosen_by(request, DivergenceChoice)
    with refused_as_bad_request(NoLeaderboard):
        found = figures_of(request, "divergence", study, **chosen)
    return Response(found.as_dict())
