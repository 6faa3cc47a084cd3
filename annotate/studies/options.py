"""What can be chosen of a new study, declared once: the API takes these fields, the page's forms are made of them."""

from __future__ import annotations

from typing import Any

from django import forms
from rest_framework import serializers

from annotate.assignments.revisions import ALL, NON_CONSECUTIVE, PLACES
from annotate.studies.design import DEFAULT_DEPTH
from annotate.task_types.key_point import ANSWERS, DOCUMENTS
from annotate.task_types.nugget import PASSAGES, REPORTS
from collection.api_tools import NumberField, WholeField
from collection.languages.languages import ENGLISH, NAMES
from collection.models import Study
from collection.texts.terms import check_terms
from collection.web.options import form_field

MOST_ASSESSORS, MOST = 50, 1_000_000
# The options of which a page shows a list to choose from, and a field of several lines.
LISTS, LINES = ("language",), {"terms": 4, "guidelines": 12}


class StudyOptions(serializers.Serializer[Any]):
    """The choices of a new study that are a single value each: those of `StudyDesign`, by their names there."""

    overlap = WholeField(
        min_value=1,
        max_value=MOST_ASSESSORS,
        default=3,
        label="Overlap",
        help_text="How many assessors judge each item.",
    )
    language = serializers.ChoiceField(
        list(NAMES.items()),
        default=ENGLISH,
        help_text="Of questions, grades and the shipped guidelines, and of assessors’ pages for those who come by this "
        "study. All but English was translated by a language model and not reviewed by a native speaker: check the "
        "words below. Those that you changed stay as they are.",
    )
    terms = serializers.CharField(
        default="",
        allow_blank=True,
        validators=[check_terms],
        label="Terms to scan for",
        help_text="One a line. Assessors see them highlighted in the texts, and may switch that off. A topic’s "
        "attribute “terms” adds its own.",
    )
    translatable = serializers.BooleanField(
        default=False,
        label="Browsers may translate the texts",
        help_text="Then people judge words that are not the stored ones, and cannot mark any in a translated text.",
    )
    depth = WholeField(
        min_value=1,
        max_value=1000,
        default=DEFAULT_DEPTH,
        label="Ranking depth",
        help_text="How many passages of each run’s ranking go into the pool.",
    )
    nuggets_in = serializers.ChoiceField(
        [(REPORTS, "reports"), (PASSAGES, "passages of the pool")],
        default=REPORTS,
        label="Texts to search for nuggets",
    )
    key_points_in = serializers.ChoiceField(
        [
            (DOCUMENTS, "the documents they were taken from: verification"),
            (ANSWERS, "reports, and the reports’ own in documents: key point recall and precision"),
        ],
        default=DOCUMENTS,
        label="Texts to search for key points",
    )
    why_missed = serializers.BooleanField(
        default=False,
        label="Ask how a report misses a point: incomplete, general or missing",
        help_text="After each “no” about a report.",
    )
    without_title = serializers.BooleanField(
        default=False,
        label="Do not offer the title as a sentence",
        help_text="Answers are then made of the passage’s sentences alone; else its title stands first among them.",
    )
    confidence = serializers.BooleanField(
        default=False,
        label="Ask how confident people are",
        help_text="Once a question, when they see its passages. Leaderboards can then leave out the less confident.",
    )
    pooled_from = serializers.ChoiceField(
        Study.PooledFrom.choices, default=Study.PooledFrom.RANKINGS, label="Passages of the pool"
    )
    citations_asked = serializers.ChoiceField(
        Study.CitationsAsked.choices, default=Study.CitationsAsked.ALL, label="Citations to ask about"
    )
    drawn_by = serializers.ChoiceField(
        Study.DrawnBy.choices,
        default=Study.DrawnBy.REPORT,
        label="What a sample is drawn of",
        help_text="What is drawn of one report is one task, in which the whole report can be read.",
    )
    revise = serializers.ChoiceField(
        [(NON_CONSECUTIVE, "answers with non-consecutive sentences"), (ALL, "all answers")],
        default=NON_CONSECUTIVE,
        label="Answers for a second reading",
    )
    revision_places = WholeField(
        min_value=1,
        max_value=MOST_ASSESSORS,
        default=PLACES,
        label="Second readers per answer",
        help_text="Never the person who wrote it.",
    )
    guidelines = serializers.CharField(
        default="",
        allow_blank=True,
        help_text="In Markdown. Assessors can open them while they work. Leave empty to use the shipped ones for the "
        "chosen task types, in the study’s language; you can revise them.",
    )


class WorkOptions(serializers.Serializer[Any]):
    """How texts are drawn and work is handed out: the fields of `Design`. What is left out has its default."""

    sampling = serializers.ChoiceField(
        [
            ("simple", "simple: every text has the same chance"),
            ("stratified", "stratified: a share of every topic or system"),
            ("weighted", "weighted: some texts have a greater chance"),
        ],
        required=False,
        label="Sampling, where only some texts are drawn",
        help_text="The probability of every draw is stored; estimates use it.",
    )
    strata = serializers.ChoiceField([("topic", "topic"), ("system", "system")], required=False, label="Strata")
    weight = serializers.ChoiceField(
        [("length", "the length of the text"), ("rank", "the best rank: highest first")], required=False, label="Weight"
    )
    control_share = NumberField(min_value=0, max_value=1, required=False)
    even = serializers.BooleanField(required=False)
    own_order = serializers.BooleanField(
        required=False,
        label="Different starting points",
        help_text="Each assessor starts at another text, so that not all are fresh or tired for the same texts.",
    )
    quota = WholeField(
        min_value=1,
        max_value=MOST,
        required=False,
        allow_null=True,
        label="Task limit per assessor",
        help_text="Empty: no limit.",
    )
    batch_size = WholeField(
        min_value=1,
        max_value=MOST,
        required=False,
        allow_null=True,
        label="Tasks per batch",
        help_text="The next batch comes when the previous one is done, or when you release it. Empty: all are "
        "released at once.",
    )
    timeout_minutes = WholeField(
        min_value=5,
        max_value=MOST,
        required=False,
        allow_null=True,
        label="Time-out, in minutes",
        help_text="A task in which nothing was saved for so long goes to somebody else; its answers are kept in the "
        "history. Empty: no time-out.",
    )


def names_of(options: type[serializers.Serializer[Any]]) -> list[str]:
    return [str(name) for name in options().fields]


def study_field(name: str, options: type[serializers.Serializer[Any]] = StudyOptions, **changes: Any) -> forms.Field:
    """Return the form's field for an option of a study, with other attributes where these are given."""
    declared = options().fields[name]
    listed = list(declared.choices.items()) if name in LISTS and isinstance(declared, serializers.ChoiceField) else None
    made = form_field(declared, listed)
    if name in LINES:
        made.widget = forms.Textarea(attrs={"rows": LINES[name]})
        made.validators += [check_terms] if name == "terms" else []
    if declared.default is not serializers.empty:
        made.initial = declared.default
    for attribute, value in changes.items():
        setattr(made, attribute, value)
    return made
