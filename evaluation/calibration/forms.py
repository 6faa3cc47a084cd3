from __future__ import annotations

from typing import Any

from django import forms

from evaluation.calibration.serializers import CalibrationChoice, DrawChoice, PlanChoice
from evaluation.parameters.options import OptionsForm


class CalibrationForm(OptionsForm):
    """Which judge is corrected, and what the researcher declares."""

    options = CalibrationChoice
    asked = ("label_shift", "random_sample")
    judge = forms.ChoiceField(label="Judge")

    def __init__(self, *args: Any, judges: list[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["judge"].choices = judges  # type: ignore[attr-defined]


class PlanForm(OptionsForm):
    """What the researcher wants to know: a score within so much, or one system from another."""

    options = PlanChoice
    asked = ("half_width", "system", "difference")
    field_order = ("half_width", "system", "first", "second", "difference")
    first = forms.ChoiceField(required=False, label="Detect a difference between")
    second = forms.ChoiceField(required=False, label="and")

    def __init__(self, *args: Any, systems: list[str], **kwargs: Any) -> None:
        named = [(name, name) for name in systems]
        super().__init__(*args, choices={"system": [("", "All items"), *named]}, **kwargs)
        for name in ("first", "second"):
            self.fields[name].choices = [("", "–"), *named]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Refuse a comparison with one side."""
        cleaned = super().clean()
        if bool(cleaned.get("first")) != bool(cleaned.get("second")):
            raise forms.ValidationError("Choose both systems.")
        if cleaned.get("first") and cleaned["first"] == cleaned["second"]:
            raise forms.ValidationError("Choose two different systems.")
        return cleaned


class DrawForm(OptionsForm):
    """How many items people label next, and how they are drawn."""

    options = DrawChoice
    asked = ("n", "how")
