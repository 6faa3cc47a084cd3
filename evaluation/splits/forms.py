from __future__ import annotations

from django import forms


class SplitForm(forms.Form):
    """How much of a study is locked away as its test part."""

    test_share = forms.FloatField(
        min_value=0.05,
        max_value=0.95,
        initial=0.5,
        label="Share of test topics",
        help_text="From 0.05 to 0.95. Whole topics are assigned at random.",
        widget=forms.NumberInput(attrs={"step": "0.05"}),
    )
