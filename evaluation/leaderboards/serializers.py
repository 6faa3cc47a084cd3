"""What leaderboards, and comparisons of two of them, are asked for."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from collection.api_tools import NumberField, WholeField
from collection.formats.scores.evaluation_files import FORMS
from collection.rankings import ORDERS
from collection.web.options import PART
from stats.qrels import COMBINES
from stats.ranking.common_topics import TOPICS
from stats.ranking.measure_names import registered
from stats.ranking.missing_values import MISSING
from stats.votes import TIES, TIES_OF_PEOPLE

COMBINED = [(name, f"{COMBINES[name]}, {TIES[TIES_OF_PEOPLE]}") for name in ("majority", "median")]
TOP = 3
# Names of measures of texts and elements; those of answers stand on the page, those on qrels at ir-measures.
NAMED = [name for one in registered() if not one.of_answers and not one.of_qrels for name in one.offers]


class LeaderboardRules(serializers.Serializer[Any]):
    """By which rules judgments become scores, and of which part of a study that is split."""

    combine = serializers.ChoiceField(choices=COMBINED, default="majority", label="Aggregate assessors by")
    order = serializers.ChoiceField(choices=list(ORDERS.items()), default="score", label="Order of ranked passages")
    oracle = serializers.CharField(
        default=None,
        label="Oracle",
        help_text="The run whose passages define what can be answered, and for density in how few tokens.",
    )
    part = serializers.ChoiceField(choices=PART, default="development", help_text="If the study is split.")


class ConfidentRules(LeaderboardRules):
    """The same, and how confident people must have been of a question for their grades of its answers to count."""

    confidence = NumberField(
        default=None,
        min_value=-1e9,
        max_value=1e9,
        label="Confidence of people",
        help_text="Of answers, count the grades of people who were at least so confident; default: everybody’s.",
    )


class LeaderboardChoice(ConfidentRules):
    """Which measure, whose judgments, and by which rules."""

    measure = serializers.CharField(
        max_length=60,
        label="Measure",
        help_text=(
            f"{', '.join(NAMED)}, any that the leaderboard’s page offers, or any of ir-measures: nDCG@10, AP, "
            "P(rel=η)@5, where η is each source’s own threshold. @oracle: as many passages as the oracle’s "
            "context has. density(tokens=whitespace): the tokenizer (default: words)."
        ),
    )
    source = serializers.ListField(  # type: ignore[assignment]  # a parameter's name, and DRF's own
        child=serializers.CharField(), default=list, help_text="people, or a judge; default: all sources."
    )
    sources = serializers.ChoiceField(
        choices=[("all", "all"), ("first", "people and some judges"), ("people", "people, whom no lock binds")],
        default="all",
        label="Sources",
        help_text="Of those that are not named: all; people alone; or first, of more than six people and three judges.",
    )
    topics = serializers.ChoiceField(choices=list(TOPICS.items()), default="common", label="Topics")
    top = WholeField(
        default=TOP,
        min_value=1,
        max_value=1_000,
        label="r of P(rank ≤ r)",
        help_text="Shown where there are more systems than r.",
    )
    by = serializers.CharField(
        default="", label="Means by", help_text="An attribute of the topics to break means down by, or length."
    )


MOST_COLUMNS = 24


class MeasuresChoice(ConfidentRules):
    """Which measures, each by whose judgments, stand side by side, and how the systems are set out."""

    column = serializers.ListField(
        child=serializers.CharField(max_length=300),
        default=list,
        max_length=MOST_COLUMNS,
        label="Measures",
        help_text=(
            "A measure, or “measure · source” with people or a judge; a measure alone is by its first source. Default: "
            "the first measures that the study’s judgments offer."
        ),
    )
    apart = serializers.ListField(
        child=serializers.CharField(max_length=200),
        default=list,
        max_length=50,
        label="Set apart",
        help_text="A run that is a bound, and stands below the others without a rank; default: the oracle.",
    )
    by = serializers.CharField(
        default="",
        max_length=100,
        label="Group by",
        help_text="An attribute of runs or systems, their task for example: each group has its own best and worst.",
    )
    topics = serializers.ChoiceField(choices=list(TOPICS.items()), default="common", label="Topics")
    sort = serializers.CharField(
        default="", max_length=300, help_text="A column, or system; with a minus in front the other way round."
    )


class CorrelationsChoice(LeaderboardRules):
    """Which measures, each by whose judgments, are held against one another, and which of them is varied."""

    column = serializers.ListField(
        child=serializers.CharField(max_length=300),
        default=list,
        max_length=MOST_COLUMNS,
        label="Measures",
        help_text="A measure, or “measure · source”; default: all that the study’s judgments offer, by every source.",
    )
    apart = serializers.ListField(
        child=serializers.CharField(max_length=200),
        default=list,
        max_length=50,
        label="Set apart",
        help_text="A run that is a bound, and not among the systems compared.",
    )
    coefficient = serializers.ChoiceField(choices=["kendall", "spearman", "tau_ap"], default="kendall")
    measure = serializers.CharField(
        default="",
        max_length=60,
        label="Measure to vary",
        help_text="The measure that is shown at other thresholds and values of k.",
    )
    reference = serializers.CharField(
        default="",
        max_length=300,
        label="Reference order",
        help_text="“measure · source”: what it and the divergence are held against.",
    )
    other = serializers.CharField(
        default="",
        max_length=300,
        label="Divergent systems compared with",
        help_text="“measure · source”: what else the divergence is of.",
    )


class PostedRunChoice(serializers.Serializer[Any]):
    """A run that is scored and not kept, by which measure and whose judgments."""

    run = serializers.CharField(
        trim_whitespace=False, help_text="TREC's six columns: topic Q0 docno rank score tag; a million lines at most."
    )
    measure = serializers.CharField(max_length=60, help_text="Of ir-measures, on rankings: nDCG@10, P(rel=2)@5, AP.")
    judge = serializers.CharField(
        default="", allow_blank=True, max_length=200, help_text="A judge beside people; default: all."
    )
    combine = serializers.ChoiceField(choices=COMBINED, default="majority")
    part = serializers.ChoiceField(choices=PART, default="development", help_text="If the study is split.")


class DivergenceChoice(LeaderboardRules):
    """Which two measures, or which two sources of one, are held against each other."""

    measure = serializers.CharField(help_text="Cover@20>=4, nDCG@20, coverage, …")
    other = serializers.CharField(default="", help_text="The other measure; default: the same.")
    source = serializers.CharField(  # type: ignore[assignment]  # a parameter's name, and DRF's own
        default="", help_text="people, or a judge; default: the first source."
    )
    other_source = serializers.CharField(default="", help_text="The other source; default: the same.")


FORM_CHOICES = [(name, f"{name}: {' '.join(columns)}") for name, columns in FORMS.items()]
MOST_SIZES = 10


WRITTEN_FORMS = [*FORM_CHOICES, ("every_eval_ever", "Every Eval Ever: JSON of each system, with intervals")]


class EvaluationChoice(LeaderboardChoice):
    """A leaderboard, and in which form its values are written."""

    form = serializers.ChoiceField(choices=WRITTEN_FORMS, default="tot", label="Form")


class CorrelateChoice(LeaderboardRules):
    """What evaluation files are held against, and what is done where one lacks a value."""

    board = serializers.CharField(
        default="",
        max_length=60,
        label="Leaderboard by",
        help_text="A measure of the study: its leaderboard is the reference. Without it the first file is.",
    )
    source = serializers.CharField(  # type: ignore[assignment]  # a parameter's name, and DRF's own
        default="", label="Whose judgments", help_text="Of that leaderboard: people, or a judge; default: the first."
    )
    form = serializers.ChoiceField(
        choices=[("", "told from the file"), *FORM_CHOICES, ("qrels", "qrels: topic 0 run grade")],
        default="",
        label="Form of the files",
    )
    missing = serializers.ChoiceField(choices=list(MISSING.items()), default="warn", label="Where a value is missing")
    fill = NumberField(
        default=0.0,
        min_value=-1e9,
        max_value=1e9,
        label="The fixed value",
        help_text="Taken where a value is missing, if that is chosen.",
    )
    at = serializers.ListField(
        child=WholeField(min_value=1, max_value=10_000),
        default=list,
        max_length=MOST_SIZES,
        label="kendall@k",
        help_text="k of kendall@k: τ_b of the k runs that are best by the reference.",
    )
    measure = serializers.CharField(
        default="", max_length=200, label="Measure of the reference", help_text="Default: each."
    )
    other_measure = serializers.CharField(
        default="", max_length=200, label="Measure of the others", help_text="Default: that of the same name, or each."
    )
