"""Which two sets of nuggets are compared, and by what."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from collection.api_tools import NumberField
from stats.agreement.nugget_sets import SIMILARITIES, THRESHOLD

LONGEST = 300


class NuggetAgreementChoice(serializers.Serializer[Any]):
    """Which two sets of nuggets, and by what they are matched."""

    first = serializers.CharField(
        default="",
        max_length=LONGEST,
        label="First set",
        help_text="bank, bank@version, either with :creator, workshop/key:username, key-points/all or "
        "key-points/asked; default: two that there are.",
    )
    second = serializers.CharField(default="", max_length=LONGEST, label="Second set", help_text="As the first.")
    by = serializers.ChoiceField(
        choices=[(name, of.name) for name, of in SIMILARITIES.items()],
        default="words",
        label="How alike by",
        style={"flag": "--alike-by"},
    )
    threshold = NumberField(
        default=THRESHOLD,
        min_value=0.01,
        max_value=1,
        label="Threshold",
        help_text="The least likeness of a matched pair, above 0 and up to 1.",
    )


class ListedSet(serializers.Serializer[Any]):
    """A set of nuggets that is written out as the reports of a new run."""

    set = serializers.CharField(max_length=LONGEST, help_text="As the first set of a comparison.")
    run = serializers.CharField(max_length=200, help_text="The new run’s name.")
