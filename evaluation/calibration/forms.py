from __future__ import annotations

from typing import Any

from django import forms

from evaluation.calibration.planning import HOW


class CalibrationForm(forms.Form):
    """Which judge is corrected, and what the researcher declares."""

    judge = forms.ChoiceField(label="Judge")
    label_shift = forms.BooleanField(
        required=False,
        label="I declare label shift",
        help_text=(
            "Given the human grade, the judge errs equally often on labelled items and on all others; only the share "
            "of yes may differ. Rogan–Gladen’s correction needs this assumption, which data cannot confirm."
        ),
    )
    declared_random = forms.BooleanField(
        required=False,
        label="I declare the labelled items a simple random sample",
        help_text="Only if no draw is stored. If the items were selected by hand, every figure below is biased.",
    )

    def __init__(self, *args: Any, judges: list[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["judge"].choices = judges  # type: ignore[attr-defined]


class PlanForm(forms.Form):
    """What the researcher wants to know: a score within so much, or one system from another."""

    half_width = forms.FloatField(
        required=False,
        min_value=0.001,
        max_value=0.5,
        label="Half-width of the interval",
        help_text="0.05 means that the score is known to within ± 5 points.",
    )
    system = forms.ChoiceField(required=False, label="Score")
    first = forms.ChoiceField(required=False, label="Detect a difference between")
    second = forms.ChoiceField(required=False, label="and")
    difference = forms.FloatField(
        required=False,
        min_value=-1,
        max_value=1,
        label="Size of the difference",
        help_text="Empty: the difference according to the judge.",
    )

    def __init__(self, *args: Any, systems: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        named = [(name, name) for name in systems]
        self.fields["system"].choices = [("", "All items"), *named]  # type: ignore[attr-defined]
        for name in ("first", "second"):
            self.fields[name].choices = [("", "–"), *named]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Refuse a comparison with one side."""
        cleaned = super().clean() or {}
        if bool(cleaned.get("first")) != bool(cleaned.get("second")):
            raise forms.ValidationError("Choose both systems.")
        if cleaned.get("first") and cleaned["first"] == cleaned["second"]:
            raise forms.ValidationError("Choose two different systems.")
        return cleaned


class DrawForm(forms.Form):
    """How many items people label next, and how they are drawn."""

    n = forms.IntegerField(min_value=1, label="Number of items")
    how = forms.ChoiceField(widget=forms.RadioSelect, label="Sampling", initial="strata", choices=list(HOW.items()))
