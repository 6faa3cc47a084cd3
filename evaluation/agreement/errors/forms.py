from __future__ import annotations

from evaluation.agreement.errors.serializers import ErrorsChoice
from evaluation.parameters.options import OptionsForm


class ErrorsForm(OptionsForm):
    """Whose errors, beside whom."""

    options = ErrorsChoice
    asked = ("rater", "against", "by")
