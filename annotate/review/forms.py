"""Forms for deciding where people disagree and for looking over what they did."""

from __future__ import annotations

from typing import Any

from django import forms

from annotate.models import SpotCheck
from collection.models import Criterion

NOTE = {"rows": 3}


class AdjudicationForm(forms.Form):
    """The grade that counts, with a note. The grades are those of the criterion's scale."""

    grade = forms.TypedChoiceField(coerce=float, widget=forms.RadioSelect, label="Grade")
    note = forms.CharField(
        max_length=2000,
        required=False,
        widget=forms.Textarea(attrs=NOTE),
        label="Reason",
        help_text="Kept with the decision. It helps to improve the guidelines.",
    )

    def __init__(self, data: Any = None, *, criterion: Criterion, **kwargs: Any) -> None:
        super().__init__(data, **kwargs)
        grade = self.fields["grade"]
        assert isinstance(grade, forms.TypedChoiceField)
        grade.choices = [
            (f"{point['value']:g}", f"{point['value']:g} – {point['name']}") for point in criterion.scale.points
        ]


class DrawSpotChecksForm(forms.Form):
    n = forms.IntegerField(min_value=1, max_value=200, initial=5, label="How many")


class VerdictForm(forms.Form):
    verdict = forms.ChoiceField(
        choices=[choice for choice in SpotCheck.Verdict.choices if choice[0]], widget=forms.RadioSelect
    )
    note = forms.CharField(max_length=2000, required=False, widget=forms.Textarea(attrs=NOTE))
