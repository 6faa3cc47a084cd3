"""What a figure of a study is asked for."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from collection.web.options import PART


class FigureChoice(serializers.Serializer[Any]):
    """Whose judgments a figure shows, and of what. Each figure knows some of these, and its answer says which."""

    figure = serializers.CharField(max_length=60, help_text="Its name, such as slices.")
    source = serializers.CharField(  # type: ignore[assignment]  # a parameter's name, and DRF's own
        default="", max_length=200, label="Grades by", help_text="people, or a judge; default: the first source."
    )
    topic = serializers.CharField(default="", max_length=200, label="Topic", help_text="Default: the first topic.")
    criterion = serializers.CharField(default="", max_length=100, label="Criterion", help_text="Default: the first.")
    judge = serializers.CharField(default="", max_length=200, label="Judge", help_text="Default: the first judge.")
    measure = serializers.CharField(default="", max_length=60, label="Measure", help_text="Default: the first offered.")
    by = serializers.CharField(
        default="",
        max_length=100,
        label="Slices by",
        help_text="An attribute of the topics, or of the runs; length of the answer, or of the documents.",
    )
    unit = serializers.CharField(
        default="",
        max_length=60,
        label="Lengths in",
        help_text="characters, words, or what token counts are stored by.",
    )
    edges = serializers.CharField(
        default="",
        max_length=300,
        label="Own edges",
        help_text="Of lengths, or thresholds of scores: numbers that rise, such as 1000, 1500, 2000.",
    )
    part = serializers.ChoiceField(choices=PART, default="development", help_text="If the study is split.")
