"""What a researcher says of a file to import."""

from __future__ import annotations

from collections.abc import Collection as Container
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from django import forms
from django.core.files import File

from collection.importing.datasets.ir_dataset import FORMAT, Wanted, ids_in, request_for
from collection.importing.formats import FORMATS
from collection.importing.raters import QUESTION, tally
from collection.importing.trec import RELEVANT_FROM
from collection.importing.uploads import in_one
from collection.judgments.declarations import source_and_reason
from collection.models import Collection, Rater, Study, User
from collection.web.sent_files import FilesField

# What an upload keeps of the form as it is said there.
SAID = ("relevant_from", "with_topics", "criterion", "seed", "irrelevant")

STRAY_GRADES = [
    ("ungraded", "Leave ungraded"),
    ("refuse", "Refuse the files"),
    ("widen", "Widen the scale"),
]


def relevant_from_field() -> forms.FloatField:
    """Ask the importer of qrels from which grade on a passage is relevant."""
    return forms.FloatField(
        required=False,
        label="Relevant from",
        help_text=f"η of a new criterion: a grade of at least this is relevant. Leave empty for {RELEVANT_FROM:g}; "
        "TREC’s Deep Learning track counts from 2. If the study already asks for relevance, its own η is kept.",
    )


class IrrelevantField(forms.CharField):
    """What sources do not name, declared irrelevant: reasons by source."""

    widget = forms.Textarea(attrs={"rows": 2})

    def clean(self, value: Any) -> Any:
        """Return the reasons by source. Raises ValidationError."""
        try:
            return dict(map(source_and_reason, filter(str.strip, (super().clean(value) or "").splitlines())))
        except ValueError as error:
            raise forms.ValidationError(str(error)) from error


class WhoseForm(forms.Form):
    """Which of the files are people's, and what the raters of each are called. Nothing is supposed but what stands out.

    `names` maps each file to what its rater may be called; `people` are the files that are or may be people's.
    """

    people = forms.MultipleChoiceField(
        label=QUESTION,
        required=False,
        widget=forms.CheckboxSelectMultiple(attrs={"form": "import", "data-tally": "people"}),
        help_text="The others are LLM judges’. A person who is taken for a judge, or a judge for a person, makes every "
        "comparison wrong.",
    )
    nobody = forms.BooleanField(
        label="None: all are LLM judges’",
        required=False,
        widget=forms.CheckboxInput(attrs={"form": "import", "data-tally": "nobody"}),
    )

    def __init__(self, sent: Any, *, names: Mapping[str, str], people: Container[str], is_said: bool) -> None:
        super().__init__(sent, initial={"people": list(people), "nobody": is_said and not people})
        self.names = list(names)
        self.fields["people"].choices = [(name, name) for name in names]  # type: ignore[attr-defined]
        for number, name in enumerate(names):
            field = forms.CharField(max_length=200, initial=names[name])
            field.widget.attrs |= {"form": "import", "aria-label": f"Rater of {name}", "class": "input"}
            self.fields[f"name-{number}"] = field

    def clean(self) -> dict[str, Any]:
        sent = self.cleaned_data
        if bool(sent.get("people")) == bool(sent.get("nobody")):
            self.add_error("people", "Choose the files that people judged, or that all are LLM judges’.")
        return sent

    def name_field(self, name: str) -> forms.BoundField | None:
        """Return the field of the rater's name of a file; None where it is not asked."""
        return self[f"name-{self.names.index(name)}"] if name in self.names else None

    @property
    def tally(self) -> str:
        """How many files are whose, as far as it is said."""
        people = self["people"].value() or []
        return tally(len(people), len(self.names) - len(people)) if people or self["nobody"].value() else ""

    @property
    def raters(self) -> dict[str, dict[str, str]]:
        """Whose judgments each file holds, as an upload keeps it."""
        kinds = Rater.Kind
        return {
            name: {
                "name": self.cleaned_data[f"name-{number}"],
                "kind": (kinds.ASSESSOR if name in self.cleaned_data["people"] else kinds.JUDGE).value,
            }
            for number, name in enumerate(self.names)
        }


class AgainForm(forms.Form):
    """What a second look needs: formats of files that may be of several, and what becomes of stray grades."""

    def __init__(self, sent: Any, *, formats: Mapping[str, Sequence[str]], stray_grades: str) -> None:
        super().__init__(sent)
        self.names = list(formats)
        for number, (name, several) in enumerate(formats.items()):
            choices = [("", "Choose"), *((one, FORMATS[one][0]) for one in several)]
            self.fields[f"format-{number}"] = forms.ChoiceField(label=f"What {name} contains", choices=choices)
        if stray_grades:
            self.fields["stray_grades"] = forms.ChoiceField(
                label="Grades off the scale",
                choices=STRAY_GRADES,
                initial=stray_grades,
                help_text="What one file alone has, in fewer than 1 % of its lines, can be left ungraded.",
            )

    @property
    def said(self) -> dict[str, Any]:
        """What was said now, as an upload keeps it beside what was said before."""
        formats = {name: self.cleaned_data[f"format-{number}"] for number, name in enumerate(self.names)}
        stray = self.cleaned_data.get("stray_grades")
        return {**({"formats": formats} if formats else {}), **({"stray_grades": stray} if stray else {})}


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
    ir_datasets = forms.CharField(
        label="Datasets",
        required=False,
        help_text="Ids of ir_datasets, separated by spaces, for example msmarco-passage/trec-dl-2019/judged.",
    )
    with_qrels = forms.BooleanField(label="With their qrels", required=False)
    with_passages = forms.BooleanField(
        label="With passages",
        required=False,
        help_text="Those that the qrels or the runs here name. The server downloads the whole corpus for them.",
    )
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
    criterion = forms.CharField(
        max_length=100,
        required=False,
        help_text="Of scores whose file names none of the study’s criteria; of Ragas’s metrics, the only one to take.",
    )
    relevant_from = relevant_from_field()
    irrelevant = IrrelevantField(
        label="What is not named is irrelevant",
        required=False,
        help_text="Gold passages, say, are all that is relevant to their topics. SOURCE=REASON, one a line: people, or "
        "a judge by its name, and why. It is published with the figures.",
    )
    with_topics = forms.BooleanField(
        label="Create missing topics with only an id",
        required=False,
        help_text="And questions that a RUBRIC graded file names.",
    )
    seed = forms.IntegerField(
        label="Seed of draws",
        min_value=0,
        max_value=2**31 - 2,
        required=False,
        help_text="Of Natural Questions’ unanswerable questions. 0 if empty; it is kept with each.",
    )
    without_texts = forms.BooleanField(label="Create missing passages with only an id", required=False)

    def __init__(self, *args: Any, collection: Collection, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        study = self.fields["study"]
        assert isinstance(study, forms.ModelChoiceField)
        study.queryset = Study.objects.read_by(user).filter(collection=collection)
        if self.is_bound:
            file_format = self.data.get("file_format")
            self.fields["file"].required = file_format != FORMAT
            self.fields["ir_datasets"].required = file_format == FORMAT
            study.required = file_format in ("judgments", "scores")
            self.fields["rater"].required = file_format in ("qrels", "assignments")

    def clean_ir_datasets(self) -> list[str]:
        try:
            ids = ids_in(self.cleaned_data["ir_datasets"])
        except ValueError as error:
            raise forms.ValidationError(str(error)) from error
        if not ids and self.fields["ir_datasets"].required:
            raise forms.ValidationError("Give the id of a dataset.")
        return ids

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

    def clean_criterion(self) -> str:
        """Return the name, which must be a criterion of the study. Raises ValidationError."""
        name, study = str(self.cleaned_data["criterion"]), self.cleaned_data.get("study")
        if name and study and not study.criteria.filter(name=name).exists():
            names = ", ".join(study.criteria.values_list("name", flat=True))
            raise forms.ValidationError(f"The study has no criterion “{name}”. It has: {names}.")
        return name

    @property
    def chosen_file(self) -> File[Any]:
        """The file to keep: the chosen one, several in one, or what stands for datasets until they are fetched."""
        wanted = self.wanted
        return request_for(wanted) if wanted else in_one(self.cleaned_data["file"])

    @property
    def wanted(self) -> Wanted | None:
        """The datasets that are asked for, None if files were chosen."""
        if self.cleaned_data["file_format"] != FORMAT:
            return None
        asked = {name: self.cleaned_data[name] for name in ("with_qrels", "with_passages")}
        return Wanted(self.cleaned_data["ir_datasets"], **asked)

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
            "said": {
                **{name: self.cleaned_data[name] for name in SAID},
                **({FORMAT: asdict(self.wanted)} if self.wanted else {}),
            },
        }
