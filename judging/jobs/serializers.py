"""What the API takes and gives of grading jobs and batches."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from django import forms
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from collection.api_tools import NumberField, WholeField
from collection.importing.uploads import at_most
from collection.models import Judgment, Study
from judging.data.quota_serializers import QuotaSerializer, quota_in
from judging.data.selection import DEFAULT_SEED, Selection
from judging.grading.batch_files import SERVICES
from judging.grading.drift import drift_of
from judging.grading.jobs import JobLimits
from judging.jobs.forms import MOST_BATCH_MEGABYTES, LimitsForm, Lines
from judging.models import AnchorCheck, Build, Completion, GradingJob


class JobSerializer(serializers.ModelSerializer[GradingJob]):
    study = serializers.SlugRelatedField[Study](slug_field="name", read_only=True)
    criterion = serializers.CharField(source="criterion.name")
    judge = serializers.CharField(source="judge.name")
    selection = serializers.DictField(help_text="Topics, runs, a sample with its seed and inclusion probability.")
    cost = NumberField(allow_null=True)
    cache_share = NumberField(
        allow_null=True, help_text="Of prompt tokens, from a prefix cache; null where the server does not say."
    )
    build = serializers.PrimaryKeyRelatedField[Build](
        read_only=True, help_text="Which it follows: the limits are those of both together."
    )
    call_limit = WholeField(source="bounds.call_limit", allow_null=True)
    token_limit = WholeField(source="bounds.token_limit", allow_null=True)
    cost_limit = NumberField(source="bounds.cost_limit", allow_null=True)
    minutes_limit = NumberField(source="bounds.minutes_limit", allow_null=True)
    quota = serializers.SerializerMethodField(
        help_text="Of the person who started the job, if it uses one and is not over."
    )

    class Meta:
        model = GradingJob
        fields = [
            "id", "study", "criterion", "judge", "attempt", "state", "pause_cause", "reason", "selection", "total",
            "graded", "ungraded", "skipped", "n_calls", "prompt_tokens", "completion_tokens", "cost", "cache_share",
            "build", "price_in", "price_out", "call_limit", "token_limit", "cost_limit", "minutes_limit", "created_at",
            "started_at", "heartbeat_at", "finished_at", "quota",
        ]  # fmt: skip

    @extend_schema_field(QuotaSerializer(allow_null=True))
    def get_quota(self, job: GradingJob) -> dict[str, Any] | None:
        return (
            None
            if job.over or "service" in job.selection
            else quota_in(self.context, job.judge, job.created_by, own=job.own_servers)
        )


def option_of(field: forms.Field) -> serializers.Field[Any, Any, Any, Any]:
    """Return a form's field as the API takes it: its words, bounds and choices are the form's."""
    told: dict[str, Any] = {"required": False, "label": field.label, "help_text": str(field.help_text)}
    empty: dict[str, Any] = {**told, "allow_null": True}
    match field:
        case Lines():
            return serializers.ListField(child=serializers.CharField(max_length=300), **told)
        case forms.BooleanField():
            return serializers.BooleanField(**told)
        case forms.ChoiceField():
            choices: Any = field.choices
            return serializers.ChoiceField(choices=list(choices), allow_blank=not field.required, **told)
        case forms.FloatField():  # which is an IntegerField too
            bounds: dict[str, Any] = {"min_value": field.min_value, "max_value": field.max_value}
            return NumberField(**{name: bound for name, bound in bounds.items() if bound is not None}, **empty)
        case forms.IntegerField():
            return WholeField(min_value=field.min_value, max_value=field.max_value, **empty)
    return serializers.CharField(max_length=getattr(field, "max_length", None), allow_blank=True, **told)


class LimitsSerializer(serializers.Serializer[Any]):
    """What a job or a build may spend. Prices are for a million tokens; reaching a limit pauses it."""

    def get_fields(self) -> dict[str, Any]:
        return {name: option_of(field) for name, field in LimitsForm.base_fields.items()} | super().get_fields()

    @property
    def terms(self) -> JobLimits:
        """What was sent. Only for data that is valid."""
        sent = self.validated_data
        return JobLimits(**{one.name: sent.get(one.name) for one in fields(JobLimits)})


class NewJobSerializer(LimitsSerializer):
    """A job over everything the judge has not graded, or a subset by topic, run and sampling, or the named `items`."""

    study = serializers.SlugField()
    criterion = serializers.SlugField(help_text="One of the study's. `report_rating` is made if it is new.")
    judge = serializers.SlugField()
    items = serializers.ListField(child=serializers.CharField(max_length=600), required=False)
    topics = serializers.ListField(child=serializers.CharField(max_length=300), default=list)
    runs = serializers.ListField(child=serializers.CharField(max_length=300), default=list)
    without_grade_by = serializers.ListField(
        child=serializers.CharField(max_length=200),
        default=list,
        help_text="Only pairs that none of these judges graded (ungraded or missing).",
    )
    graded_by_no_judge = serializers.BooleanField(default=False, help_text="Only pairs that no judge graded.")
    sample = WholeField(required=False, allow_null=True, default=None, min_value=1)
    seed = WholeField(default=DEFAULT_SEED, min_value=0, max_value=2**31 - 1)
    service = serializers.ChoiceField(
        choices=["", *SERVICES], default="", help_text="A batch service that grades instead of the workers."
    )

    @property
    def selection(self) -> Selection:
        """The part that was chosen. Only for data that is valid."""
        sent = self.validated_data
        return Selection(
            tuple(sent["topics"]),
            tuple(sent["runs"]),
            sent["sample"],
            sent["seed"],
            without_grade_by=tuple(sent["without_grade_by"]),
            graded_by_no_judge=sent["graded_by_no_judge"],
        )


class EstimateSerializer(serializers.Serializer[Any]):
    """Estimate of a job. Null means unknown."""

    pairs = WholeField()
    skipped = WholeField()
    prompt_tokens = WholeField(allow_null=True)
    completion_tokens = WholeField(allow_null=True)
    thinking_tokens = WholeField(help_text="Those of the replies that are thinking: as counted before, else at most.")
    counted = serializers.BooleanField(help_text="Whether tokens are estimated from the model's earlier counts.")
    seconds = NumberField(allow_null=True)
    cost = NumberField(allow_null=True)


class AnchorCheckSerializer(serializers.Serializer[Any]):
    """How the anchor items were graded before and are graded now; by item's key, null for ungraded."""

    judged_at = serializers.DateTimeField()
    earlier_judge = serializers.CharField(source="earlier_judge.name")
    earlier_identity = serializers.CharField()
    identity = serializers.CharField()
    confirmed_at = serializers.DateTimeField(allow_null=True)
    drift = serializers.SerializerMethodField()

    def get_drift(self, seen: AnchorCheck) -> dict[str, Any]:
        """Return the drift's figures: mean of new minus old, share changed, each with its 95 % interval over texts."""
        return drift_of(seen).as_dict()


class BatchFileSerializer(serializers.Serializer[Any]):
    file = serializers.FileField(validators=[at_most(MOST_BATCH_MEGABYTES, command="job read-batch")])


class BatchReadSerializer(serializers.Serializer[Any]):
    """Result of reading a file of replies."""

    new = WholeField()
    known = WholeField()
    graded = WholeField()
    ungraded = serializers.DictField(child=WholeField(), help_text="By kind.")


class AgainSerializer(serializers.Serializer[Any]):
    kinds = serializers.ListField(child=serializers.ChoiceField(choices=Judgment.Ungraded.choices), default=list)


class JobCountsSerializer(serializers.Serializer[Any]):
    """Graded + ungraded + waiting = total. Skipped items are not part of it, because the judge was never asked."""

    total = WholeField()
    graded = serializers.DictField(child=WholeField(), help_text="By grade.")
    ungraded = serializers.DictField(child=WholeField(), help_text="By kind.")
    waiting = WholeField()
    skipped = WholeField()


class ReplySerializer(serializers.ModelSerializer[Completion]):
    item = serializers.CharField(source="item.item_id")
    log_probabilities = serializers.DictField(allow_null=True)
    sent = serializers.DictField(allow_null=True, help_text="The parameters of the request, without its texts.")

    class Meta:
        model = Completion
        fields = [
            "item", "attempt", "grade", "ungraded", "reply", "thinking", "error", "finish_reason", "score",
            "log_probabilities", "expected_grade", "entropy", "prompt_tokens", "cached_tokens", "completion_tokens",
            "thinking_tokens", "sent", "seconds", "engine_identity", "completed_at",
        ]  # fmt: skip
