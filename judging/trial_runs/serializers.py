"""What the API takes and gives of trial runs and probes."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from collection.api_tools import NumberField, WholeField


class SeenSerializer(serializers.Serializer[Any]):
    """The input of a judge for an item: a prompt; or a question and a text, if it computes a score."""

    item = serializers.CharField(source="item.item_id")
    measures = serializers.BooleanField()
    system = serializers.CharField(source="request.system")
    prompt = serializers.CharField(source="request.prompt")
    swapped = serializers.CharField(source="request.swapped.prompt", allow_null=True, default=None)
    query = serializers.CharField(source="request.query")
    text = serializers.CharField(source="request.text")
    choices = serializers.ListField(source="request.choices", child=serializers.CharField())
    impossible = serializers.CharField(source="request.impossible")
    wordless = serializers.BooleanField(
        help_text="Whether the prompt lists grades as bare numbers, without descriptions."
    )


class TrySerializer(serializers.Serializer[Any]):
    study = serializers.SlugField()
    seed = WholeField(default=0, min_value=0, max_value=10**9, help_text="Seed for sampling items.")


class TrialSerializer(serializers.Serializer[Any]):
    """One item of a trial run, with the human grades. No judgment is stored."""

    item = serializers.CharField(source="item.item_id")
    people = serializers.ListField(source="grades_of_people", child=NumberField())
    majority = NumberField(allow_null=True, help_text="Of the human grades; ties go to the lower grade.")
    tied = serializers.BooleanField(help_text="Whether several human grades are equally frequent.")
    grade = NumberField(source="reading.grade", allow_null=True, default=None)
    ungraded = serializers.CharField(source="reading.ungraded", default="")
    error = serializers.CharField(source="reading.error", default="")
    expected_grade = NumberField(source="reading.expected_grade", allow_null=True, default=None)
    score = NumberField(source="reply.score", allow_null=True, default=None)
    reply = serializers.CharField(
        source="reply.text", allow_null=True, default=None, help_text="Null: no reply in time."
    )
    thinking = serializers.CharField(source="reply.thinking", default="", help_text="What the model thought first.")
    answered_as = serializers.CharField(
        source="reply.answered_as", default="", help_text="The model's name in the reply, where it is another."
    )
    agrees = serializers.BooleanField(allow_null=True)


class ProbeSerializer(serializers.Serializer[Any]):
    """One server, as found when it was probed for a judge."""

    address = serializers.CharField()
    problem = serializers.CharField(help_text="Why it cannot be used; empty if it can.")
    findings = serializers.DictField(allow_null=True, help_text="What the server is, and which options it honours.")
    probed_at = serializers.DateTimeField()
