"""What a researcher says of a file of grades that were made elsewhere."""

from __future__ import annotations

from datetime import date
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.utils.timezone import localdate

from collection.importing.forms import relevant_from_field
from collection.importing.uploads import at_most
from collection.models import Criterion, Study
from collection.models.studies import TaskType
from judging.imported.formats import FORMATS, read_no_grade
from judging.imported.importer import Wanted

# Texts and prompts may stand in such files; how many grades may is another matter.
MOST_MEGABYTES = 100
MOST_PROMPT_CHARACTERS = 50_000


def not_in_the_future(day: date) -> None:
    """Refuse a day that is yet to come."""
    if day > localdate():
        raise ValidationError("This date is in the future.")


class Numbers(forms.CharField):
    """Numbers with commas between them."""

    def clean(self, value: Any) -> tuple[float, ...]:
        try:
            return read_no_grade(super().clean(value))
        except ValueError as error:
            raise ValidationError(str(error)) from error


class GradesForm(forms.Form):
    """A file of grades with its format, its judge and what becomes of pairs that the study lacks."""

    use_required_attribute = False

    file_format = forms.ChoiceField(
        label="Format", choices=[(name, each.label) for name, each in FORMATS.items()], widget=forms.RadioSelect
    )
    file = forms.FileField(label="File", validators=[at_most(MOST_MEGABYTES, command="import grades")])
    judge = forms.CharField(
        max_length=150,
        label="Judge name",
        validators=[RegexValidator(r"^[^\x00-\x1f/]+$", "A name is one line, without “/”.")],
        help_text="The grades are stored under this name. If several models graded, each model’s name is added.",
    )
    tool = forms.CharField(max_length=200, help_text="The program that graded, for example UMBRELA or CRUX.")
    version = forms.CharField(max_length=100, required=False, label="Version of the tool")
    model = forms.CharField(max_length=300, required=False, help_text="The model that the tool used.")
    prompt = forms.CharField(
        max_length=MOST_PROMPT_CHARACTERS,
        required=False,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="The prompt, or where to find it.",
    )
    graded_on = forms.DateField(
        required=False,
        label="Graded on",
        validators=[not_in_the_future],
        widget=forms.DateInput(attrs={"type": "date"}),
        help_text="The files do not contain this date; judgments carry the time of the import.",
    )
    criterion = forms.ModelChoiceField(
        Criterion.objects.none(), required=False, to_field_name="name",
        empty_label="the study’s first, or a new criterion",
        help_text="The criterion that the qrels grade.",
    )  # fmt: skip
    relevant_from = relevant_from_field()
    no_grade = Numbers(
        required=False, initial="-1", label="Grades that mean no grade", max_length=100,
        help_text="In qrels. Such a pair is ungraded, never 0.",
    )  # fmt: skip
    add_items = forms.BooleanField(
        required=False,
        label="Add pairs that are not items of the study",
        help_text="Their texts must be in the collection. Pairs that are not added are counted.",
    )

    add_passages = forms.BooleanField(
        required=False,
        label="Add passages that are missing from the collection, by id only",
        help_text="They have no text, so neither judges nor assessors can grade them.",
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        criterion = self.fields["criterion"]
        assert isinstance(criterion, forms.ModelChoiceField)
        criterion.queryset = study.criteria.filter(task_type=TaskType.RELEVANCE)

    @property
    def wanted(self) -> Wanted:
        """What was said of the file. Only for a form that is valid."""
        sent = self.cleaned_data
        criterion = sent["criterion"]
        return Wanted.of(
            {
                **sent,
                "prompt": sent["prompt"].replace("\r\n", "\n"),
                "criterion": criterion.name if criterion else "",
            }
        )
