from __future__ import annotations

from collection.web.options import OptionsForm
from evaluation.battles.serializers import BattlesChoice, RoundChoice


class BattlesForm(OptionsForm):
    """How the votes are read."""

    options = BattlesChoice
    asked = ("no_side", "penalty")


class RoundForm(OptionsForm):
    """How many pairs people compare next."""

    options = RoundChoice
    asked = ("n",)
