"""What the effects of suggestions are asked for."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class EffectsChoice(serializers.Serializer[Any]):
    """Under which criterion, and of which judge."""

    criterion = serializers.CharField(
        default="", label="Criterion", help_text="Default: the one with most suggested grades."
    )
    judge = serializers.CharField(default="", label="Judge", help_text="Default: the one with most suggested grades.")
