"""What the errors of a rater are asked for."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from collection.api_tools import WholeField
from collection.web.options import PART

PEOPLE = "people"
BY = {"answers": "yes and no, at the thresholds", "grades": "grades"}


class ErrorsChoice(serializers.Serializer[Any]):
    """Whose errors, beside whom, and what an error is."""

    rater = serializers.CharField(
        default="", label="Rater", help_text="A judge or an assessor, by name. Default: the first judge."
    )
    against = serializers.CharField(
        default=PEOPLE, label="Beside", help_text="“people” (their majority; without the rater) or a rater, by name."
    )
    by = serializers.ChoiceField(
        choices=list(BY.items()),
        default="answers",
        label="What differs",
        style={"flag": "--differ-by"},
        help_text="An error is another yes or no at the thresholds, or another grade; no grade is one too.",
    )
    part = serializers.ChoiceField(choices=PART, default="development", help_text="If the study is split.")


class ErrorItemsChoice(ErrorsChoice):
    """Which of the items: a cell of the confusion matrix, or all errors."""

    expected = serializers.CharField(default="", help_text="The expected answer or grade; default: any.")
    given = serializers.CharField(
        default="", help_text="The rater’s, or “ungraded”; default: any. Without both: all errors."
    )
    page = WholeField(default=1, min_value=1, max_value=1_000_000)
