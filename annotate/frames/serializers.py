"""What the API takes and gives of a study's frame."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotate.frames.frame import PASSAGES, RUNS, SHARES, TOPICS, Frame
from collection.api_tools import NumberField, WholeField


class FrameSerializer(serializers.Serializer[Any]):
    """Which runs, topics and passages a study asks about. What is left out has its default: everything."""

    runs = serializers.ChoiceField(list(RUNS.items()), required=False)
    run_names = serializers.ListField(child=serializers.CharField(), required=False)
    topics = serializers.ChoiceField(list(TOPICS.items()), required=False)
    topic_ids = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="Of a draw: topics that are added for certain."
    )
    only_complete = serializers.BooleanField(
        required=False, help_text="Only topics on which all of the runs have a report."
    )
    n_topics = WholeField(min_value=1, required=False, allow_null=True, help_text="How many are drawn.")
    strata = serializers.CharField(
        required=False, allow_blank=True, help_text="An attribute of topics by which they are drawn; else at random."
    )
    numbers = serializers.DictField(
        child=NumberField(min_value=0), required=False, help_text="How many of each value of the attribute."
    )
    in_percent = serializers.BooleanField(required=False, help_text="Whether the numbers are percent of n_topics.")
    spread = serializers.CharField(
        required=False,
        allow_blank=True,
        help_text="An attribute, or “split of STUDY”, over whose values each number is divided equally.",
    )
    seed = serializers.CharField(required=False, allow_blank=True, max_length=64)
    passages = serializers.ChoiceField(list(PASSAGES.items()), required=False)
    passages_of = serializers.CharField(required=False, allow_blank=True, help_text="The run of run and context.")
    grades_of = serializers.CharField(
        required=False, allow_blank=True, help_text="STUDY/CRITERION, of relevant and required."
    )
    grades_by = serializers.CharField(required=False, allow_blank=True, help_text="A rater; else people, by majority.")
    least_grade = NumberField(required=False, allow_null=True)
    share_by = serializers.ChoiceField(list(SHARES.items()), required=False)

    def to_internal_value(self, data: Any) -> Frame:
        sent = super().to_internal_value(data)
        if unknown := set(data) - set(self.fields):
            raise serializers.ValidationError(dict.fromkeys(sorted(unknown), "There is no such choice."))
        return Frame(**sent | {name: tuple(sent.get(name, ())) for name in ("run_names", "topic_ids")})
