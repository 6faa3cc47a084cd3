"""What the API takes and gives of judges, few-shot examples, ensembles and comparisons."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from collection.api_tools import NumberField, WholeField
from collection.completeness import JudgesOfStudies
from collection.models import Scale, Study
from judging.data.quota_serializers import QuotaSerializer, quota_in
from judging.engines.thinking import MODES, MOST_ROOM, SERVERS_OWN
from judging.judges.ensembles import EXPECTED, MOST_MEMBERS, RULES, TIES
from judging.judges.members import name_to
from judging.models import Combination, Judge, PromptTemplate
from judging.prompts.criteria import judged_criteria, judged_criterion_named
from judging.prompts.few_shot import MOST_EXAMPLES
from stats.completeness import Completeness

MARKS = "“unfinished” or “failing”, else null."


class ExamplesSerializer(serializers.Serializer[Any]):
    """Examples for a judge's prompt from human labels of the development topics of a study of yours.

    So many (`count`) are drawn, or `items` names them, by their ids.
    """

    study = serializers.SlugField()
    count = WholeField(min_value=1, max_value=MOST_EXAMPLES, required=False)
    items = serializers.ListField(
        child=serializers.CharField(max_length=300), required=False, min_length=1, max_length=MOST_EXAMPLES
    )
    seed = WholeField(default=0, min_value=0, max_value=2**31 - 1)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("count" in attrs) == ("items" in attrs):
            raise serializers.ValidationError("Give either count or items.")
        return attrs


class NewEnsembleSerializer(serializers.Serializer[Any]):
    """Members, by name (imported judges: `STUDY/CRITERION/NAME`); or one of them with `samples`, each with its seed."""

    members = serializers.ListField(child=serializers.CharField(max_length=400), max_length=MOST_MEMBERS)
    samples = WholeField(required=False, allow_null=True, default=None, min_value=2, max_value=MOST_MEMBERS)
    temperature = NumberField(default=0.7, min_value=0, max_value=2, help_text="Of the samples.")
    rule = serializers.ChoiceField(choices=list(RULES.items()), default="majority")
    ties = serializers.ChoiceField(choices=list(TIES.items()), default="lower")
    quorum = WholeField(
        required=False, allow_null=True, default=None, min_value=1, help_text="More than half if left out."
    )
    at = NumberField(
        required=False,
        allow_null=True,
        default=None,
        help_text=f"With the rule “{EXPECTED}”, of one member: from which expected grade on it is a yes.",
    )
    name = serializers.SlugField(required=False, allow_blank=True, default="", max_length=150)


class CombineSerializer(serializers.Serializer[Any]):
    study = serializers.SlugField()
    criterion = serializers.SlugField()


class CombinationSerializer(serializers.ModelSerializer[Combination]):
    """Result of combining: graded + ungraded + waiting = all items of the criterion."""

    ensemble = serializers.CharField(source="ensemble.name")
    study = serializers.SlugRelatedField[Study](source="criterion.study", slug_field="name", read_only=True)
    criterion = serializers.CharField(source="criterion.name")

    class Meta:
        model = Combination
        fields = ["ensemble", "study", "criterion", "graded", "ungraded", "waiting", "changed", "combined_at"]


class JudgeFiguresSerializer(serializers.Serializer[Any]):
    """A judge compared with the human majority (ties go to the lower grade) on the development topics.

    An ungraded reply counts as disagreement.
    """

    judge = serializers.CharField(source="judge.name")
    template = serializers.CharField(source="judge.template.content_hash", allow_null=True, default=None)
    labelled = WholeField()
    judged = WholeField()
    ungraded = WholeField()
    agreeing = WholeField()
    agreement = NumberField(allow_null=True)
    agreement_interval = serializers.ListField(
        child=NumberField(), allow_null=True, help_text="95 %, over topics, low and high."
    )
    agreement_over = serializers.CharField(source="share.over", help_text="What the interval is over: “25 topics”.")
    no_interval = serializers.CharField(source="share.reason", help_text="Why there is no interval; else empty.")
    kappa = NumberField(allow_null=True)
    mean_difference = NumberField(allow_null=True)
    pairs_in_both_orders = WholeField(source="bias.pairs", allow_null=True, default=None)
    orders_that_disagree = WholeField(source="bias.disagreeing", allow_null=True, default=None)
    missing = WholeField()
    mark = serializers.CharField(source="completeness.as_dict.mark", allow_null=True, help_text=MARKS)
    mark_reason = serializers.CharField(source="completeness.as_dict.mark_reason", allow_null=True)


class DifferenceSerializer(serializers.Serializer[Any]):
    """How much more often the first judge agrees with the human majority than the second, over the same items."""

    items = WholeField()
    topics = WholeField()
    first = NumberField(help_text="The first judge's agreement.")
    second = NumberField()
    difference = NumberField()
    interval = serializers.ListField(
        child=NumberField(), allow_null=True, help_text="95 %, over topics, paired, low and high."
    )
    no_interval = serializers.CharField(source="estimate.reason", help_text="Why there is no interval; else empty.")
    established = serializers.BooleanField(help_text="False: no difference shown.")


class JudgeSerializer(serializers.ModelSerializer[Judge]):
    template = serializers.SlugRelatedField[PromptTemplate](slug_field="content_hash", read_only=True)
    scale = serializers.SlugRelatedField[Scale](slug_field="content_hash", read_only=True)
    decoding = serializers.DictField()
    content_hash = serializers.CharField()
    other_names = serializers.ListField(
        child=serializers.CharField(), help_text="Names other than the model's under which it was seen to reply."
    )
    not_sent = serializers.ListField(
        child=serializers.CharField(), help_text="Parameters that its servers refuse: grades cannot be reproduced."
    )
    examples = serializers.SerializerMethodField(help_text="Number of examples in the prompt.")
    members = serializers.SerializerMethodField(help_text="Names of an ensemble's members.")
    weak = serializers.BooleanField(help_text="A baseline for trying things out; use a real model for real work.")
    quota = serializers.SerializerMethodField(help_text="Your token quota, if this judge uses it and there is a limit.")
    mark = serializers.SerializerMethodField(help_text=f"The worst in your studies. {MARKS}")
    mark_reason = serializers.SerializerMethodField(help_text="The reason for the mark; otherwise null.")

    class Meta:
        model = Judge
        fields = [
            "name", "engine", "model", "template", "task_type", "criterion_name", "scale", "decoding", "examples",
            "members", "other_names", "not_sent", "weak", "mark", "mark_reason", "content_hash", "created_at", "quota",
        ]  # fmt: skip

    def get_examples(self, judge: Judge) -> int:
        return len(judge.examples)

    def get_members(self, judge: Judge) -> list[str]:
        return [name_to(self.context["request"].user, member) for member in judge.members.all()]

    @extend_schema_field(QuotaSerializer(allow_null=True))
    def get_quota(self, judge: Judge) -> dict[str, Any] | None:
        return quota_in(self.context, judge, self.context["request"].user)

    def get_mark(self, judge: Judge) -> str | None:
        return self._completeness(judge).mark or None

    def get_mark_reason(self, judge: Judge) -> str | None:
        return self._completeness(judge).why or None

    def _completeness(self, judge: Judge) -> Completeness:
        found: JudgesOfStudies = self.context["completeness"]
        return found.worst_of(judge.rater_id)


class DecodingSerializer(serializers.Serializer[Any]):
    temperature = NumberField(default=0, min_value=0, max_value=2)
    seed = WholeField(default=0, min_value=0, max_value=2**31 - 1)
    endpoint = serializers.ChoiceField(choices=["chat", "completions"], default="chat")
    thinking = serializers.ChoiceField(
        choices=list(MODES), default=SERVERS_OWN, help_text="Empty: as the server does by itself."
    )
    thinking_tokens = WholeField(
        default=0, min_value=0, max_value=MOST_ROOM, help_text="The most tokens of thinking; 0 leaves it open."
    )
    extra = serializers.DictField(required=False, help_text="Further parameters of every request.")


class NewJudgeSerializer(serializers.Serializer[Any]):
    """Settings of a judge. `scale` is a hash; the default is the examples' scale, or else the criterion's standard."""

    engine = serializers.ChoiceField(choices=Judge.Engine.choices)
    criterion_name = serializers.SlugField(help_text="Of a shipped task type, or of a question of `questions/`.")
    scale = serializers.SlugRelatedField[Scale](slug_field="content_hash", queryset=Scale.objects.all(), required=False)
    model = serializers.CharField(required=False, allow_blank=True, default="", max_length=300)
    template = serializers.SlugRelatedField[PromptTemplate](
        slug_field="content_hash", queryset=PromptTemplate.objects.all(), required=False, allow_null=True, default=None
    )
    decoding = DecodingSerializer(required=False)
    examples = ExamplesSerializer(required=False)
    name = serializers.SlugField(required=False, allow_blank=True, default="", max_length=150)

    def validate_criterion_name(self, name: str) -> str:
        if judged_criterion_named(name) is None:
            known = ", ".join(asked.criterion_name for asked in judged_criteria())
            raise serializers.ValidationError(f"“{name}” is not a criterion that judges are made for. Use {known}.")
        return name
