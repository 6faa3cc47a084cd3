"""The form of a study's frame: one for a new study, a draft and a study that stands."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from annotate.frames.attributes import TopicAttribute, topic_attributes
from annotate.frames.checks import FrameRefused, check_frame
from annotate.frames.frame import PASSAGES, RUNS, SHARES, TOPICS, Frame, Passages, Runs, Topics
from collection.models import Collection, Criterion, Item, RankedPassage

PREFIX = "frame"
# So many runs or topics are offered to tick; of more, ids are pasted.
MOST_TICKED = 500
MOST_TOPICS = 1_000_000
NUMBER = re.compile(r"^(?P<value>.+?)\s*[:=]\s*(?P<number>\d+(?:\.\d+)?)\s*(?P<percent>%?)$")


class LinesField(forms.CharField):
    """Ids, one a line or divided by commas; cleans to a list without repetitions."""

    widget = forms.Textarea

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list | tuple) else value

    def clean(self, value: Any) -> Any:
        said = super().clean(value) or ""
        return list(dict.fromkeys(name.strip() for name in re.split(r"[\n,]", said) if name.strip()))


class NumbersField(forms.CharField):
    """A number for each value, a line each: `true: 40`, or a share: `true: 80 %`. Cleans to ({value: number}, in %)."""

    widget = forms.Textarea

    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, tuple):
            numbers, in_percent = value
            return "\n".join(f"{name}: {number:g}{' %' if in_percent else ''}" for name, number in numbers.items())
        return value

    def clean(self, value: Any) -> Any:
        lines = [line.strip() for line in (super().clean(value) or "").splitlines() if line.strip()]
        found = [NUMBER.match(line) for line in lines]
        if broken := [line for line, one in zip(lines, found, strict=True) if one is None]:
            raise ValidationError(f"“{broken[0]}” is not a value with a number, such as “true: 40” or “true: 80 %”.")
        parts = [one for one in found if one is not None]
        if len({bool(one["percent"]) for one in parts}) > 1:
            raise ValidationError("Give numbers or shares in percent, not both.")
        if len({one["value"] for one in parts}) < len(parts):
            raise ValidationError("A value stands on two lines.")
        numbers = {one["value"]: float(one["number"]) for one in parts}
        whole = {name: int(number) if number == int(number) else number for name, number in numbers.items()}
        return whole, any(one["percent"] for one in parts)


class FrameForm(forms.Form):
    """A `Frame` as a researcher chooses it. Left alone, it is the frame without any choice."""

    runs = forms.ChoiceField(choices=list(RUNS.items()), initial="all", required=False, widget=forms.RadioSelect)
    run_names = forms.MultipleChoiceField(required=False, widget=forms.CheckboxSelectMultiple, label="These runs")
    topics = forms.ChoiceField(choices=list(TOPICS.items()), initial="all", required=False, widget=forms.RadioSelect)
    ticked = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="These topics",
        help_text="Of a draw: added for certain.",
    )
    topic_ids = LinesField(
        required=False,
        label="Topic ids",
        help_text="One a line, beside those that are ticked. Of a draw: added for certain.",
        widget=forms.Textarea(attrs={"rows": 3, "autocapitalize": "off", "spellcheck": "false"}),
    )
    n_topics = forms.IntegerField(
        min_value=1,
        max_value=MOST_TOPICS,
        required=False,
        label="How many topics",
        help_text="Leave empty where each value below has its number.",
    )
    strata = forms.ChoiceField(required=False, label="By attribute", help_text="Without numbers: in proportion.")
    numbers = NumbersField(
        required=False,
        label="Number of each value",
        help_text="One value a line: “true: 40”, or a share: “true: 80 %”. A value that is not named gets none.",
        widget=forms.Textarea(attrs={"rows": 3, "autocapitalize": "off", "spellcheck": "false"}),
    )
    spread = forms.ChoiceField(
        required=False,
        label="Equally over",
        help_text="Each number is divided equally: with two parts, half is drawn of each.",
    )
    seed = forms.CharField(
        max_length=64,
        required=False,
        label="Seed",
        help_text="The same seed draws the same topics. Leave empty for a new one.",
        widget=forms.TextInput(attrs={"autocapitalize": "off", "spellcheck": "false"}),
    )
    only_complete = forms.BooleanField(
        required=False,
        label="Only topics on which all of the chosen runs have a report",
    )
    passages = forms.ChoiceField(
        choices=list(PASSAGES.items()),
        initial="pool",
        required=False,
        widget=forms.RadioSelect,
        help_text="For task types that ask about passages of rankings.",
    )
    passages_of = forms.ChoiceField(required=False, label="Run whose passages are asked about")
    grades_of = forms.ChoiceField(required=False, label="Grades of passages")
    grades_by = forms.CharField(
        max_length=200, required=False, label="Rater", help_text="Leave empty for people, by majority."
    )
    least_grade = forms.FloatField(
        required=False, label="Least grade", help_text="Leave empty for the threshold of the criterion."
    )
    share_by = forms.ChoiceField(
        choices=list(SHARES.items()), initial="text", required=False, widget=forms.RadioSelect, label="Share the work"
    )

    def __init__(self, data: Any = None, *, collection: Collection, frame: Frame = Frame()) -> None:  # noqa: B008
        super().__init__(data, prefix=PREFIX, initial=initial_of(frame))
        self.collection = collection
        self.attributes: list[TopicAttribute] = topic_attributes(collection)
        runs = list(collection.runs.order_by("name").values_list("name", flat=True))
        topics = list(collection.topics.order_by("topic_id").values_list("topic_id", flat=True)[: MOST_TICKED + 1])
        ranking = collection.runs.filter(pk__in=RankedPassage.objects.filter(run__collection=collection).values("run"))
        names = [one.name for one in self.attributes]
        self.choose_from("run_names", runs)
        self.choose_from("passages_of", ["", *ranking.order_by("name").values_list("name", flat=True)])
        self.choose_from("strata", ["", *names])
        self.choose_from("spread", ["", *names])
        self.choose_from("grades_of", ["", *grades_of_passages(collection)])
        if len(topics) > MOST_TICKED:
            del self.fields["ticked"]
            self.initial["topic_ids"] = list(frame.topic_ids)
        else:
            self.choose_from("ticked", topics)

    def choose_from(self, name: str, values: Iterable[str]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(value, value or "–") for value in values]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if self.errors:
            return cleaned
        try:
            check_frame(self.frame, self.collection)
        except FrameRefused as refused:
            self.add_error(refused.field, str(refused))
        return cleaned

    @property
    def frame(self) -> Frame:
        """The frame that was chosen, without what its other choices leave unused."""
        sent: dict[str, Any] = self.cleaned_data
        runs: Runs = sent["runs"] or "all"
        topics: Topics = sent["topics"] or "all"
        passages: Passages = sent["passages"] or "pool"
        drawn, graded = topics == "drawn", passages in ("relevant", "required")
        numbers, in_percent = sent["numbers"] if drawn else ({}, False)
        return Frame(
            runs=runs,
            run_names=tuple(sent["run_names"]) if runs != "all" else (),
            topics=topics,
            topic_ids=tuple(dict.fromkeys([*sent.get("ticked", []), *sent["topic_ids"]])) if topics != "all" else (),
            only_complete=sent["only_complete"],
            n_topics=sent["n_topics"] if drawn else None,
            strata=sent["strata"] if drawn else "",
            numbers=numbers,
            in_percent=in_percent,
            spread=sent["spread"] if drawn else "",
            seed=sent["seed"] if drawn else "",
            passages=passages,
            passages_of=sent["passages_of"] if passages in ("run", "context") else "",
            grades_of=sent["grades_of"] if graded else "",
            grades_by=sent["grades_by"] if graded else "",
            least_grade=sent["least_grade"] if graded else None,
            share_by=sent["share_by"] or "text",
        )


def initial_of(frame: Frame) -> dict[str, Any]:
    """Return the form's values for a frame."""
    stored = {name: getattr(frame, name) for name in FrameForm.base_fields if hasattr(frame, name)}
    return stored | {"numbers": (frame.numbers, frame.in_percent), "ticked": list(frame.topic_ids), "topic_ids": []}


def grades_of_passages(collection: Collection) -> list[str]:
    """Return the criteria under which passages are graded, as "STUDY/CRITERION"."""
    graded = Item.objects.filter(study__collection=collection, passage__isnull=False, report__isnull=True)
    pairs = graded.order_by().values_list("study", "task_type").distinct()
    found = [
        criterion
        for study, task_type in pairs
        for criterion in Criterion.objects.filter(study=study, task_type=task_type).select_related("study")
    ]
    return sorted(f"{one.study.name}/{one.name}" for one in found)
