"""Forms for changing a study that stands, and for copying one."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from annotate.studies.edits import EDITABLE, MOST_ASSESSORS, name_for
from annotate.studies.forms import TermsField, TranslatableField
from annotate.studies.lifecycle import NameTaken, refuse_a_taken_name
from collection.languages.languages import NAMES
from collection.models import Study

MOST = 1_000_000


class EditForm(forms.ModelForm[Study]):
    """What of a study can be changed: of a closed one its title alone."""

    overlap = forms.IntegerField(
        label="Assessors per item",
        max_value=MOST_ASSESSORS,
        help_text="Every task gets the places that it lacks. What was drawn stays as it is.",
    )
    quota = forms.IntegerField(
        min_value=1, max_value=MOST, required=False, label="Task limit per assessor", help_text="Empty: no limit."
    )
    batch_size = forms.IntegerField(
        min_value=1,
        max_value=MOST,
        required=False,
        label="Tasks per batch",
        help_text="For tasks that are not released yet. Empty: all are released.",
    )
    timeout_minutes = forms.IntegerField(
        min_value=5,
        max_value=MOST,
        required=False,
        label="Time-out, in minutes",
        help_text="A task in which nothing was saved for so long goes to somebody else. Empty: no time-out.",
    )

    language = forms.ChoiceField(
        choices=list(NAMES.items()),
        required=False,
        label="Language of the pages",
        help_text="For assessors who have chosen none. Questions, grades and guidelines stay as they are written.",
    )

    terms = TermsField()

    translatable = TranslatableField()

    class Meta:
        model = Study
        fields = EDITABLE

    def __init__(self, data: Any = None, *, instance: Study) -> None:
        super().__init__(data, instance=instance)
        overlap = self.fields["overlap"]
        assert isinstance(overlap, forms.IntegerField)
        least = 1 if instance.state == Study.State.DRAFT else instance.overlap
        overlap.min_value = overlap.widget.attrs["min"] = least
        overlap.validators.append(forms.IntegerField(min_value=least).validators[0])
        if instance.state == Study.State.CLOSED:
            self.fields = {"title": self.fields["title"]}

    def clean_language(self) -> str:
        return self.cleaned_data["language"] or self.instance.language


class CopyForm(forms.Form):
    title = forms.CharField(max_length=200)
    name = forms.SlugField(
        max_length=100, required=False, help_text="Part of its address. Leave empty to derive it from the title."
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        name = cleaned.get("name") or name_for(cleaned.get("title", ""))
        if not self.errors and not name:
            raise ValidationError({"name": "This title has no letter that can be used in an address: enter a name."})
        try:
            refuse_a_taken_name(name)
        except NameTaken as refusal:
            raise ValidationError({"name": str(refusal)}) from refusal
        return cleaned | {"name": name}
