"""What maskings by grades and redundancy are asked for."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from collection.api_tools import NumberField, WholeField
from stats.measures.crux import ORDERS
from stats.measures.question_banks import LIKENESS, MINIMUM

# How many passages of a run are shown, from the top, where nothing else is said.
MOST_PASSAGES = 20


class GradesOfPassages(serializers.Serializer[Any]):
    """Whose grades of passages, and of which passages."""

    source = serializers.CharField(  # type: ignore[assignment]  # a parameter's name, and DRF's own
        default="", label="Source of grades", help_text="people, or a judge; default: the first source."
    )
    run = serializers.CharField(
        default="", label="Passages", help_text="The run whose passages count; default: all judged passages."
    )


class MaskingChoice(GradesOfPassages):
    """Whose grades decide."""

    criterion = serializers.CharField(
        default="", label="Criterion", help_text="Default: the first criterion with grades of passages."
    )


class MaskingSent(MaskingChoice):
    """The same, with the reason."""

    reason = serializers.CharField(
        default="", max_length=500, label="Reason", help_text="Default: the rule by which elements are masked."
    )


class RedundancyChoice(GradesOfPassages):
    """Whose ratings class the passages, by which rule, and of which run."""

    order = serializers.ChoiceField(choices=list(ORDERS.items()), default="gain", label="Choice of required passages")
    others = serializers.BooleanField(
        default=False,
        label="With other topics’ passages as irrelevant",
        help_text="Qrels say 0 of them: they are irrelevant by origin.",
    )
    summaries = serializers.CharField(
        default="",
        label="Human summaries",
        help_text="The run of reports whose coverage by the same source checks the questions; default: none.",
    )


class OracleSent(RedundancyChoice):
    """The same, with the run that the required passages are kept as."""

    name = serializers.CharField(
        default="oracle",
        max_length=200,
        label="Run",
        help_text="Leaderboards take “oracle” for Z* by default.",
    )


class BankCheckChoice(serializers.Serializer[Any]):
    """Whose grades are held against people's relevance, and from which grade on a question is answered."""

    source = serializers.CharField(  # type: ignore[assignment]  # a parameter's name, and DRF's own
        default="", label="Source of grades", help_text="A judge, or people; default: the first source."
    )
    relevance = serializers.CharField(
        default="",
        label="Relevance by",
        help_text="The criterion under which people judged relevance; default: the first.",
    )
    minimum = NumberField(
        default=MINIMUM, label="Answered from grade", help_text="A question is answered from this grade on."
    )
    likeness = NumberField(
        default=LIKENESS, min_value=0.0, max_value=1.0, label="Duplicates above",
        help_text="Questions whose ROUGE-L F1 is above this say nearly the same.",
    )  # fmt: skip


class GradedPassageChoice(serializers.Serializer[Any]):
    """Which passage on which topic."""

    topic = serializers.CharField(max_length=300, label="Topic", help_text="The topic’s id.")
    passage = serializers.CharField(max_length=300, label="Passage", help_text="The passage’s id.")
    criterion = serializers.CharField(
        default="", label="Criterion", help_text="Default: the first under which passages are rated on questions."
    )


class GradedAnswerChoice(serializers.Serializer[Any]):
    """Which run’s passages on which topic, by whose grades."""

    source = serializers.CharField(  # type: ignore[assignment]  # a parameter's name, and DRF's own
        default="", label="Source of grades", help_text="A judge, or people; default: the first source."
    )
    run = serializers.CharField(default="", label="Run", help_text="Default: the first with graded passages.")
    topic = serializers.CharField(default="", label="Topic", help_text="Default: the first with graded passages.")
    minimum = NumberField(
        default=None,
        label="Answered from grade",
        help_text="A passage answers a question from this grade on; default: the criterion’s threshold.",
    )
    k = WholeField(
        default=MOST_PASSAGES, min_value=1, max_value=1_000, label="Passages", help_text="How many, from the top."
    )
