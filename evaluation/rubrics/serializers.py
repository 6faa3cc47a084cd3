"""What maskings by grades and redundancy are asked for."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from stats.measures.crux import ORDERS


class GradesOfPassages(serializers.Serializer[Any]):
    """Whose grades of passages, and of which passages."""

    source = serializers.CharField(  # type: ignore[assignment]  # a parameter's name, and DRF's own
        default="", label="Source of grades", help_text="people, or a judge; default: the first source."
    )
    run = serializers.CharField(
        default="", label="Passages", help_text="The run whose passages count; default: all judged passages."
    )


class MaskingChoice(GradesOfPassages):
    """Whose grades decide."""

    criterion = serializers.CharField(default="", help_text="Default: the first criterion with grades of passages.")


class MaskingSent(MaskingChoice):
    """The same, with the reason."""

    reason = serializers.CharField(
        default="", max_length=500, label="Reason", help_text="Default: the rule by which elements are masked."
    )


class RedundancyChoice(GradesOfPassages):
    """Whose ratings class the passages, by which rule, and of which run."""

    order = serializers.ChoiceField(choices=list(ORDERS.items()), default="gain", label="Choice of required passages")
