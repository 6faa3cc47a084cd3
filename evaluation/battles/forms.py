from __future__ import annotations

from evaluation.battles.serializers import BattlesChoice, RoundChoice
from evaluation.parameters.options import OptionsForm


class BattlesForm(OptionsForm):
    """How the votes are read."""

    options = BattlesChoice
    asked = ("no_side", "penalty")


class RoundForm(OptionsForm):
    """How many pairs people compare next."""

    options = RoundChoice
    asked = ("n",)
