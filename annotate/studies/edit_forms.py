"""Forms for changing a study that stands, and for copying one."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from annotate.studies.edits import EDITABLE, name_for
from annotate.studies.lifecycle import NameTaken, refuse_a_taken_name
from annotate.studies.options import WorkOptions, study_field
from collection.models import Study

# What these fields are called, and mean, once the study is there.
OF_A_STUDY_THAT_STANDS = {
    "overlap": {
        "label": "Assessors per item",
        "help_text": "Every task gets the places that it lacks. What was drawn stays as it is.",
    },
    "batch_size": {"help_text": "For tasks that are not released yet. Empty: all are released."},
    "language": {
        "label": "Language of the pages",
        "help_text": "For assessors who have chosen none. Questions, grades and guidelines stay as they are written.",
    },
}


class EditForm(forms.ModelForm[Study]):
    """What of a study can be changed: of a closed one its title alone."""

    class Meta:
        model = Study
        fields = EDITABLE

    def __init__(self, data: Any = None, *, instance: Study) -> None:
        super().__init__(data, instance=instance)
        for name in ("overlap", "language", "terms", "translatable"):
            self.fields[name] = study_field(name, required=name == "overlap")
        for name in ("quota", "batch_size", "timeout_minutes"):
            self.fields[name] = study_field(name, WorkOptions)
        for name, attributes in OF_A_STUDY_THAT_STANDS.items():
            vars(self.fields[name]).update(attributes)
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
