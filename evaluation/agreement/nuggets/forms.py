from __future__ import annotations

from evaluation.agreement.nuggets.serializers import NuggetAgreementChoice
from evaluation.parameters.options import OptionsForm


class NuggetAgreementForm(OptionsForm):
    """Which two sets of nuggets, and by what they are matched."""

    options = NuggetAgreementChoice
    asked = ("first", "second", "by", "threshold")
