from __future__ import annotations

from typing import Any

from django import forms

from stats.qrels import COMBINES, Rule
from stats.votes import TIES


class QrelsForm(forms.Form):
    """Which judgments become qrels, and how."""

    criterion = forms.ChoiceField(widget=forms.HiddenInput)
    rater = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Whose judgments",
        help_text="Assessors, or one judge. Default: all assessors.",
    )
    with_simulated = forms.BooleanField(
        required=False,
        label="Include simulated assessors",
        help_text="Otherwise they are left out, unless selected above. Their grades are not human judgments.",
    )
    combine = forms.ChoiceField(
        widget=forms.RadioSelect, label="Aggregate assessors by", choices=list(COMBINES.items())
    )
    ties = forms.ChoiceField(widget=forms.RadioSelect, label="Ties", choices=list(TIES.items()))
    fewest_raters = forms.IntegerField(
        min_value=1, max_value=1_000, label="Minimum raters", help_text="Items graded by fewer raters are left out."
    )
    binary_at = forms.TypedChoiceField(required=False, label="Labels", coerce=float, empty_value=None)
    per_element = forms.BooleanField(
        required=False,
        label="One topic per rubric element",
        help_text="Otherwise a text gets the highest grade of its elements.",
    )
    adjudicated = forms.BooleanField(
        required=False,
        label="Use adjudicated grades",
        help_text="If a disagreement was adjudicated, that grade replaces the assessors’.",
    )
    holes_at = forms.IntegerField(
        min_value=1,
        max_value=1_000,
        label="Unjudged in top k",
        help_text="How many passages of each run’s ranking to check for judgments.",
    )
    names = forms.BooleanField(
        required=False,
        label="Use assessors’ names",
        help_text="In the provenance and in file names. Otherwise assessors are numbered.",
    )

    def __init__(
        self,
        *args: Any,
        criteria: list[str],
        raters: list[tuple[str, str]],
        grades: list[float],
        simulated: bool,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        choices = {
            "criterion": [(name, name) for name in criteria],
            "rater": raters,
            "binary_at": [
                ("", "the grades of the scale"),
                *((f"{grade:g}", f"1 from grade {grade:g} up, else 0") for grade in sorted(grades)[1:]),
            ],
        }
        for name, listed in choices.items():
            self.fields[name].choices = listed  # type: ignore[attr-defined]
        if not simulated:
            del self.fields["with_simulated"]

    def rule(self) -> Rule:
        """Return the rule that was chosen."""
        return Rule.chosen_by(self.cleaned_data)
