"""What a researcher fills in to make an ensemble, and to combine it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from django import forms

from collection.completeness import JudgesOfStudies, judges_of_studies
from collection.models import Criterion, Study, User
from judging.data.marked_judges import marked_last
from judging.judges.ensembles import MOST_MEMBERS, RULES, TIES
from judging.judges.members import Member, imported_members, members_named
from judging.judges.registry import BadJudge
from judging.models import Judge


def members_to_choose(judges: Iterable[Judge], found: JudgesOfStudies) -> Iterator[tuple[str, str]]:
    """Yield judges with what they grade, for names do not tell it; unfinished and failing ones are marked.

    Those imported into the studies come last, once for each criterion.
    """
    for judge in judges:
        named = found.worst_of(judge.rater_id).after(judge.name)
        yield judge.name, f"{named} – {judge.criterion_name}, scale “{judge.scale}”"
    for member in imported_members(found):
        named = found.of(member.criterion.pk, member.rater.pk).after(member.rater.name)
        where = f"imported into {member.criterion.study}"
        yield member.name, f"{named} – {where}: {member.criterion_name}, scale “{member.scale}”"


class SampledField(forms.ModelChoiceField):  # type: ignore[type-arg]  # takes none at run time
    """Judges of which samples are taken; unfinished and failing ones are marked."""

    completeness = JudgesOfStudies()

    def label_from_instance(self, obj: Judge) -> str:
        return self.completeness.worst_of(obj.rater_id).after(obj.name)


class CriterionField(forms.ModelChoiceField):  # type: ignore[type-arg]  # takes none at run time
    """Criteria with their studies."""

    def label_from_instance(self, obj: Criterion) -> str:
        return f"{obj.study}: {obj}"


class EnsembleForm(forms.Form):
    """Members, or one judge of which samples are taken; and the rule."""

    members = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Judges of the same kind of items, on the same scale; imported ones are of one collection.",
    )
    sampled = SampledField(
        Judge.objects.none(),
        required=False,
        to_field_name="name",
        label="Or samples of one judge",
        help_text="The judge is created several times with different seeds; each sample grades in its own job.",
    )
    samples = forms.IntegerField(required=False, min_value=2, max_value=MOST_MEMBERS, initial=5)
    temperature = forms.FloatField(required=False, min_value=0, max_value=2, initial=0.7)
    rule = forms.ChoiceField(choices=RULES.items(), widget=forms.RadioSelect, initial="majority")
    at = forms.FloatField(
        required=False,
        label="Threshold on the expected grade",
        help_text="With that rule alone. On a scale of 0 and 1, 0.7 is a yes where its probability is 0.7 or more.",
    )
    ties = forms.ChoiceField(choices=TIES.items(), widget=forms.RadioSelect, initial="lower", label="Tie-breaking")
    quorum = forms.IntegerField(
        required=False, min_value=1, max_value=MOST_MEMBERS,
        help_text="How many members must have graded an item. Default: more than half.",
    )  # fmt: skip
    name = forms.SlugField(
        required=False,
        max_length=150,
        help_text="Letters, digits, - and _. Without a name, one is created from the settings.",
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.studies = Study.objects.read_by(user)
        judges = Judge.objects.exclude(engine=Judge.Engine.ENSEMBLE)
        members, sampled = self.fields["members"], self.fields["sampled"]
        assert isinstance(members, forms.MultipleChoiceField)
        assert isinstance(sampled, SampledField)
        found = sampled.completeness = judges_of_studies(self.studies)
        of_models = judges.filter(template__isnull=False).select_related("template", "scale", "examples_from")
        here = marked_last(judges.select_related("scale"), found, "criterion_name", "name")
        members.choices = list(members_to_choose(here, found))
        sampled.queryset = marked_last(of_models, found, "name")

    def clean_members(self) -> list[Member]:
        try:
            return members_named(self.cleaned_data["members"], self.studies)
        except BadJudge as error:
            raise forms.ValidationError(str(error)) from error

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        chosen, sampled = cleaned.get("members"), cleaned.get("sampled")
        if bool(chosen) == bool(sampled):
            raise forms.ValidationError("Choose the members, or one judge to take samples of.")
        if sampled and (cleaned.get("samples") is None or cleaned.get("temperature") is None):
            raise forms.ValidationError("Give the number of samples and their temperature.")
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
            study__in=Study.objects.read_by(user), task_type=ensemble.task_type, scale=ensemble.scale_id
        )
        if ensemble.examples_from:
            fitting = fitting.filter(study__collection=ensemble.examples_from.collection_id)
        field.queryset = fitting.select_related("study")
