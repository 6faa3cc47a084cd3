"""A researcher's own question, as the page asks for it."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.text import slugify

from annotate.studies.criterion_forms import ScaleField
from collection.importing.uploads import at_most
from collection.languages.languages import ENGLISH, NAMES
from collection.models import Collection, Question, User
from collection.questions.documents import NAME, BadQuestion, checked_document, read_question
from collection.questions.shapes import TaskTypeShape, shape_in

MOST_MEGABYTES = 0.5
TEXTS = {
    "report": "a report",
    "passage": "a passage of the runs’ rankings",
    "sentence": "a sentence of a report",
    "citation": "a sentence of a report with a passage that it cites",
    "question": "a topic, without any text",
}
ELEMENTS = {
    "": "the text alone",
    "sub_question": "each sub-question",
    "key_point": "each key point",
    "nugget": "each nugget",
}
MARKS = {
    "none": "not offered",
    "optional": "allowed",
    "when positive": "required with a positive grade, and refused with any other",
}
# What the page offers to begin with: the grades, and whether they have an order.
BEGINNINGS = {
    "yes, no, unsure": ("-1 | unsure | It cannot be said.\n0 | no | It is not so.\n1 | yes | It is so.", "nominal"),
    "0 to 3": ("0 | none |\n1 | little |\n2 | much |\n3 | whole | Throughout.", "ordinal"),
    "1 to 5": ("1 | very poor |\n2 | poor |\n3 | fair |\n4 | good |\n5 | very good |", "ordinal"),
    "categories": ("0 | first | What belongs here.\n1 | second | What belongs here.", "nominal"),
}  # fmt: skip


class QuestionForm(forms.Form):
    """A new question with one criterion; a file or the API can have several, and translations."""

    title = forms.CharField(max_length=100, help_text="As you and the assessors see it: “toxicity of a sentence”.")
    name = forms.CharField(
        max_length=50, required=False, help_text="In files and addresses. Leave empty to derive it from the title."
    )
    text = forms.ChoiceField(
        choices=list(TEXTS.items()), widget=forms.RadioSelect, initial="passage", label="Judged text"
    )
    element = forms.ChoiceField(choices=list(ELEMENTS.items()), required=False, label="Asked about")
    question = forms.CharField(max_length=500, help_text="As assessors and judges read it.")
    grades = ScaleField(
        initial=BEGINNINGS["0 to 3"][0],
        help_text="One a line, the lowest first: value | name | what it means.",
        widget=forms.Textarea(attrs={"rows": 6}),
    )
    level = forms.ChoiceField(
        choices=[("ordinal", "ordered: each is more than the one before"), ("nominal", "categories without an order")],
        widget=forms.RadioSelect,
        initial="ordinal",
        label="Grades are",
    )
    threshold = forms.FloatField(
        required=False,
        label="Positive from",
        help_text="η: a grade of at least this is positive. Empty: the highest.",
    )
    marks = forms.ChoiceField(
        choices=list(MARKS.items()), widget=forms.RadioSelect, initial="none", label="Marking words of the text"
    )
    guidelines = forms.CharField(
        required=False, widget=forms.Textarea(attrs={"rows": 6}), help_text="For assessors, in Markdown."
    )
    prompt = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 6}),
        help_text="For judges, with placeholders as in prompt templates. Empty: one is made of these words.",
    )
    language = forms.ChoiceField(choices=list(NAMES.items()), initial=ENGLISH, help_text="Of these words.")
    collection = forms.ModelChoiceField(
        Collection.objects.none(), required=False, to_field_name="name", label="Preview on", empty_label=None
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        collection = self.fields["collection"]
        assert isinstance(collection, forms.ModelChoiceField)
        collection.queryset = Collection.objects.of(user)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        name = cleaned.get("name") or slugify(cleaned.get("title", "")).lstrip("0123456789-_")[:50]
        if not NAME.fullmatch(name) and "title" in cleaned:
            self.add_error("name", "Enter a name of a–z, 0–9, _ and - that begins with a letter.")
        cleaned["name"] = name
        if not self.errors:
            try:
                checked_document(self.document)
            except BadQuestion as refusal:
                self.add_error(None, str(refusal))
        return cleaned

    @property
    def document(self) -> dict[str, Any]:
        """The question's document. Only of a form whose fields are valid."""
        sent = self.cleaned_data
        criterion = {
            "name": sent["name"],
            "grades": {f"{value:g}": [name, text] for value, name, text in sent["grades"]},
            **{field: sent[field] for field in ("question", "level", "marks", "prompt")},
            **({"threshold": sent["threshold"]} if sent["threshold"] is not None else {}),
        }
        fields = ("title", "text", "element", "guidelines", "language")
        return {field: sent[field] for field in fields} | {"criteria": [criterion]}


class QuestionFileForm(forms.Form):
    """A question in a TOML file."""

    file = forms.FileField(validators=[at_most(MOST_MEGABYTES)], help_text="TOML, as docs/task-types.md shows it.")

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if file := cleaned.get("file"):
            try:
                self.name, self.document = read_question(file.read(), file_name=file.name)
            except BadQuestion as refusal:
                self.add_error("file", str(refusal))
        return cleaned


def initial_of(question: Question) -> dict[str, Any]:
    """Return what the form shows for a question that shall be like this one."""
    shape: TaskTypeShape = shape_in(question.name, question.document)
    criterion = shape.criteria[0]
    table = question.document["criteria"][0]
    return {
        **{field: question.document[field] for field in ("title", "text", "element", "guidelines", "language")},
        **{field: table[field] for field in ("question", "level", "marks", "prompt", "threshold")},
        "grades": "\n".join(f"{value:g} | {name} | {text}" for value, name, text in criterion.scale.points),
    }
