from __future__ import annotations

from typing import Any

from django import forms

from evaluation.parameters.options import OptionsForm
from evaluation.publishing.serializers import QrelsChoice


class QrelsForm(OptionsForm):
    """Which judgments become qrels, and how."""

    options = QrelsChoice
    asked = (
        *("rater", "with_simulated", "combine", "ties", "fewest_raters"),
        *("binary_at", "per_element", "adjudicated", "holes_at", "names"),
    )
    criterion = forms.ChoiceField(widget=forms.HiddenInput)

    def __init__(
        self,
        *args: Any,
        criteria: list[str],
        raters: list[tuple[str, str]],
        grades: list[float],
        simulated: bool,
        **kwargs: Any,
    ) -> None:
        binary = [(f"{grade:g}", f"1 from grade {grade:g} up, else 0") for grade in sorted(grades)[1:]]
        choices = {"rater": raters, "binary_at": [("", "the grades of the scale"), *binary]}
        super().__init__(*args, choices=choices, **kwargs)
        self.fields["criterion"].choices = [(name, name) for name in criteria]  # type: ignore[attr-defined]
        if not simulated:
            del self.fields["with_simulated"]
