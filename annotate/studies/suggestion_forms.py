"""What a researcher chooses of suggestions."""

from __future__ import annotations

from typing import Any

from django import forms

from annotate.suggestions.design import FEWEST_WITHOUT, judges_to_suggest
from collection.models import Arm, Rater, Study, SuggestionDesign

WHAT_ARMS_DO = {
    Arm.NONE: "The judge’s grade is never shown. These labels are what the others are compared with.",
    Arm.AFTER: "Assessors grade first. Then they see the judge’s grade with its reason, and keep or change theirs.",
    Arm.VERIFY: "The words that the judge marked or quoted are dotted in the text; its grade is not shown.",
    Arm.POST_EDIT: "The judge’s grade is filled in, and counts only once the assessor confirms or changes it.",
}
USUAL = {Arm.NONE: 50, Arm.AFTER: 50, Arm.VERIFY: 0, Arm.POST_EDIT: 0}


class JudgeField(forms.ModelChoiceField[Rater]):
    """A judge, called by its name."""

    def label_from_instance(self, obj: Rater) -> str:
        return obj.name


class SuggestionsForm(forms.Form):
    """The judge, and the arms in percent of the tasks."""

    judge = JudgeField(Rater.objects.none(), empty_label=None, label="Judge")

    def __init__(self, *args: Any, study: Study, design: SuggestionDesign | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        judges = self.fields["judge"]
        assert isinstance(judges, forms.ModelChoiceField)
        judges.queryset = judges_to_suggest(study)
        judges.initial = design.judge_id if design else None
        for arm in Arm:
            self.fields[arm.value] = forms.IntegerField(
                min_value=FEWEST_WITHOUT if arm == Arm.NONE else 0,
                max_value=100,
                initial=getattr(design, f"{arm.value}_percent") if design else USUAL[arm],
                label=f"{arm.label.capitalize()}, in percent",
                help_text=WHAT_ARMS_DO[arm],
            )

    @property
    def percents(self) -> dict[Arm, int]:
        """The arms' percentages. The form must be valid."""
        return {arm: self.cleaned_data[arm.value] for arm in Arm}
