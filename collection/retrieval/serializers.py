"""What may be asked of a retrieval, declared once for page, API and command; and how the API shows one."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from collection.api_tools import NumberField, WholeField
from collection.models import Retrieval
from collection.texts.words import LANGUAGES, UNSTEMMED

# What BM25 alone can search for: the shorter questions of a topic; the request of a topic without any.
PARTS = "parts"
QUERIES = {
    "request": "the request",
    "title": "the title",
    "title_and_request": "the title, then the request",
    "request_and_background": "the request, then its background",
}
DEEPEST = 10_000
LONGEST_WINDOW = 100_000

# In which language words are stemmed; the schema of the API calls the choice by this name.
STEMMED_AS = [(UNSTEMMED, "words as they are"), *((name, name.capitalize()) for name in LANGUAGES)]


class RetrievalOptions(serializers.Serializer[Any]):
    """What every retrieval is told."""

    run = serializers.CharField(max_length=200, label="Run", help_text="The name of the new run.")
    system = serializers.CharField(
        max_length=200, default="", allow_blank=True, label="System", help_text="Empty: it has the run’s name."
    )
    query = serializers.ChoiceField(
        choices=list(QUERIES.items()), default="request", label="Query", help_text="What of a topic is searched for."
    )
    depth = WholeField(
        min_value=1, max_value=DEEPEST, default=100, label="Depth", help_text="Passages for each topic, at most."
    )
    window = WholeField(
        min_value=0,
        max_value=LONGEST_WINDOW,
        default=0,
        label="Window",
        help_text="A longer text is divided into windows of so many words, and its best window counts; 0: not divided.",
    )
    stride = WholeField(
        min_value=0,
        max_value=LONGEST_WINDOW,
        default=0,
        label="Stride",
        help_text="Words from the beginning of a window to that of the next; 0: half a window.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["stride"] > attrs["window"]:
            raise serializers.ValidationError({"stride": "It is longer than a window: words would be left out."})
        return attrs


class Bm25Options(RetrievalOptions):
    """What BM25 is told besides."""

    query = serializers.ChoiceField(
        choices=[*QUERIES.items(), (PARTS, "the parts of the request (sub_questions), ranked together by the request")],
        default="request",
        label="Query",
        help_text="What of a topic is searched for.",
    )
    k1 = NumberField(
        min_value=0, max_value=100, default=0.9, label="k₁", help_text="How much a word counts that comes again."
    )
    b = NumberField(
        min_value=0, max_value=1, default=0.4, label="b", help_text="How much a long text is counted down: 0 to 1."
    )
    title_weight = NumberField(
        min_value=0, max_value=100, default=1.0, label="Weight of titles", help_text="0: titles are not searched."
    )
    text_weight = NumberField(min_value=0, max_value=100, default=1.0, label="Weight of texts")
    language = serializers.ChoiceField(
        choices=STEMMED_AS,
        default="english",
        label="Language",
        help_text="Words are stemmed in this language, and its function words left out.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not attrs["title_weight"] and not attrs["text_weight"]:
            raise serializers.ValidationError({"text_weight": "Titles or texts must count something."})
        return super().validate(attrs)


class DenseOptions(RetrievalOptions):
    """What a model of embeddings is told besides."""

    model = serializers.CharField(
        max_length=300, default="", allow_blank=True, label="Model", help_text="Empty: the one of EMBED_MODEL."
    )
    query_prefix = serializers.CharField(
        max_length=2000,
        default="",
        allow_blank=True,
        trim_whitespace=False,
        label="Before a query",
        help_text="What the model wants to read before it, for example “query: ”.",
    )
    passage_prefix = serializers.CharField(
        max_length=2000,
        default="",
        allow_blank=True,
        trim_whitespace=False,
        label="Before a passage",
        help_text="For example “passage: ”. The passage’s title stands between this and its text.",
    )


class SampleOptions(serializers.Serializer[Any]):
    """What contexts at random are told."""

    run = serializers.CharField(max_length=200, label="Run", help_text="The run whose rankings are drawn from.")
    passages = WholeField(
        min_value=1, max_value=DEEPEST, default=10, label="Passages", help_text="In each context, for each topic."
    )
    top = WholeField(
        min_value=1, max_value=DEEPEST, default=50, label="Of the first", help_text="How far down passages are drawn."
    )
    contexts = WholeField(min_value=1, max_value=200, default=16, label="Contexts", help_text="How many runs are made.")
    seed = WholeField(
        min_value=0, max_value=2**31 - 1, default=0, label="Seed", help_text="The same seed draws the same passages."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["passages"] >= attrs["top"]:
            raise serializers.ValidationError({"passages": "Draw fewer passages than there are to draw from."})
        return attrs


OPTIONS: dict[str, type[RetrievalOptions]] = {"bm25": Bm25Options, "dense": DenseOptions}


class AllOptions(Bm25Options, DenseOptions):
    """Those of every method, as the command takes them."""


class SampledSerializer(serializers.Serializer[Any]):
    """The runs that were made."""

    runs = serializers.ListField(child=serializers.CharField())


class RetrievalSerializer(serializers.ModelSerializer[Retrieval]):
    """A retrieval: what was asked for, how far it is, and what came of it."""

    run = serializers.CharField(source="run_name")
    options = serializers.DictField()
    outcome = serializers.DictField(help_text="What was ranked, in numbers, and what could not be.")

    class Meta:
        model = Retrieval
        fields = [
            "id", "method", "run", "options", "state", "n_done", "n_all", "outcome", "problem", "asked_at", "ended_at",
        ]  # fmt: skip
