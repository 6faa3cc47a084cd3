from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms

from collection.models import Rater, System
from evaluation.qrels import COMBINES, TIES, Rule
from evaluation.services.families import LONGEST, family_of
from evaluation.services.plans import HOW


class QrelsForm(forms.Form):
    """Which judgments become qrels, and how."""

    criterion = forms.ChoiceField(widget=forms.HiddenInput)
    rater = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Whose judgments",
        help_text="Assessors, or one judge. All people if none is chosen.",
    )
    with_simulated = forms.BooleanField(
        required=False,
        label="Simulated assessors too",
        help_text="Otherwise they are left out, unless chosen above. What they give is no judgment by people.",
    )
    combine = forms.ChoiceField(
        widget=forms.RadioSelect, label="Several people become one by", choices=list(COMBINES.items())
    )
    ties = forms.ChoiceField(widget=forms.RadioSelect, label="Ties", choices=list(TIES.items()))
    fewest_raters = forms.IntegerField(
        min_value=1, max_value=1_000, label="Fewest raters", help_text="Items that fewer have graded are left out."
    )
    binary_at = forms.ChoiceField(required=False, label="Labels")
    per_element = forms.BooleanField(
        required=False,
        label="A topic for each rubric element",
        help_text="Otherwise a text gets the highest grade of any of its elements.",
    )
    adjudicated = forms.BooleanField(
        required=False,
        initial=True,
        label="What was decided counts",
        help_text="Where a third person decided about a disagreement, that grade counts instead of people’s.",
    )
    holes_at = forms.IntegerField(
        min_value=1,
        max_value=1_000,
        label="Holes in the top",
        help_text="How many passages of each run’s ranking are looked at for judgments.",
    )
    names = forms.BooleanField(
        required=False,
        label="People by their names",
        help_text="In the provenance and in the files’ names. Otherwise they are numbered.",
    )

    def __init__(
        self,
        *args: Any,
        criteria: list[str],
        raters: list[tuple[str, str]],
        grades: list[float],
        simulated: bool,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        choices = {
            "criterion": [(name, name) for name in criteria],
            "rater": raters,
            "binary_at": [
                ("", "the grades of the scale"),
                *((f"{grade:g}", f"1 from grade {grade:g} up, else 0") for grade in sorted(grades)[1:]),
            ],
        }
        for name, listed in choices.items():
            self.fields[name].choices = listed  # type: ignore[attr-defined]
        if not simulated:
            del self.fields["with_simulated"]

    def rule(self) -> Rule:
        """Return the rule that was chosen."""
        chosen = self.cleaned_data
        return Rule(
            combine=chosen["combine"],
            ties=chosen["ties"],
            fewest_raters=chosen["fewest_raters"],
            binary_at=float(chosen["binary_at"]) if chosen["binary_at"] else None,
            per_element=chosen["per_element"],
            adjudicated=chosen["adjudicated"],
        )


class SplitForm(forms.Form):
    """How much of a study is locked away as its test part."""

    test_share = forms.FloatField(
        min_value=0.05,
        max_value=0.95,
        initial=0.5,
        label="Share of topics in the test part",
        help_text="From 0.05 to 0.95. Whole topics go to one part, drawn at random.",
        widget=forms.NumberInput(attrs={"step": "0.05"}),
    )


class FamiliesForm(forms.Form):
    """The model family of each judge and of each system; empty where nobody states one."""

    def __init__(self, *args: Any, judges: Sequence[Rater], systems: Sequence[System], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        stated = [
            *((f"judge-{judge.pk}", judge.name, family_of(judge)) for judge in judges),
            *((f"system-{system.pk}", system.name, system.family) for system in systems),
        ]
        for name, label, family in stated:
            self.fields[name] = forms.CharField(
                required=False,
                max_length=LONGEST,
                label=label,
                initial=family,
                widget=forms.TextInput(attrs={"list": "known-families"}),
            )

    def known(self) -> list[str]:
        """Return the families that are stated somewhere, to choose from."""
        return sorted({str(field.initial) for field in self.fields.values() if field.initial})

    def of(self, kind: str) -> list[forms.BoundField]:
        """Return the fields of judges (`judge`) or systems (`system`)."""
        return [self[name] for name in self.fields if name.startswith(f"{kind}-")]

    def judge_fields(self) -> list[forms.BoundField]:
        return self.of("judge")

    def system_fields(self) -> list[forms.BoundField]:
        return self.of("system")

    def families(self, kind: str) -> dict[int, str]:
        """Return what was stated of judges or systems, by primary key."""
        return {int(field.name.rpartition("-")[2]): self.cleaned_data[field.name] for field in self.of(kind)}


class CalibrationForm(forms.Form):
    """Which judge is corrected, and what the researcher declares."""

    judge = forms.ChoiceField(label="Judge")
    label_shift = forms.BooleanField(
        required=False,
        label="I declare label shift",
        help_text=(
            "The judge errs alike on labelled items and on all others, given what people say; only the share of yes "
            "may differ. Rogan–Gladen’s correction needs this, and no data can show it."
        ),
    )
    declared_random = forms.BooleanField(
        required=False,
        label="I declare the labelled items a simple random sample",
        help_text="Only where no draw is stored. If they were picked by hand, every figure below is biased.",
    )

    def __init__(self, *args: Any, judges: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["judge"].choices = [(name, name) for name in judges]  # type: ignore[attr-defined]


class PlanForm(forms.Form):
    """What the researcher wants to know: a score within so much, or one system from another."""

    half_width = forms.FloatField(
        required=False,
        min_value=0.001,
        max_value=0.5,
        label="Half-width of the interval",
        help_text="0.05 asks for a score that is known to within ± 5 points.",
    )
    system = forms.ChoiceField(required=False, label="Of which score")
    first = forms.ChoiceField(required=False, label="Or tell this system")
    second = forms.ChoiceField(required=False, label="from this one")
    difference = forms.FloatField(
        required=False,
        min_value=-1,
        max_value=1,
        label="if they differ by",
        help_text="Left empty: by as much as the judge sees.",
    )

    def __init__(self, *args: Any, systems: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        named = [(name, name) for name in systems]
        self.fields["system"].choices = [("", "All items"), *named]  # type: ignore[attr-defined]
        for name in ("first", "second"):
            self.fields[name].choices = [("", "–"), *named]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Refuse a comparison with one side."""
        cleaned = super().clean() or {}
        if bool(cleaned.get("first")) != bool(cleaned.get("second")):
            raise forms.ValidationError("Choose both systems that are to be told apart.")
        if cleaned.get("first") and cleaned["first"] == cleaned["second"]:
            raise forms.ValidationError("Choose two different systems.")
        return cleaned


class DrawForm(forms.Form):
    """How many items people label next, and how they are drawn."""

    n = forms.IntegerField(min_value=1, label="How many items")
    how = forms.ChoiceField(widget=forms.RadioSelect, label="Drawn", initial="strata", choices=list(HOW.items()))


class BoardForm(forms.Form):
    """Which measure a leaderboard is by, and by which rules."""

    measure = forms.CharField(
        label="Measure",
        max_length=60,
        help_text=(
            "coverage, coverage@10, density, alpha-nDCG@10, Cover@20>=3, KPR@10, one of those offered above, or any of "
            "ir-measures: nDCG@10, AP, P(rel=η)@5, where η is each source’s own threshold."
        ),
    )
    combine = forms.ChoiceField(
        required=False,
        widget=forms.RadioSelect,
        label="Several people become one by",
        choices=[(name, f"{COMBINES[name]}, ties to the lower") for name in ("majority", "median")],
    )
    oracle = forms.ChoiceField(
        required=False,
        label="Oracle",
        help_text="The run whose texts say what can be answered, and for density in how few words.",
    )
    top = forms.IntegerField(required=False, min_value=1, max_value=1_000, label="r of P(rank ≤ r)")
    by = forms.ChoiceField(required=False, label="Means by", help_text="A property of the topics, or of the answers.")

    def __init__(self, *args: Any, runs: list[str], groupings: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["by"].choices = [("", "–"), *((name, name) for name in groupings)]  # type: ignore[attr-defined]
        choices = [("", "The run called “oracle”, if there is one"), *((name, name) for name in runs)]
        self.fields["oracle"].choices = choices  # type: ignore[attr-defined]
