"""What a researcher says of a file to import."""

from __future__ import annotations

from typing import Any

from django import forms

from collection.importing.formats import FORMATS
from collection.importing.trec import RELEVANT_FROM
from collection.models import Collection, Study


def relevant_from_field() -> forms.FloatField:
    """Ask the importer of qrels from which grade on a passage is relevant."""
    return forms.FloatField(
        required=False,
        label="Relevant from",
        help_text=f"η of a new criterion: a grade of at least this is relevant. Leave empty for {RELEVANT_FROM:g}; "
        "TREC’s Deep Learning track counts from 2. If the study already asks for relevance, its own η is kept.",
    )


class ImportForm(forms.Form):
    """A file with its format, and what that format does not say itself."""

    # The page hides what the chosen format does not need; a hidden field cannot be insisted on there.
    use_required_attribute = False

    file_format = forms.ChoiceField(
        label="Format", choices=[(name, label) for name, (label, _) in FORMATS.items()], widget=forms.RadioSelect
    )
    file = forms.FileField(label="File")
    run = forms.CharField(
        label="Run", max_length=200, required=False, help_text="The run’s name, if it differs from the tag in the file."
    )
    system = forms.CharField(
        label="System",
        max_length=200,
        required=False,
        help_text="The system that made the run, if its name differs from the run’s.",
    )
    study = forms.ModelChoiceField(
        Study.objects.none(), label="Study", to_field_name="name", empty_label="Choose a study"
    )
    rater = forms.CharField(label="Rater", max_length=200, help_text="Whose judgments these are, for example NIST.")
    relevant_from = relevant_from_field()
    without_texts = forms.BooleanField(label="Create missing passages with only an id", required=False)

    def __init__(self, *args: Any, collection: Collection, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        study = self.fields["study"]
        assert isinstance(study, forms.ModelChoiceField)
        study.queryset = collection.studies.all()
        if self.is_bound:
            file_format = self.data.get("file_format")
            study.required = file_format == "judgments"
            self.fields["rater"].required = file_format == "qrels"

    def clean(self) -> dict[str, Any]:
        sent = self.cleaned_data
        if sent.get("file_format") == "crux" and sent.get("file") and not sent["file"].name.lower().endswith(".zip"):
            self.add_error("file", "Zip the folder, and choose the .zip.")
        return sent

    @property
    def chosen(self) -> dict[str, Any]:
        """What the importer chose, as an upload keeps it."""
        study = self.cleaned_data["study"]
        return {
            "file_format": self.cleaned_data["file_format"],
            "run": self.cleaned_data["run"],
            "system": self.cleaned_data["system"],
            "study": study.name if study else "",
            "rater": self.cleaned_data["rater"],
            "without_texts": self.cleaned_data["without_texts"],
            "said": {"relevant_from": self.cleaned_data["relevant_from"]},
        }
