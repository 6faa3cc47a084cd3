"""What the API takes and gives of sources of documents."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from collection.api_tools import WholeField
from collection.documents.fetching import ACTIONS
from collection.documents.forms import LARGEST_DEPTH
from collection.models import DocumentFetch, DocumentSource


class SourceSerializer(serializers.Serializer[Any]):
    """Where missing texts come from."""

    kind = serializers.ChoiceField(choices=DocumentSource.Kind.choices)
    address = serializers.CharField(
        max_length=500, help_text="The id of a dataset of ir_datasets, an address with {id}, or a folder."
    )
    text_field = serializers.CharField(max_length=200, default="", allow_blank=True, help_text="Of JSON.")
    title_field = serializers.CharField(max_length=200, default="", allow_blank=True)
    key = serializers.CharField(
        max_length=500, default="", allow_blank=True, write_only=True, help_text="A bearer token; never shown."
    )
    depth = WholeField(min_value=0, max_value=LARGEST_DEPTH, default=10, help_text="Passages of every ranking.")
    has_key = serializers.SerializerMethodField()

    def get_has_key(self, source: Any) -> bool:
        return bool(source.sealed)


class ActionSerializer(serializers.Serializer[Any]):
    """What to do."""

    action = serializers.ChoiceField(choices=list(ACTIONS), default="start")


class FetchingSerializer(serializers.Serializer[Any]):
    """How far it is."""

    state = serializers.ChoiceField(choices=DocumentSource.State.choices)
    problem = serializers.CharField(help_text="Why it paused by itself.")
    started_at = serializers.DateTimeField(allow_null=True)
    missing = WholeField(help_text="Documents without a text.")
    missing_by = serializers.DictField(child=WholeField(), help_text="By what names them first.")
    fetched = WholeField(help_text="Since the start.")
    failed = WholeField(help_text="Since the start.")
    left = WholeField(help_text="Missing, and not tried since the start.")


class MissingTextSerializer(serializers.Serializer[Any]):
    """A document without a text."""

    passage_id = serializers.CharField()
    named_by = serializers.ChoiceField(choices=["cited", "judged", "ranked"])
    problem = serializers.CharField(help_text="Why it was not fetched; empty where nobody tried.")


class MissingTextsSerializer(serializers.Serializer[Any]):
    """The first documents without a text, and how many there are."""

    n = WholeField()
    documents = MissingTextSerializer(many=True)


class DocumentFetchSerializer(serializers.ModelSerializer[DocumentFetch]):
    """What came of fetching a document."""

    class Meta:
        model = DocumentFetch
        fields = ["passage_id", "source", "sha256", "fetched_at", "tried_at", "problem"]
