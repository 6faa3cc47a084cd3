"""What cited reports are asked for."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class CitedReportsChoice(serializers.Serializer[Any]):
    """Whose judgments."""

    source = serializers.CharField(  # type: ignore[assignment]  # a parameter's name, and DRF's own
        default="", label="Judgments of", help_text="people, or a judge; default: the first that judged citations."
    )
