"""What qrels and audit bundles are asked for."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from collection.api_tools import NumberField, WholeField
from stats.qrels import COMBINES, Rule
from stats.votes import TIES


class Published(serializers.Serializer[Any]):
    """What may be chosen of everything that is published."""

    with_simulated = serializers.BooleanField(
        default=False,
        label="Include simulated assessors",
        help_text="Otherwise qrels are without them, unless named. Their grades are not human judgments.",
    )
    names = serializers.BooleanField(
        default=False,
        label="Use assessors’ names",
        help_text="In the provenance and in file names. Otherwise assessors are numbered.",
    )


class QrelsChoice(Published):
    """Which judgments become qrels, and how."""

    rater = serializers.ListField(
        child=serializers.CharField(),
        default=list,
        label="Whose judgments",
        help_text="Assessors, or one judge. Default: all assessors.",
    )
    combine = serializers.ChoiceField(
        choices=list(COMBINES.items()), default=Rule.combine, label="Aggregate assessors by"
    )
    ties = serializers.ChoiceField(choices=list(TIES.items()), default=Rule.ties, label="Ties")
    fewest_raters = WholeField(
        default=Rule.fewest_raters,
        min_value=1,
        max_value=1_000,
        label="Minimum raters",
        help_text="Items graded by fewer raters are left out.",
    )
    binary_at = NumberField(
        required=False, label="Labels", help_text="1 from this grade up, else 0. Default: the grades of the scale."
    )
    per_element = serializers.BooleanField(
        default=Rule.per_element,
        label="One topic per rubric element",
        help_text="Otherwise a text gets the highest grade of its elements.",
    )
    adjudicated = serializers.BooleanField(
        default=Rule.adjudicated,
        label="Use adjudicated grades",
        help_text="If a disagreement was adjudicated, that grade replaces the assessors’.",
    )
    holes_at = WholeField(
        required=False,
        min_value=1,
        max_value=1_000,
        label="Unjudged in top k",
        help_text="How many passages of each run’s ranking to check for judgments (judged@k).",
    )
