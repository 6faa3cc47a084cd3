"""What somebody decides about products, and where those that count go."""

from __future__ import annotations

from typing import Any

from django import forms

from judging.models import Product


class DecisionForm(forms.Form):
    """What becomes of the chosen products."""

    product = forms.TypedMultipleChoiceField(coerce=int, error_messages={"required": "Choose at least one product."})
    decision = forms.ChoiceField(choices=Product.State.choices)
    text = forms.CharField(required=False, max_length=20_000, strip=True)

    def __init__(self, *args: Any, keys: list[int], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["product"].choices = [(key, key) for key in keys]  # type: ignore[attr-defined]


class AdditionForm(forms.Form):
    """Where accepted nuggets go."""

    bank = forms.SlugField(
        max_length=100,
        required=False,
        label="Nugget bank",
        help_text="Its next version has the nuggets; new if unknown.",
    )
    run = forms.CharField(
        max_length=200, required=False, label="Run", help_text="A new run that the reports are added as."
    )
