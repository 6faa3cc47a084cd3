"""Which questions become seeds, as a form: the page's, the API's and the command's."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django import forms

from collection.models import Collection, User
from judging.building.seeds.choice import (
    EACH,
    OTHERS,
    NoSeeds,
    OfCategory,
    best_questions,
    criteria_of_questions,
    judges_of,
    sizes_in,
    take_as_seeds,
)
from judging.jobs.forms import Lines


class SeedsForm(forms.Form):
    """Whose grades choose the seeds, and how many of each category."""

    study = forms.SlugField(max_length=100, help_text="The study that asks how well questions fit their categories.")
    judge = forms.CharField(
        required=False, max_length=200, label="Whose grades", help_text="A judge’s name; people’s mean without one."
    )
    each = forms.IntegerField(
        required=False, min_value=1, max_value=1000, label="Seeds of a category", help_text=f"{EACH} unless you say."
    )
    others = Lines(
        label="Other numbers",
        help_text="CATEGORY=NUMBER, one a line, for categories with more or fewer seeds; LONG²RAG: subjective=7.",
    )

    def __init__(self, *args: Any, collection: Collection, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.collection = collection
        self.criteria = {one.study.name: one for one in criteria_of_questions(collection).select_related("study")}
        self.judges = {one.name: one for one in judges_of(collection)}
        self.fields["study"] = forms.ChoiceField(
            choices=[(name, str(one.study)) for name, one in self.criteria.items()],
            help_text=self.fields["study"].help_text,
        )
        self.fields["judge"].widget = forms.Select(
            choices=[("", "people’s mean"), *((name, f"judge {name}") for name in self.judges)]
        )
        self.fields["others"].initial = "\n".join(f"{name}={size}" for name, size in OTHERS.items())
        self.found: list[OfCategory] = []

    def clean_judge(self) -> str:
        name: str = self.cleaned_data["judge"]
        if name and name not in self.judges:
            raise forms.ValidationError(
                f"No judge “{name}” graded questions here. Judges that did: {', '.join(self.judges) or 'none'}."
            )
        return name

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if self.errors:
            return cleaned
        try:
            self.found = best_questions(
                self.criteria[cleaned["study"]],
                judge=self.judges.get(cleaned["judge"]),
                each=cleaned["each"] or EACH,
                others=sizes_in(cleaned["others"]),
            )
        except NoSeeds as refusal:
            raise forms.ValidationError(str(refusal)) from refusal
        return cleaned

    def take(self, *, by: User | None, at: datetime) -> int:
        """Take what was found as seeds. Returns how many there are."""
        judge = self.judges.get(self.cleaned_data["judge"])
        return take_as_seeds(self.found, self.criteria[self.cleaned_data["study"]], judge=judge, by=by, at=at)

    @property
    def n(self) -> int:
        """How many seeds there are."""
        return sum(len(one.chosen) for one in self.found)
