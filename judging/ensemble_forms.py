"""What a researcher fills in to make an ensemble, and to combine it."""

from __future__ import annotations

from typing import Any

from django import forms

from collection.models import Criterion, Study, User
from judging.ensembles import MOST_MEMBERS, RULES, TIES
from judging.models import Judge


class MembersField(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]  # takes none at run time
    """Judges with what they grade, for names do not tell it."""

    def label_from_instance(self, obj: Judge) -> str:
        return f"{obj.name} – {obj.criterion_name}, scale “{obj.scale}”"


class CriterionField(forms.ModelChoiceField):  # type: ignore[type-arg]  # takes none at run time
    """Criteria with their studies."""

    def label_from_instance(self, obj: Criterion) -> str:
        return f"{obj.study}: {obj}"


class EnsembleForm(forms.Form):
    """Members, or one judge of which samples are taken; and the rule."""

    members = MembersField(
        Judge.objects.none(),
        required=False,
        to_field_name="name",
        widget=forms.CheckboxSelectMultiple,
        help_text="Judges of the same kind of items, on the same scale.",
    )
    sampled = forms.ModelChoiceField(
        Judge.objects.none(),
        required=False,
        to_field_name="name",
        label="Or samples of one judge",
        help_text="It is made several times, each with a seed of its own; each sample grades in a job of its own.",
    )
    samples = forms.IntegerField(required=False, min_value=2, max_value=MOST_MEMBERS, initial=5)
    temperature = forms.FloatField(required=False, min_value=0, max_value=2, initial=0.7)
    rule = forms.ChoiceField(choices=RULES.items(), widget=forms.RadioSelect, initial="majority")
    ties = forms.ChoiceField(
        choices=TIES.items(), widget=forms.RadioSelect, initial="lower", label="If two grades are as near or as many"
    )
    quorum = forms.IntegerField(
        required=False, min_value=1, max_value=MOST_MEMBERS,
        help_text="How many members must have graded an item; without a number, more than half.",
    )  # fmt: skip
    name = forms.SlugField(
        required=False, max_length=150, help_text="Letters, digits, - and _. Without one it is made of what it is."
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        judges = Judge.objects.exclude(engine=Judge.Engine.ENSEMBLE)
        members, sampled = self.fields["members"], self.fields["sampled"]
        assert isinstance(members, MembersField)
        assert isinstance(sampled, forms.ModelChoiceField)
        members.queryset = judges.select_related("rater", "scale", "examples_from").order_by("criterion_name", "name")
        sampled.queryset = judges.filter(template__isnull=False).select_related("template", "scale", "examples_from")

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        chosen, sampled = cleaned.get("members"), cleaned.get("sampled")
        if bool(chosen) == bool(sampled):
            raise forms.ValidationError("Choose the members, or one judge of which samples are taken.")
        if sampled and (cleaned.get("samples") is None or cleaned.get("temperature") is None):
            raise forms.ValidationError("Say how many samples there are, and at which temperature.")
        return cleaned


class CombineForm(forms.Form):
    """Where an ensemble shall be combined."""

    criterion = CriterionField(
        Criterion.objects.none(), label="Study and criterion", widget=forms.Select(attrs={"class": "input"})
    )

    def __init__(self, *args: Any, user: User, ensemble: Judge, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["criterion"]
        assert isinstance(field, CriterionField)
        fitting = Criterion.objects.filter(
            study__in=Study.objects.of(user), task_type=ensemble.task_type, scale=ensemble.scale_id
        )
        if ensemble.examples_from:
            fitting = fitting.filter(study__collection=ensemble.examples_from.collection_id)
        field.queryset = fitting.select_related("study")
