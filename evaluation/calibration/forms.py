from __future__ import annotations

from typing import Any

from django import forms

from collection.web.options import OptionsForm
from evaluation.calibration.serializers import (
    MOST_CHARACTERS,
    DeclarationsChoice,
    DrawChoice,
    PlanChoice,
)


class PlanForm(OptionsForm):
    """What the researcher wants to know: a score within so much, or one system from another."""

    options = PlanChoice
    asked = ("measure", "half_width", "system", "difference")
    field_order = ("measure", "half_width", "system", "first", "second", "difference")
    first = forms.ChoiceField(required=False, label="Detect a difference between")
    second = forms.ChoiceField(required=False, label="and")

    def __init__(self, *args: Any, systems: list[str], measures: list[str], **kwargs: Any) -> None:
        named = [(name, name) for name in systems]
        of_all = [("", "All items (share of yes)" if measures else "All items")]
        offered = [*((name, name) for name in measures), ("", "Share of yes")]
        super().__init__(*args, choices={"system": [*of_all, *named], "measure": offered}, **kwargs)
        for name in ("first", "second"):
            self.fields[name].choices = [("", "–"), *named]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Refuse a measure of all systems together, and a comparison with one side."""
        cleaned = super().clean()
        if cleaned.get("half_width") and cleaned.get("measure") and not cleaned.get("system"):
            self.add_error("system", f"Choose the system whose {cleaned['measure']} it is, or the share of yes.")
        if bool(cleaned.get("first")) != bool(cleaned.get("second")):
            raise forms.ValidationError("Choose both systems.")
        if cleaned.get("first") and cleaned["first"] == cleaned["second"]:
            raise forms.ValidationError("Choose two different systems.")
        return cleaned


class DrawForm(OptionsForm):
    """How many items people label next, and how they are drawn."""

    options = DrawChoice
    asked = ("n", "how")


class DeclarationsForm(OptionsForm):
    """What the researcher declares of the labels."""

    options = DeclarationsChoice
    asked = ("random_sample",)
    source = forms.ChoiceField(
        required=False,
        label="What this source does not name is irrelevant",
        help_text="Gold passages, say, are all that is relevant to their topics. All else then counts as irrelevant.",
    )
    reason = forms.CharField(
        required=False,
        max_length=MOST_CHARACTERS,
        label="Because",
        help_text="Published with the figures. Without a reason the declaration is withdrawn.",
    )
    field_order = ("random_sample", "source", "reason")

    def __init__(self, *args: Any, sources: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["source"].choices = [("", "–"), *((one, one) for one in sources)]  # type: ignore[attr-defined]

    @property
    def declared_now(self) -> dict[str, Any]:
        """What is declared by the form as it was sent."""
        source = self.cleaned_data["source"]
        irrelevant = {source: self.cleaned_data["reason"]} if source else {}
        return {"random_sample": bool(self.cleaned_data["random_sample"]), "irrelevant": irrelevant}
