"""What a researcher fills in: a new study with its criteria, people to add, a reason."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.text import slugify

from annotate.services.studies import NameTaken, refuse_a_taken_name
from collection.models import Collection, Study, User
from collection.task_types import TASK_TYPES, CriterionShape

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
        known = User.objects.filter(enrolments__study__in=Study.objects.of(user), is_active=True).distinct()
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
        choices=[(shape.task_type.value, shape.task_type.label) for shape in TASK_TYPES.values()],
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
        help_text="How far down each run’s ranking passages are rated.",
    )
    guidelines = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 12}), help_text="In Markdown. Assessors have them at hand while they work."
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, user=user, **kwargs)
        collection = self.fields["collection"]
        assert isinstance(collection, forms.ModelChoiceField)
        collection.queryset = Collection.objects.of(user)
        for shape in TASK_TYPES.values():
            self.fields[sample_field(shape.task_type)] = forms.IntegerField(
                min_value=1,
                required=False,
                label=f"How many {shape.text}s",
                help_text="Drawn at random with a known probability. Left empty, all are asked.",
            )
        self.criteria = {
            shape.task_type.value: [
                CriterionForm(self.data if self.is_bound else None, shape=criterion) for criterion in shape.criteria
            ]
            for shape in TASK_TYPES.values()
        }

    def sections(self) -> Iterator[tuple[Any, Any, list[CriterionForm]]]:
        """Yield each task type's shape with its sample field and its criteria, for the page."""
        for name, shape in TASK_TYPES.items():
            yield shape, self[sample_field(name)], self.criteria[name]

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
        for task_type in cleaned.get("task_types", []):
            if not all(form.is_valid() for form in self.criteria[task_type]):
                self.add_error(None, f"Mend the criteria of “{TASK_TYPES[task_type].task_type.label}”.")
        return cleaned

    @property
    def criterion_shapes(self) -> dict[str, CriterionShape]:
        """The criteria of the chosen task types as the researcher worded them, by name."""
        forms_in_use = [form for name in self.cleaned_data["task_types"] for form in self.criteria[name]]
        return {form.shape.name: form.worded() for form in forms_in_use}

    @property
    def sample_sizes(self) -> dict[str, int]:
        """How many texts are drawn, for each chosen task type that has a size."""
        sizes = {name: self.cleaned_data[sample_field(name)] for name in self.cleaned_data["task_types"]}
        return {name: size for name, size in sizes.items() if size is not None}


def sample_field(task_type: str) -> str:
    return f"sample-{task_type}"


class CriterionForm(forms.Form):
    """A criterion's question, threshold, and the names and texts of its grades. The grades' values stay."""

    question = forms.CharField(max_length=500)
    threshold = forms.TypedChoiceField(
        coerce=float, label="Positive from", help_text="η: a grade of at least this counts as positive."
    )

    def __init__(self, data: Any, *, shape: CriterionShape) -> None:
        # No `required` in the page: a field in a section that is not shown would stop the form without a word.
        super().__init__(data, prefix=shape.name, use_required_attribute=False)
        self.shape = shape
        self.fields["question"].initial = shape.question
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

    def grades(self) -> Iterator[tuple[float, Any, Any]]:
        """Yield each grade's value with the fields of its name and text, for the page."""
        for number, (value, _, _) in enumerate(self.shape.scale.points):
            yield value, self[f"name-{number}"], self[f"text-{number}"]

    def worded(self) -> CriterionShape:
        """Return the criterion as the researcher worded it."""
        words = self.cleaned_data
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
