"""What leaderboards, and comparisons of two of them, are asked for."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from collection.api_tools import WholeField
from collection.rankings import ORDERS
from evaluation.parameters.options import PART
from stats.qrels import COMBINES
from stats.ranking.common_topics import TOPICS
from stats.votes import TIES, TIES_OF_PEOPLE

COMBINED = [(name, f"{COMBINES[name]}, {TIES[TIES_OF_PEOPLE]}") for name in ("majority", "median")]
TOP = 3


class LeaderboardRules(serializers.Serializer[Any]):
    """By which rules judgments become scores, and of which part of a study that is split."""

    combine = serializers.ChoiceField(choices=COMBINED, default="majority", label="Aggregate assessors by")
    order = serializers.ChoiceField(choices=list(ORDERS.items()), default="score", label="Order of ranked passages")
    oracle = serializers.CharField(
        default=None,
        label="Oracle",
        help_text="The run whose passages define what can be answered, and for density in how few tokens.",
    )
    part = serializers.ChoiceField(choices=PART, default="development", help_text="If the study is split.")


class LeaderboardChoice(LeaderboardRules):
    """Which measure, whose judgments, and by which rules."""

    measure = serializers.CharField(
        max_length=60,
        label="Measure",
        help_text=(
            "coverage, coverage@10, density, alpha-nDCG@oracle, Cover@20>=3, KPR@10, any that the leaderboard’s page "
            "offers, or any of ir-measures: nDCG@10, AP, P(rel=η)@5, where η is each source’s own threshold. @oracle: "
            "as many passages as the oracle’s context has. density(tokens=whitespace): the tokenizer (default: words)."
        ),
    )
    source = serializers.ListField(  # type: ignore[assignment]  # a parameter's name, and DRF's own
        child=serializers.CharField(), default=list, help_text="people, or a judge; default: all sources."
    )
    topics = serializers.ChoiceField(choices=list(TOPICS.items()), default="common", label="Topics")
    top = WholeField(
        default=TOP,
        min_value=1,
        max_value=1_000,
        label="r of P(rank ≤ r)",
        help_text="Shown where there are more systems than r.",
    )
    by = serializers.CharField(
        default="", label="Means by", help_text="An attribute of the topics to break means down by, or length."
    )


class DivergenceChoice(LeaderboardRules):
    """Which two measures, or which two sources of one, are held against each other."""

    measure = serializers.CharField(help_text="Cover@20>=4, nDCG@20, coverage, …")
    other = serializers.CharField(default="", help_text="The other measure; default: the same.")
    source = serializers.CharField(  # type: ignore[assignment]  # a parameter's name, and DRF's own
        default="", help_text="people, or a judge; default: the first source."
    )
    other_source = serializers.CharField(default="", help_text="The other source; default: the same.")
