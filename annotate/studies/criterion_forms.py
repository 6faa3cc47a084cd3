"""A criterion in the researcher's words: its question, its grades and its threshold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from collection.models import Criterion
from collection.questions.shapes import CriterionShape
from collection.thresholds import thresholds_of

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
            raise ValidationError("Each grade must be higher than the one on the line before.")
        return tuple(points)

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Compare the grades, for browsers send other line ends than a page was given."""
        try:
            return self.clean(initial) != self.clean(data)
        except ValidationError:
            return True

    def point_in(self, number: int, line: str) -> tuple[float, str, str]:
        found = GRADE_LINE.fullmatch(line)
        if not found or not found[2] or len(found[2]) > 50 or len(found[3] or "") > 500:
            raise ValidationError(
                f"Line {number}, “{line[:60]}”, is not a grade: write “2 | relevant | What it means.”"
            )
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
        threshold.choices = [(f"{value:g}", in_words(value, name)) for value, name, _ in shape.scale.points]
        threshold.initial = f"{shape.threshold:g}"
        for number, (value, name, text) in enumerate(shape.scale.points):
            self.fields[f"name-{number}"] = forms.CharField(
                max_length=50, initial=name, label=f"Name of grade {value:g}"
            )
            self.fields[f"text-{number}"] = forms.CharField(
                max_length=500, initial=text, label=f"Text of grade {value:g}", required=bool(text)
            )

    def in_words_of(self, shape: CriterionShape) -> CriterionForm:
        """Return the form of the same criterion in another language: what the researcher did not change is in it."""
        if not self.is_bound or shape == self.shape:
            return self
        standard = CriterionForm(None, shape=shape)
        words = {
            self.add_prefix(name): self[name].data if name in self.changed_data else standard[name].initial
            for name in self.fields
        }
        return CriterionForm(words, shape=shape)

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


class ThresholdForm(forms.Form):
    """Where the η of a criterion goes."""

    threshold = forms.TypedChoiceField(coerce=float, label="Positive from")

    def __init__(self, *args: Any, criterion: Criterion, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.auto_id = f"id_{criterion.name}_%s"
        threshold = self.fields["threshold"]
        assert isinstance(threshold, forms.TypedChoiceField)
        names = {point["value"]: point["name"] for point in criterion.scale.points}
        threshold.choices = [(f"{grade:g}", in_words(grade, names[grade])) for grade in thresholds_of(criterion.scale)]
        threshold.initial = f"{criterion.threshold:g}"


def in_words(grade: float, name: str) -> str:
    """Return a grade as a choice shows it."""
    return f"{grade:g}" if name == f"{grade:g}" else f"{grade:g} – {name}"
