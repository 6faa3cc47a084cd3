"""What corrected scores and plans for labels are asked for."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from collection.api_tools import NumberField, WholeField
from collection.web.options import PART
from evaluation.calibration.planning import HOW


class JudgeChoice(serializers.Serializer[Any]):
    """Which judge is corrected."""

    judge = serializers.CharField(default=None, help_text="The judge’s name, if there are several.")


class CalibrationChoice(JudgeChoice):
    """Which judge is corrected, and what is declared."""

    judge = serializers.CharField(default=None, label="Judge", help_text="Default: the first by name.")

    label_shift = serializers.BooleanField(
        default=False,
        label="I declare label shift",
        help_text=(
            "Given the human grade, the judge errs equally often on labelled items and on all others; only the share "
            "of yes may differ. Rogan–Gladen’s correction needs this assumption, which data cannot confirm."
        ),
    )
    part = serializers.ChoiceField(choices=PART, default="development", help_text="If the study is split.")


class PlanChoice(JudgeChoice):
    """What is planned for: an interval of ± half_width, or telling two systems apart."""

    half_width = NumberField(
        required=False,
        min_value=0.001,
        max_value=0.5,
        label="Half-width of the interval",
        help_text="0.05 means that the score is known to within ± 5 points.",
    )
    measure = serializers.CharField(
        default="",
        max_length=60,
        label="Measure",
        help_text="Of rankings, whose mean over topics is planned: nDCG@10, P@10, DCG@10; default: the share of yes.",
    )
    system = serializers.CharField(
        default="", label="Score", help_text="For this system’s score instead of that of all items."
    )
    separate = serializers.ListField(
        child=serializers.CharField(),
        min_length=2,
        max_length=2,
        required=False,
        help_text="Instead, plan to detect a difference between these two systems.",
    )
    difference = NumberField(
        required=False,
        min_value=-1,
        max_value=1,
        label="Size of the difference",
        help_text="Empty: the difference according to the judge.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse a question that asks for both or neither."""
        if ("half_width" in attrs) == ("separate" in attrs):
            raise serializers.ValidationError("Give either half_width, or separate with two systems.")
        return attrs


class DrawChoice(serializers.Serializer[Any]):
    """How many items people label next, and how they are drawn."""

    criterion = serializers.CharField()
    judge = serializers.CharField(default=None)
    n = WholeField(min_value=1, label="Number of items")
    how = serializers.ChoiceField(choices=list(HOW.items()), default="strata", label="Sampling")


MOST_CHARACTERS = 500


class DeclarationsChoice(serializers.Serializer[Any]):
    """What is declared; what is not named does not change."""

    random_sample = serializers.BooleanField(
        required=False,
        label="I declare the labelled items a simple random sample",
        help_text=(
            "Of all items that anybody judged. It counts only where no draw is stored. If the items were "
            "selected by hand, or are the first of each ranking, every corrected figure and every plan is biased."
        ),
    )
    irrelevant = serializers.DictField(
        child=serializers.CharField(max_length=MOST_CHARACTERS, allow_blank=True),
        required=False,
        help_text=(
            "Why passages that a source (people, or a judge by its name) does not name are irrelevant, by source; an "
            "empty reason takes it back."
        ),
    )


class DeclaredSerializer(DeclarationsChoice):
    """What is declared, and why the labels can hardly be the sample that they are declared to be."""

    doubt = serializers.CharField(help_text="Empty where there is none.")
