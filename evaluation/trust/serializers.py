"""What the examination of a judge, and comparisons of judges, are asked for."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from collection.web.options import PART
from evaluation.leaderboards.serializers import FORM_CHOICES
from evaluation.trust.overview_rows import SORTS
from stats.judges.alt_test import EPSILONS
from stats.judges.text_level import RULES


class TrustChoice(serializers.Serializer[Any]):
    """Which judge is examined, whom it would stand in for, and how its grades of a text become one."""

    judge = serializers.CharField(default=None, label="Judge", help_text="Default: the first by name.")
    people = serializers.ChoiceField(choices=list(EPSILONS), default="skilled", label="Compare with")
    part = serializers.ChoiceField(choices=PART, default="development", help_text="If the study is split.")
    rule = serializers.ChoiceField(
        choices=list(RULES), default="highest", label="Grade of a text", help_text="At text level."
    )
    against = serializers.CharField(
        default="",
        label="Text-level comparison",
        help_text="Which: the judge’s and the human criterion, each as study.criterion.",
    )


class JudgesChoice(serializers.Serializer[Any]):
    """In which order judges are listed."""

    sort = serializers.ChoiceField(
        choices=[*SORTS, *(f"-{name}" for name in SORTS)],
        required=False,
        help_text="Largest first; with a minus, smallest first. Default: by study, criterion and judge.",
    )


class JudgeComparisonChoice(serializers.Serializer[Any]):
    """Which judges of a criterion, to which of them differences are, and by which measure systems are ordered."""

    judge = serializers.ListField(
        child=serializers.CharField(), default=list, label="Judges", help_text="Default: all, of more than 50 the best."
    )
    every = serializers.BooleanField(
        default=False,
        label="All judges",
        help_text="Compare all judges that were asked about at least half of the items.",
    )
    against = serializers.CharField(
        default="", label="Differences to", help_text="Reference judge, by name; default: the best."
    )
    measure = serializers.CharField(
        default="",
        max_length=60,
        label="Systems by",
        help_text="As on leaderboards: nDCG@10, P(rel=η)@10, coverage, …; default: the first that there is.",
    )


class SubmissionsChoice(serializers.Serializer[Any]):
    """How submitted files are read, what orders the systems, and whether the study's own judges stand beside them."""

    measure = serializers.CharField(
        default="",
        max_length=60,
        label="Systems by",
        help_text="As on leaderboards: nDCG@10, P(rel=η)@10, …; default: the first that there is.",
    )
    stored = serializers.BooleanField(
        default=False, label="With the study’s judges", help_text="On the items that all were asked about."
    )
    form = serializers.ChoiceField(
        choices=[("", "told from the file"), ("qrels", "qrels: topic 0 text grade"), *FORM_CHOICES],
        default="",
        label="Form of the files",
    )


class EffectsChoice(serializers.Serializer[Any]):
    """Under which criterion, and of which judge."""

    criterion = serializers.CharField(
        default="", label="Criterion", help_text="Default: the one with most suggested grades."
    )
    judge = serializers.CharField(default="", label="Judge", help_text="Default: the one with most suggested grades.")
