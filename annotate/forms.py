"""What a researcher fills in: a new study with its criteria, people to add, a reason."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.text import slugify

from annotate.services.revisions import ALL, NON_CONSECUTIVE
from annotate.services.studies import NameTaken, refuse_a_taken_name
from annotate.task_types import RULES, SHAPES, criteria_asked, lacks_of
from annotate.task_types.nugget import PASSAGES, REPORTS
from collection.models import Collection, Study, User
from collection.models.studies import TaskType
from collection.task_types import CriterionShape

MOST_PEOPLE_AT_ONCE = 200


class UsernamesField(forms.CharField):
    """One username a line. Cleans to a list without repetitions."""

    widget = forms.Textarea

    def clean(self, value: Any) -> Any:
        names = list(dict.fromkeys((super().clean(value) or "").split()))
        if len(names) > MOST_PEOPLE_AT_ONCE:
            raise ValidationError(f"These are {len(names)} names; add at most {MOST_PEOPLE_AT_ONCE} at once.")
        username = User._meta.get_field("username")
        for name in names:
            try:
                username.run_validators(name)
            except ValidationError as error:
                raise ValidationError(f"“{name}”: {' '.join(error.messages)}") from error
        return names


class PeopleForm(forms.Form):
    """Whom to let into a study: people whom the researcher worked with before, and names."""

    people = forms.ModelMultipleChoiceField(
        User.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="People of your other studies",
        to_field_name="username",
    )
    usernames = UsernamesField(
        required=False,
        label="Names",
        help_text="One username a line. A name that has no account gets one, and you are shown its password once.",
        widget=forms.Textarea(attrs={"rows": 3, "autocapitalize": "off", "spellcheck": "false"}),
    )

    def __init__(self, *args: Any, user: User, study: Study | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        known = User.objects.filter(
            enrolments__study__in=Study.objects.of(user), is_active=True, participant__entry=None
        ).distinct()
        if study is not None:
            known = known.exclude(enrolments__in=study.enrolments.filter(left_at=None))
        people = self.fields["people"]
        assert isinstance(people, forms.ModelMultipleChoiceField)
        people.queryset = known.order_by("username")
        if not known.exists():
            del self.fields["people"]

    @property
    def chosen(self) -> list[str]:
        """The usernames of everybody chosen, however."""
        people = [user.username for user in self.cleaned_data.get("people", [])]
        return list(dict.fromkeys([*people, *self.cleaned_data["usernames"]]))


class AddPeopleForm(PeopleForm):
    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors and not self.chosen:
            raise ValidationError("Choose somebody, or write a name.")
        return cleaned


class StudyForm(PeopleForm):
    """A new study. Its criteria are worded in a `CriterionForm` each."""

    collection = forms.ModelChoiceField(Collection.objects.none(), to_field_name="name", empty_label=None)
    title = forms.CharField(max_length=200, help_text="As you and the assessors read it.")
    name = forms.SlugField(
        max_length=100,
        required=False,
        help_text="In addresses and file names: letters, digits and hyphens. Left empty, it is made of the title.",
    )
    task_types = forms.MultipleChoiceField(
        choices=[(shape.task_type.value, shape.task_type.label) for shape in SHAPES],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one task type."},
    )
    overlap = forms.IntegerField(
        min_value=1, max_value=50, initial=3, label="Overlap", help_text="How many assessors judge each item."
    )
    depth = forms.IntegerField(
        min_value=1,
        max_value=1000,
        initial=10,
        label="Ranking depth",
        help_text="How far down each run’s ranking passages come into the pool.",
    )
    nuggets_in = forms.ChoiceField(
        choices=[(REPORTS, "reports"), (PASSAGES, "passages of the pool")],
        initial=REPORTS,
        required=False,
        widget=forms.RadioSelect,
        label="Nuggets are looked for in",
    )
    revise = forms.ChoiceField(
        choices=[
            (NON_CONSECUTIVE, "answers whose sentences do not follow one another"),
            (ALL, "all answers"),
        ],
        initial=NON_CONSECUTIVE,
        required=False,
        widget=forms.RadioSelect,
        label="A second person reads",
    )
    revision_places = forms.IntegerField(
        min_value=1,
        max_value=50,
        initial=1,
        required=False,
        label="How many read each",
        help_text="Never the one who wrote it.",
    )
    guidelines = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 12}),
        required=False,
        help_text="In Markdown. Assessors have them at hand while they work. Left empty, ours for the chosen task "
        "types are taken; you can revise them.",
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, user=user, **kwargs)
        collection = self.fields["collection"]
        assert isinstance(collection, forms.ModelChoiceField)
        collection.queryset = Collection.objects.of(user)
        for shape in SHAPES:
            if not RULES[shape.task_type].drawn:
                continue
            self.fields[sample_field(shape.task_type)] = forms.IntegerField(
                min_value=1,
                required=False,
                label=f"How many {RULES[shape.task_type].texts_are}",
                help_text="Drawn at random with a known probability. Left empty, all are asked.",
            )
        self.criteria = {
            shape.task_type.value: [
                CriterionForm(self.data if self.is_bound else None, shape=criterion)
                for _, criterion in criteria_asked(shape.task_type)
            ]
            for shape in SHAPES
        }

    def task_type_choices(self) -> Iterator[tuple[Any, str]]:
        """Yield each task type's box with what it asks, for the page."""
        for box in self["task_types"]:
            yield box, RULES[box.data["value"]].summary

    def sections(self) -> Iterator[tuple[Any, Any, list[CriterionForm]]]:
        """Yield each task type's shape with its sample field, if it has one, and its criteria, for the page."""
        for shape in SHAPES:
            name = shape.task_type.value
            yield shape, self[sample_field(name)] if RULES[name].drawn else None, self.criteria[name]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        name = cleaned.get("name") or slugify(cleaned.get("title", ""))[:100]
        if not name and not self.errors:
            self.add_error("name", "This title holds no letter that may stand in an address: write a name.")
        try:
            refuse_a_taken_name(name)
        except NameTaken as refusal:
            self.add_error("name", str(refusal))
        cleaned["name"] = name
        for lack in lacks_of(cleaned.get("task_types", [])):
            self.add_error("task_types", lack)
        for task_type in cleaned.get("task_types", []):
            if not all(form.is_valid() for form in self.criteria[task_type]):
                self.add_error(None, f"Mend the criteria of “{TaskType(task_type).label}”.")
        return cleaned

    @property
    def criterion_shapes(self) -> dict[str, CriterionShape]:
        """The criteria of the chosen task types as the researcher worded them, by name."""
        forms_in_use = [form for name in self.cleaned_data["task_types"] for form in self.criteria[name]]
        return {form.shape.name: form.worded() for form in forms_in_use}

    @property
    def sample_sizes(self) -> dict[str, int]:
        """How many texts are drawn, for each chosen task type that has a size."""
        sizes = {name: self.cleaned_data.get(sample_field(name)) for name in self.cleaned_data["task_types"]}
        return {name: size for name, size in sizes.items() if size is not None}


def sample_field(task_type: str) -> str:
    return f"sample-{task_type}"


GRADE_LINE = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*[|:]\s*([^|]*?)\s*(?:\|\s*(.*?)\s*)?")
MOST_GRADES = 20


class ScaleField(forms.CharField):
    """A scale as lines of `value | name | what it means`."""

    widget = forms.Textarea

    def clean(self, value: Any) -> tuple[tuple[float, str, str], ...]:
        lines = [line for line in super().clean(value).splitlines() if line.strip()]
        points = [self.point_in(number, line) for number, line in enumerate(lines, start=1)]
        if not 2 <= len(points) <= MOST_GRADES:
            raise ValidationError(f"A scale has 2 to {MOST_GRADES} grades, one a line; these are {len(points)}.")
        values = [value for value, _, _ in points]
        if values != sorted(set(values)):
            raise ValidationError("The grades rise from line to line, each once.")
        return tuple(points)

    def point_in(self, number: int, line: str) -> tuple[float, str, str]:
        found = GRADE_LINE.fullmatch(line)
        if not found or not found[2] or len(found[2]) > 50 or len(found[3] or "") > 500:
            raise ValidationError(f"Line {number}, “{line[:60]}”, is no grade: write “2 | relevant | What it means.”")
        return float(found[1]), found[2], found[3] or ""


class CriterionForm(forms.Form):
    """A criterion's question, threshold, and the names and texts of its grades.

    The grades' values stay, unless the scale is open: then it is one field, with a line for each grade.
    """

    question = forms.CharField(max_length=500)
    threshold = forms.TypedChoiceField(
        coerce=float, label="Positive from", help_text="η: a grade of at least this counts as positive."
    )

    def __init__(self, data: Any, *, shape: CriterionShape) -> None:
        # No `required` in the page: a field in a section that is not shown would stop the form without a word.
        super().__init__(data, prefix=shape.name, use_required_attribute=False)
        self.shape = shape
        self.fields["question"].initial = shape.question
        if shape.open_scale:
            self.open_the_scale()
            return
        threshold = self.fields["threshold"]
        assert isinstance(threshold, forms.TypedChoiceField)
        threshold.choices = [(f"{value:g}", f"{value:g} – {name}") for value, name, _ in shape.scale.points]
        threshold.initial = f"{shape.threshold:g}"
        for number, (value, name, text) in enumerate(shape.scale.points):
            self.fields[f"name-{number}"] = forms.CharField(
                max_length=50, initial=name, label=f"Name of grade {value:g}"
            )
            self.fields[f"text-{number}"] = forms.CharField(
                max_length=500, initial=text, label=f"Text of grade {value:g}"
            )

    def open_the_scale(self) -> None:
        lines = [f"{value:g} | {name} | {text}" for value, name, text in self.shape.scale.points]
        self.fields["scale"] = ScaleField(
            initial="\n".join(lines),
            label="Grades",
            help_text="One a line, the lowest first: value | name | what it means.",
            widget=forms.Textarea(attrs={"rows": 6}),
        )
        self.fields["threshold"] = forms.FloatField(
            initial=f"{self.shape.threshold:g}",
            label="Positive from",
            help_text="η: a grade of at least this counts as positive.",
        )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if "scale" in cleaned and "threshold" in cleaned:
            values = [value for value, _, _ in cleaned["scale"]]
            if cleaned["threshold"] not in values:
                self.add_error("threshold", f"Choose one of the grades: {', '.join(f'{value:g}' for value in values)}.")
        return cleaned

    def grades(self) -> Iterator[tuple[float, Any, Any]]:
        """Yield each grade's value with the fields of its name and text, for the page."""
        if self.shape.open_scale:
            return
        for number, (value, _, _) in enumerate(self.shape.scale.points):
            yield value, self[f"name-{number}"], self[f"text-{number}"]

    def worded(self) -> CriterionShape:
        """Return the criterion as the researcher worded it."""
        words = self.cleaned_data
        if self.shape.open_scale:
            scale = self.shape.with_points(words["scale"])
            return replace(self.shape, question=words["question"], threshold=words["threshold"], scale=scale)
        points = tuple(
            (value, words[f"name-{number}"], words[f"text-{number}"])
            for number, (value, _, _) in enumerate(self.shape.scale.points)
        )
        return replace(
            self.shape,
            question=words["question"],
            threshold=words["threshold"],
            scale=replace(self.shape.scale, points=points),
        )


class GuidelinesForm(forms.Form):
    guidelines = forms.CharField(widget=forms.Textarea(attrs={"rows": 14}), help_text="In Markdown.")


class ReasonForm(forms.Form):
    reason = forms.CharField(max_length=500, label="Why")
