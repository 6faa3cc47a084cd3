"""What a researcher chooses on the page of the effects of suggestions."""

from __future__ import annotations

from evaluation.parameters.options import OptionsForm
from evaluation.suggestions.serializers import EffectsChoice


class EffectsForm(OptionsForm):
    options = EffectsChoice
    asked = ("criterion", "judge")
