"""What a researcher fills in: a new study with its criteria, people to add, a reason."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms.utils import ErrorDict
from django.utils.text import slugify

from annotate.assignments.design import Design
from annotate.frames.frame import Frame
from annotate.studies.assessor_accounts import people_of
from annotate.studies.criterion_forms import CriterionForm
from annotate.studies.design import StudyDesign
from annotate.studies.lifecycle import NameTaken, refuse_a_taken_name
from annotate.studies.options import StudyOptions, names_of, study_field
from annotate.task_types import RULES, criteria_asked, lacks_of, shapes_offered
from annotate.task_types.key_point import ANSWERS, ONLY_OF_ANSWERS
from collection.languages.languages import ENGLISH, NAMES
from collection.models import Collection, Study, User
from collection.questions.shapes import CriterionShape, TaskTypeShape, title_of

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
        help_text="One a line. A new name gets an account, name@collection, and you are shown its password once. "
        "People who have their own account join by an invitation.",
        widget=forms.Textarea(attrs={"rows": 3, "autocapitalize": "off", "spellcheck": "false"}),
    )

    def __init__(self, *args: Any, user: User, study: Study | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        known = people_of(user).exclude(pk=user.pk)
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
            raise ValidationError("Choose somebody, or enter a name.")
        return cleaned


# Fields that are never left empty: their sections are always there.
ALWAYS_SENT = ("overlap", "depth")


class StudyForm(PeopleForm):
    """A new study. Its criteria are worded in a `CriterionForm` each."""

    collection = forms.ModelChoiceField(Collection.objects.none(), to_field_name="name", empty_label=None)
    title = forms.CharField(max_length=200, help_text="As you and the assessors see it.")
    name = forms.SlugField(
        max_length=100,
        required=False,
        help_text="In addresses and file names: letters, digits and hyphens. Leave empty to derive it from the title.",
    )
    task_types = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one task type."},
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, user=user, **kwargs)
        for name in names_of(StudyOptions):
            self.fields[name] = study_field(name, required=name in ALWAYS_SENT)
        collection = self.fields["collection"]
        assert isinstance(collection, forms.ModelChoiceField)
        collection.queryset = Collection.objects.of(user)
        self.shapes = shapes_offered()
        task_types = self.fields["task_types"]
        assert isinstance(task_types, forms.MultipleChoiceField)
        task_types.choices = [(shape.task_type, shape.title) for shape in self.shapes]
        for shape in self.shapes:
            if not RULES[shape.task_type].drawn:
                continue
            self.fields[sample_field(shape.task_type)] = forms.IntegerField(
                min_value=1,
                required=False,
                label=f"How many {RULES[shape.task_type].texts_are}",
                help_text="Drawn at random with a known probability. Leave empty to use all.",
            )
        self.spoken = self._sent_language("language")
        shown_in = self._sent_language("worded_in")
        self.criteria = {
            shape.task_type: [
                CriterionForm(self.data if self.is_bound else None, shape=shown).in_words_of(spoken)
                for (_, shown), (_, spoken) in zip(
                    criteria_asked(shape.task_type, shown_in),
                    criteria_asked(shape.task_type, self.spoken),
                    strict=True,
                )
            ]
            for shape in self.shapes
        }

    def validate_nothing(self) -> None:
        """Show the form without errors, as somebody who still fills it in left it."""
        for form in (self, *(criterion for criteria in self.criteria.values() for criterion in criteria)):
            vars(form)["_errors"] = ErrorDict()  # Django validates a form that has none yet

    def _sent_language(self, name: str) -> str:
        """Return the study's language, or the one in which the page that was sent showed the criteria."""
        sent = self.data.get(name, "")
        return sent if sent in NAMES else ENGLISH

    def sections(self) -> Iterator[tuple[TaskTypeShape, Any, str, Any, list[CriterionForm]]]:
        """Yield each task type with its box, what it asks, its sample field, if it has one, and its criteria."""
        for shape, box in zip(self.shapes, self["task_types"], strict=True):
            rules, criteria = RULES[shape.task_type], self.criteria[shape.task_type]
            yield shape, box, rules.summary, self[sample_field(shape.task_type)] if rules.drawn else None, criteria

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        for option, declared in StudyOptions().fields.items():
            cleaned[option] = cleaned.get(option) or declared.default
        name = cleaned.get("name") or slugify(cleaned.get("title", ""))[:100]
        if not name and not self.errors:
            self.add_error("name", "This title has no letter that can be used in an address: enter a name.")
        try:
            refuse_a_taken_name(name)
        except NameTaken as refusal:
            self.add_error("name", str(refusal))
        cleaned["name"] = name
        for lack in lacks_of(cleaned.get("task_types", [])):
            self.add_error("task_types", lack)
        if cleaned.get("why_missed") and cleaned.get("key_points_in") != ANSWERS:
            self.add_error("why_missed", ONLY_OF_ANSWERS)
        for task_type in cleaned.get("task_types", []):
            if not all(form.is_valid() for form in self.criteria[task_type]):
                self.add_error(None, f"Correct the criteria of “{title_of(task_type)}”.")
        return cleaned

    def design(self, *, frame: Frame, work: Design) -> StudyDesign:
        """Return the study that was described, with what the other forms of the page say."""
        sent = self.cleaned_data
        chosen = {name: sent[name] for name in ("collection", "name", "title", "task_types", *names_of(StudyOptions))}
        return StudyDesign(
            **chosen, criteria=self.criterion_shapes, sample_sizes=self.sample_sizes, frame=frame, work=work
        )

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


class GuidelinesForm(forms.Form):
    guidelines = forms.CharField(widget=forms.Textarea(attrs={"rows": 14}), help_text="In Markdown.")


class ReasonForm(forms.Form):
    """Why somebody is excluded, and whether they are removed from the study too."""

    reason = forms.CharField(max_length=500, label="Reason")
    remove = forms.BooleanField(required=False)
