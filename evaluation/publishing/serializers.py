"""What qrels and audit bundles are asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from collection.api_tools import NumberField, WholeField
from collection.web.options import PART
from stats.qrels import COMBINES, Rule, asked_of
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
        help_text="In the provenance and in file names. Otherwise assessors who judge here are numbered.",
    )


class PeopleChoice(Published):
    """How people's judgments become labels."""

    rater = serializers.ListField(
        child=serializers.CharField(), default=list, label="Whose judgments", help_text="Default: all assessors."
    )
    combine = serializers.ChoiceField(
        choices=list(COMBINES.items()), default=Rule.combine, label="Aggregate assessors by"
    )
    votes = WholeField(
        default=Rule.votes,
        min_value=1,
        max_value=1_000,
        label="Minimum votes",
        help_text="Only with minimum votes: m of “at least m of r raters”. r is the minimum of raters.",
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
    adjudicated = serializers.BooleanField(
        default=Rule.adjudicated,
        label="Use adjudicated grades",
        help_text="If a disagreement was adjudicated, that grade replaces the assessors’.",
    )


class QrelsChoice(PeopleChoice):
    """Which judgments become qrels, and how."""

    rater = serializers.ListField(
        child=serializers.CharField(),
        default=list,
        label="Whose judgments",
        help_text="Assessors, or one judge. Default: all assessors.",
    )
    per_element = serializers.BooleanField(
        default=Rule.per_element,
        label="One topic per rubric element",
        help_text="Otherwise a text gets the highest grade of its elements.",
    )
    gold = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=200,
        label="Gold passages",
        help_text="Instead of judgments: “topics” for the passages that topics name, or the run that ranks them.",
    )
    holes_at = WholeField(
        required=False,
        min_value=1,
        max_value=1_000,
        label="Unjudged in top k",
        help_text="How many passages of each run’s ranking to check for judgments (judged@k).",
    )


# What filled qrels are compared by where no measure is named.
FILLED_MEASURES = ("nDCG@10", "P(rel=η)@10", "AP(rel=η)")


class FilledChoice(PeopleChoice):
    """Whose grades fill the holes of people's qrels, which holes, and by which measures that is shown."""

    judge = serializers.CharField(
        required=False,
        max_length=300,
        label="Judge",
        help_text="Whose grades fill the holes.",
    )
    mapping = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=200,
        label="Labels of the judge’s grades",
        help_text="“2:1, 4:2” is label 1 from grade 2 up, 2 from 4 up. Needed where the scales differ.",
    )
    depth = WholeField(
        required=False,
        min_value=1,
        max_value=10_000,
        label="Fill the top k of runs",
        help_text="Default: all that the judge graded.",
    )
    run = serializers.ListField(
        child=serializers.CharField(), default=list, label="Of these runs", help_text="Default: all runs."
    )
    all_topics = serializers.BooleanField(
        default=False,
        label="Also topics that no person judged",
        help_text="Otherwise only topics with human labels are filled.",
    )
    measure = serializers.ListField(
        child=serializers.CharField(),
        default=list,
        max_length=10,
        label="Measures",
        help_text=f"Before and after, with bounds. Default: {', '.join(FILLED_MEASURES)}.",
    )
    part = serializers.ChoiceField(choices=PART, default="development", help_text="If the study is split.")


def filling_of(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return what holes are filled by, of what a form, a query or a command's options choose."""
    return {
        **asked_of(chosen),
        "judge": chosen.get("judge") or None,
        "depth": chosen.get("depth"),
        "runs": list(chosen["run"]),
        "measures": list(chosen["measure"]),
        **{name: chosen[name] for name in ("mapping", "all_topics", "part")},
    }
