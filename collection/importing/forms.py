"""What a researcher says of a file to import."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

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


class FilesInput(forms.ClearableFileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """One file or several, each checked like a single one: a list of them."""

    widget = FilesInput

    def clean(self, data: Any, initial: Any = None) -> list[UploadedFile[Any]]:
        """Return the files. Raises ValidationError."""
        files = data if isinstance(data, list) else [data]
        return [super(FilesField, self).clean(file, initial) for file in files or [None]]


class QrelsRaterForm(forms.Form):
    """Whose judgments one file of qrels holds."""

    name = forms.CharField(label="Rater", max_length=200)
    kind = forms.ChoiceField(label="Who judged", choices=[("assessor", "people"), ("judge", "an LLM judge")])


class ImportForm(forms.Form):
    """Files with their format, and what that format does not say itself."""

    # The page hides what the chosen format does not need; a hidden field cannot be insisted on there.
    use_required_attribute = False

    file_format = forms.ChoiceField(
        label="Format",
        choices=[(name, label) for name, (label, _) in FORMATS.items()],
        widget=forms.RadioSelect,
        initial="files",
    )
    file = FilesField(label="Files", help_text="Drop them here, or choose them.")
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
    with_topics = forms.BooleanField(label="Create missing topics with only an id", required=False)
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
        files = sent.get("file") or []
        if sent.get("file_format") == "crux" and files and not files[0].name.lower().endswith(".zip"):
            self.add_error("file", "Zip the folder, and choose the .zip.")
        if len(files) > 1 and sent.get("file_format") not in ("files", None):
            self.add_error("file_format", "Several files are recognised by their content: choose that, or one file.")
        names = [file.name for file in files]
        if twice := next((name for name in names if names.count(name) > 1), None):
            self.add_error("file", f"“{twice}” was chosen twice.")
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
            "said": {name: self.cleaned_data[name] for name in ("relevant_from", "with_topics")},
        }
