"""What the API takes and gives of judges, prompt templates and grading jobs."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from collection.models import Judgment, Scale, Study
from collection.models.studies import TaskType
from judging.judges import ASKED
from judging.models import Completion, GradingJob, Judge, PromptTemplate


class TemplateSerializer(serializers.ModelSerializer[PromptTemplate]):
    class Meta:
        model = PromptTemplate
        fields = [
            "name", "version", "task_type", "criterion_name", "system_text", "text", "reply_with", "source",
            "content_hash", "created_at",
        ]  # fmt: skip


class NewTemplateSerializer(serializers.Serializer[Any]):
    """A prompt template. Another text under a name that exists is a new version."""

    name = serializers.SlugField(max_length=100)
    task_type = serializers.ChoiceField(choices=TaskType.choices)
    criterion_name = serializers.SlugField(max_length=50)
    text = serializers.CharField()
    system_text = serializers.CharField(required=False, allow_blank=True, default="")
    reply_with = serializers.ChoiceField(choices=PromptTemplate.ReplyWith.choices, default="value")
    source = serializers.CharField(  # type: ignore[assignment]  # a field here, as in the model
        required=False, allow_blank=True, default="", help_text="The method it follows."
    )


class JudgeSerializer(serializers.ModelSerializer[Judge]):
    template = serializers.SlugRelatedField[PromptTemplate](slug_field="content_hash", read_only=True)
    scale = serializers.SlugRelatedField[Scale](slug_field="content_hash", read_only=True)
    decoding = serializers.DictField()
    content_hash = serializers.CharField()
    weak = serializers.BooleanField(help_text="A baseline for trying things out; real work wants a real model.")

    class Meta:
        model = Judge
        fields = [
            "name", "engine", "model", "template", "task_type", "criterion_name", "scale", "decoding", "weak",
            "content_hash", "created_at",
        ]  # fmt: skip


class DecodingSerializer(serializers.Serializer[Any]):
    temperature = serializers.FloatField(default=0, min_value=0, max_value=2)
    seed = serializers.IntegerField(default=0, min_value=0, max_value=2**31 - 1)


class NewJudgeSerializer(serializers.Serializer[Any]):
    """Settings of a judge. `scale` is a hash; without one it is the scale that the criterion comes with."""

    engine = serializers.ChoiceField(choices=Judge.Engine.choices)
    criterion_name = serializers.ChoiceField(choices=[asked.criterion_name for asked in ASKED])
    scale = serializers.SlugRelatedField[Scale](slug_field="content_hash", queryset=Scale.objects.all(), required=False)
    model = serializers.CharField(required=False, allow_blank=True, default="", max_length=300)
    template = serializers.SlugRelatedField[PromptTemplate](
        slug_field="content_hash", queryset=PromptTemplate.objects.all(), required=False, allow_null=True, default=None
    )
    decoding = DecodingSerializer(required=False)
    name = serializers.SlugField(required=False, allow_blank=True, default="", max_length=150)


class JobSerializer(serializers.ModelSerializer[GradingJob]):
    study = serializers.SlugRelatedField[Study](slug_field="name", read_only=True)
    criterion = serializers.CharField(source="criterion.name")
    judge = serializers.CharField(source="judge.name")

    class Meta:
        model = GradingJob
        fields = [
            "id", "study", "criterion", "judge", "attempt", "state", "reason", "total", "graded", "ungraded", "skipped",
            "created_at", "started_at", "heartbeat_at", "finished_at",
        ]  # fmt: skip


class NewJobSerializer(serializers.Serializer[Any]):
    """A job over all that the judge has not graded, or over the `items` of it that are named."""

    study = serializers.SlugField()
    criterion = serializers.SlugField(help_text="One of the study's. `report_rating` is made if it is new.")
    judge = serializers.SlugField()
    items = serializers.ListField(child=serializers.CharField(max_length=600), required=False)


class AgainSerializer(serializers.Serializer[Any]):
    kinds = serializers.ListField(child=serializers.ChoiceField(choices=Judgment.Ungraded.choices), default=list)


class LedgerSerializer(serializers.Serializer[Any]):
    """Graded + ungraded + waiting = total; skipped stand beside it, for the judge never saw them."""

    total = serializers.IntegerField()
    graded = serializers.DictField(child=serializers.IntegerField(), help_text="By grade.")
    ungraded = serializers.DictField(child=serializers.IntegerField(), help_text="By kind.")
    waiting = serializers.IntegerField()
    skipped = serializers.IntegerField()


class ReplySerializer(serializers.ModelSerializer[Completion]):
    item = serializers.CharField(source="item.item_id")
    log_probabilities = serializers.DictField(allow_null=True)

    class Meta:
        model = Completion
        fields = [
            "item", "attempt", "grade", "ungraded", "reply", "error", "finish_reason", "score", "log_probabilities",
            "expected_grade", "prompt_tokens", "completion_tokens", "seconds", "engine_identity", "completed_at",
        ]  # fmt: skip
