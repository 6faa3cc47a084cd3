from __future__ import annotations

from collection.web.options import OptionsForm
from evaluation.agreement.errors.serializers import ErrorsChoice


class ErrorsForm(OptionsForm):
    """Whose errors, beside whom."""

    options = ErrorsChoice
    asked = ("rater", "against", "by")
