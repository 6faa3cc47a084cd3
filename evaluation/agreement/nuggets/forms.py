from __future__ import annotations

from collection.web.options import OptionsForm
from evaluation.agreement.nuggets.serializers import NuggetAgreementChoice


class NuggetAgreementForm(OptionsForm):
    """Which two sets of nuggets, and by what they are matched."""

    options = NuggetAgreementChoice
    asked = ("first", "second", "by", "threshold")
