"""What a researcher fills in about grading jobs: what is graded by whom, for how much, and replies of a batch."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from collection.importing.uploads import at_most
from collection.models import Judgment
from judging.data.missing_grades import MissingGrades
from judging.data.selection import DEFAULT_SEED, Selection
from judging.grading.batch_files import SERVICES
from judging.grading.jobs import JobLimits
from judging.models import Build, GradingJob

MOST_BATCH_MEGABYTES = 1_000


class Names(forms.Field):
    """Names that are sent several times under one key."""

    widget = forms.MultipleHiddenInput

    def clean(self, value: Any) -> list[str]:
        names = list(dict.fromkeys(str(name) for name in value or []))
        if not names or any(not 0 < len(name) <= 150 or "\x00" in name for name in names):
            raise ValidationError("Choose at least one judge.")
        return names


class Lines(forms.CharField):
    """Names, one a line."""

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, widget=forms.Textarea(attrs={"rows": 2}), **options)

    def clean(self, value: Any) -> tuple[str, ...]:
        return tuple(dict.fromkeys(line.strip() for line in super().clean(value).splitlines() if line.strip()))


class LimitsForm(forms.Form):
    """What a job may spend, or a build with all that follows it."""

    price_in = forms.FloatField(
        required=False,
        min_value=0,
        label="Price of a million prompt tokens",
        help_text="In any currency. Without prices, those of the judge’s model server hold, if it has any.",
    )
    price_out = forms.FloatField(required=False, min_value=0, label="Price of a million reply tokens")
    call_limit = forms.IntegerField(
        required=False, min_value=1, max_value=2**53, label="Limit of calls",
        help_text="The job pauses when so many calls have a reply.",
    )  # fmt: skip
    token_limit = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=2**53,
        label="Token limit",
        help_text="The job pauses when it has used this many.",
    )
    cost_limit = forms.FloatField(
        required=False,
        min_value=0,
        label="Cost limit",
        help_text="The job pauses when it has cost this much; prices are needed too.",
    )

    minutes_limit = forms.FloatField(
        required=False, min_value=0.1, max_value=10**7, label="Limit of minutes",
        help_text="The job pauses so many minutes after its start; pauses count.",
    )  # fmt: skip

    def clean(self) -> dict[str, Any]:
        sent = super().clean() or self.cleaned_data
        if sent.get("cost_limit") is not None and sent.get("price_in") is None and sent.get("price_out") is None:
            self.add_error("cost_limit", "A cost limit needs a price: give one, or set a token limit.")
        return sent

    @property
    def terms(self) -> JobLimits:
        """What may be spent. Only for a form that is valid."""
        sent = self.cleaned_data
        return JobLimits(**{one.name: sent[one.name] for one in fields(JobLimits)})

    @staticmethod
    def initial_of(job: GradingJob | Build) -> dict[str, Any]:
        """Return the terms of a job or build as the form shows them: its prices, and the limits of its chain."""
        prices = {"price_in": job.price_in, "price_out": job.price_out}
        return {one.name: getattr(job.bounds, one.name) for one in fields(JobLimits)} | prices


# Which pairs, by what other judges left without a grade: the choice that no judge has graded, and how one is named.
BY_NO_JUDGE = "no-judge"
BY_A_JUDGE = "judge:"


class StartForm(LimitsForm):
    """Which judges shall grade which criterion, on which items.

    A baseline that was never made for its scale is named by its engine.
    """

    criterion = forms.CharField(max_length=50, widget=forms.HiddenInput)
    judge = Names()
    topics = Lines(label="Topics", help_text="Ids, one per line. All if empty.")
    runs = Lines(label="Runs", help_text="Names, one per line: only what these runs answered or ranked. All if empty.")
    missing_grades = forms.CharField(
        required=False, max_length=210, widget=forms.Select, label="Only pairs without a grade",
        help_text="The grades are stored for the judge that you start; other judges’ grades do not change.",
    )  # fmt: skip
    sample = forms.IntegerField(
        required=False, min_value=1, max_value=10_000_000, label="Sample size",
        help_text="A random sample of the items left to grade; each item’s probability is stored.",
    )  # fmt: skip
    seed = forms.IntegerField(
        required=False, min_value=0, max_value=2**31 - 1, initial=DEFAULT_SEED, label="Sampling seed"
    )
    service = forms.ChoiceField(
        required=False, choices=[("", "workers"), *((name, name) for name in SERVICES)], widget=forms.HiddenInput
    )

    @property
    def selection(self) -> Selection:
        """The items that were chosen. Only for a form that is valid."""
        sent = self.cleaned_data
        seed = DEFAULT_SEED if sent["seed"] is None else sent["seed"]
        by: str = sent["missing_grades"]
        return Selection(
            sent["topics"],
            sent["runs"],
            sent["sample"],
            seed,
            without_grade_by=(by.removeprefix(BY_A_JUDGE),) if by.startswith(BY_A_JUDGE) else (),
            graded_by_no_judge=by == BY_NO_JUDGE,
        )

    def clean_missing_grades(self) -> str:
        by: str = self.cleaned_data["missing_grades"]
        if by and by != BY_NO_JUDGE and not by.startswith(BY_A_JUDGE):
            raise ValidationError("Choose one of these.")
        return by

    def offer_missing_grades(self, offered: list[MissingGrades], by_no_judge: int) -> None:
        """Let the page choose among what these judges left without a grade."""
        choices = [("", "all pairs, whatever other judges graded")]
        if offered:
            choices.append((BY_NO_JUDGE, f"no grade by any judge: {by_no_judge:,}"))
        choices += [
            (
                f"{BY_A_JUDGE}{one.rater.name}",
                f"no grade by {one.completeness.after(one.rater.name)}: {one.total:,} "
                f"({one.left_ungraded:,} ungraded, {one.missing:,} missing)",
            )
            for one in offered
        ]
        self.fields["missing_grades"].widget.choices = choices


class AgainForm(forms.Form):
    """Which of the ungraded shall be graded again; all if none is chosen."""

    kinds = forms.MultipleChoiceField(required=False, choices=Judgment.Ungraded)


class BatchForm(forms.Form):
    """A batch service's output."""

    file = forms.FileField(
        label="Output file of the service", validators=[at_most(MOST_BATCH_MEGABYTES, command="job read-batch")]
    )
