"""What is asked of battles."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from collection.api_tools import NumberField, WholeField


class BattlesChoice(serializers.Serializer[Any]):
    """How the votes are read."""

    no_side = serializers.BooleanField(
        default=False,
        label="Leave the side out",
        help_text="Do not estimate by how much the report on the left is preferred for standing there.",
    )
    penalty = NumberField(
        default=0.0,
        min_value=0.0,
        max_value=10.0,
        label="Penalty",
        help_text="Pulls systems together, so that one that never loses has a finite ability. Intervals are left out.",
    )


class RoundChoice(serializers.Serializer[Any]):
    """How many pairs people compare next."""

    n = WholeField(min_value=1, label="Number of pairs", help_text="Drawn from those that were never drawn.")
