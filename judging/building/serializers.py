"""What the API takes and gives of builds. What may be asked for is declared by the forms, and is the same here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from collection.api_tools import NumberField, WholeField
from collection.models import Topic
from judging.building.additions.addition import waiting_for_addition
from judging.building.builds import left_out_of, without_reply
from judging.building.calls import step_of
from judging.building.drafts import Request
from judging.building.forms import BuildForm
from judging.building.progress import StepProgress, in_words, steps_of
from judging.building.prompt_files import MOST_BYTES, BadPrompt, StepPrompt, read_prompt
from judging.building.review import MOST_CHARACTERS
from judging.building.shipped import PIPELINES
from judging.jobs.forms import LimitsForm
from judging.jobs.serializers import option_of
from judging.models import Build, GenerationCall, Product, ProductReview

MOST_DECIDED_AT_ONCE = 10_000


def filled(form: type[LimitsForm], sent: Mapping[str, Any]) -> Any:
    """Return the form with what was sent, once it is valid; else answer 400."""
    given = {name: sent[name] for name in form.base_fields if sent.get(name) is not None}
    found = form({name: "\n".join(value) if isinstance(value, list) else value for name, value in given.items()})
    if not found.is_valid():
        raise serializers.ValidationError({name: [str(one) for one in said] for name, said in found.errors.items()})
    return found


def prompt_of(text: str, *, name: str) -> StepPrompt:
    """Return the prompt of a TOML file's content; answer 400 where it is none."""
    try:
        return read_prompt(text.encode("utf-8", "surrogatepass"), file_name=name)
    except BadPrompt as bad:
        raise serializers.ValidationError({name: str(bad)}) from bad


class PromptField(serializers.CharField):
    """The content of a prompt's TOML file."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=MOST_BYTES, trim_whitespace=False, **kwargs)


class NewBuildSerializer(serializers.Serializer[Any]):
    """A build: a pipeline, its texts, the model that writes, and what it may spend."""

    pipeline = serializers.ChoiceField(choices=[(one.name, one.title) for one in PIPELINES.values()])
    prompts = serializers.DictField(
        child=PromptField(), default=dict, help_text="By STEP or STEP/KIND: a TOML file’s content."
    )

    def get_fields(self) -> dict[str, Any]:
        return super().get_fields() | {name: option_of(field) for name, field in BuildForm.base_fields.items()}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        prompts = {step: prompt_of(text, name=step) for step, text in attrs["prompts"].items()}
        request: Request = filled(BuildForm, attrs).request(attrs["pipeline"], prompts)
        return {"request": request}


class AgainBuildSerializer(serializers.Serializer[Any]):
    """A step that is done again."""

    step = serializers.SlugField(max_length=50)
    kind = serializers.SlugField(
        default="", allow_blank=True, max_length=50, help_text="Which of the step’s prompts, where it has several."
    )
    prompt = PromptField(default="", allow_blank=True, help_text="A TOML file’s content: another prompt.")
    seed = WholeField(required=False, allow_null=True, default=None, min_value=0, max_value=2**31 - 2)


class DecisionSerializer(serializers.Serializer[Any]):
    """What becomes of these products. An edit is about one of them, and brings its text."""

    products = serializers.ListField(child=WholeField(min_value=1), min_length=1, max_length=MOST_DECIDED_AT_ONCE)
    decision = serializers.ChoiceField(choices=Product.State.choices, help_text="`proposed` takes your word back.")
    text = serializers.CharField(default="", allow_blank=True, max_length=MOST_CHARACTERS)


class AdditionSerializer(serializers.Serializer[Any]):
    """Where accepted nuggets and reports go."""

    bank = serializers.SlugField(
        default="", allow_blank=True, max_length=100, help_text="For nuggets. Empty: named as the pipeline."
    )
    run = serializers.CharField(
        default="", allow_blank=True, max_length=200, help_text="For reports, new. Empty: the pipeline and the build."
    )


# --- What is given ----------------------------------------------------------------------------------


class PipelineStepSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    needs = serializers.ListField(child=serializers.CharField())
    makes = serializers.CharField()
    temperature = NumberField()
    top_p = NumberField()


class PipelineSerializer(serializers.Serializer[Any]):
    """A pipeline: what it needs, its steps, and what it makes."""

    name = serializers.CharField()
    title = serializers.CharField()
    source = serializers.CharField()  # type: ignore[assignment]
    needs = serializers.ListField(child=serializers.CharField())
    makes = serializers.CharField()
    steps = PipelineStepSerializer(many=True)


class BuildSerializer(serializers.ModelSerializer[Build]):
    collection = serializers.SlugRelatedField[Any](slug_field="name", read_only=True)
    options = serializers.SerializerMethodField(help_text="What the pipeline was told.")
    topics = serializers.SerializerMethodField(help_text="How many.")
    step = serializers.SerializerMethodField(help_text="The step that is worked on.")
    cost = NumberField(allow_null=True)
    created_by = serializers.CharField(source="created_by.username", default=None, allow_null=True)

    class Meta:
        model = Build
        fields = [
            "id", "collection", "pipeline", "engine", "model", "options", "topics", "seed", "step", "reviews_steps",
            "reviewers", "state", "pause_cause", "reason", "n_calls", "prompt_tokens", "completion_tokens", "cost",
            "price_in", "price_out", "call_limit", "token_limit", "cost_limit", "minutes_limit", "created_by",
            "created_at", "heartbeat_at", "finished_at",
        ]  # fmt: skip

    @extend_schema_field(serializers.DictField())
    def get_options(self, build: Build) -> dict[str, Any]:
        return {name: value for name, value in build.options.items() if name not in ("topics", "left_out")}

    def get_topics(self, build: Build) -> int:
        return len(build.options["topics"])

    def get_step(self, build: Build) -> str:
        return step_of(build).name


class StepSerializer(serializers.Serializer[Any]):
    """A step with its counts. A reply may have several faults."""

    name = serializers.CharField(source="step.name")
    label = serializers.CharField(source="step.label")  # type: ignore[assignment]
    state = serializers.CharField()
    calls = WholeField(source="total")
    done = WholeField()
    faulty = WholeField()
    faults = serializers.DictField(child=WholeField(), help_text="By kind.")
    products = serializers.SerializerMethodField(
        help_text="By state; how many two people decided about, and how many of these alike."
    )
    prompts = serializers.SerializerMethodField(help_text="By STEP or STEP/KIND.")

    @extend_schema_field(serializers.DictField(child=WholeField()))
    def get_products(self, step: StepProgress) -> dict[str, int]:
        return step.products.__dict__

    @extend_schema_field(serializers.DictField(child=serializers.DictField()))
    def get_prompts(self, step: StepProgress) -> dict[str, Any]:
        return {
            slot: {name: prompt[name] for name in ("name", "version", "hash")} for slot, prompt in step.prompts.items()
        }


class BuildDetailSerializer(BuildSerializer):
    """A build step by step."""

    answer = serializers.SerializerMethodField(help_text="What it has brought so far, in words.")
    steps = serializers.SerializerMethodField()
    left_out = serializers.SerializerMethodField(help_text="Topics that lack what the pipeline needs, each with why.")
    without_reply = serializers.SerializerMethodField(help_text="Calls to which the engine gave no reply.")
    to_add = serializers.SerializerMethodField(help_text="Products that count and are not in the collection.")

    class Meta(BuildSerializer.Meta):
        fields = [*BuildSerializer.Meta.fields, "answer", "steps", "left_out", "without_reply", "to_add"]

    def get_answer(self, build: Build) -> str:
        return in_words(build, steps_of(build))

    @extend_schema_field(StepSerializer(many=True))
    def get_steps(self, build: Build) -> Any:
        return StepSerializer(steps_of(build), many=True).data

    @extend_schema_field(serializers.DictField(child=serializers.CharField()))
    def get_left_out(self, build: Build) -> Mapping[str, str]:
        return left_out_of(build)

    def get_without_reply(self, build: Build) -> int:
        return int(without_reply(build).count())

    def get_to_add(self, build: Build) -> int:
        return int(waiting_for_addition(build).count())


class CallSerializer(serializers.ModelSerializer[GenerationCall]):
    """What the model was asked, its raw reply, what was read of it and what is wrong with it."""

    topic = serializers.SlugRelatedField[Topic](slug_field="topic_id", read_only=True)
    key = serializers.DictField(help_text="What it is about: a document, a round, an attempt.")
    sampling = serializers.DictField()
    rows = serializers.ListField(child=serializers.DictField())
    faults = serializers.ListField(child=serializers.DictField(child=serializers.CharField()))

    class Meta:
        model = GenerationCall
        fields = [
            "id", "step", "topic", "key", "system", "prompt", "sampling", "reply", "rows", "faults", "finish_reason",
            "prompt_tokens", "completion_tokens", "seconds", "engine_identity", "finished_at",
        ]  # fmt: skip


class ProductReviewSerializer(serializers.ModelSerializer[ProductReview]):
    reviewer = serializers.CharField(source="reviewer.username")

    class Meta:
        model = ProductReview
        fields = ["reviewer", "decision", "text", "decided_at"]


class ProductSerializer(serializers.ModelSerializer[Product]):
    """What the model wrote, and what people made of it."""

    topic = serializers.SlugRelatedField[Topic](slug_field="topic_id", read_only=True)
    reviewed_by = serializers.CharField(source="reviewed_by.username", default=None, allow_null=True)
    reviews = serializers.SerializerMethodField(
        help_text="While it is not decided only your own, so that two people judge it each for themselves."
    )
    element = serializers.CharField(source="element.element_id", default=None, allow_null=True)
    passage = serializers.CharField(source="passage.passage_id", default=None, allow_null=True)
    report = serializers.CharField(
        source="report.run.name", default=None, allow_null=True, help_text="The run that it is a report of."
    )

    class Meta:
        model = Product
        fields = [
            "id", "step", "topic", "call", "raw", "text", "data", "state", "reviewed_by", "reviewed_at", "reviews",
            "element", "passage", "report",
        ]  # fmt: skip

    @extend_schema_field(ProductReviewSerializer(many=True))
    def get_reviews(self, product: Product) -> Any:
        reviews = [
            one
            for one in product.reviews.all()
            if product.state != Product.State.PROPOSED or one.reviewer_id == self.context["request"].user.pk
        ]
        return ProductReviewSerializer(reviews, many=True).data


class StepEstimateSerializer(serializers.Serializer[Any]):
    """At most how many calls; tokens are null where its prompts depend on the steps before it."""

    name = serializers.CharField(source="step.name")
    most_calls = WholeField()
    prompt_tokens = WholeField(allow_null=True)
    reply_tokens = WholeField(allow_null=True)


class LinkEstimateSerializer(serializers.Serializer[Any]):
    """A link of the chain: the `build`, or the `grading` behind it. Tokens are those that are known."""

    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    most_calls = WholeField()
    prompt_tokens = WholeField()
    reply_tokens = WholeField()


class BuildEstimateSerializer(serializers.Serializer[Any]):
    """What a build and all that follows it would take: bounds on calls, tokens and cost as far as they are known."""

    steps = StepEstimateSerializer(many=True)
    links = LinkEstimateSerializer(many=True, help_text="Their sums are the figures below.")
    most_calls = WholeField()
    tokens = WholeField()
    cost = NumberField(allow_null=True)


class EstimatedBuildSerializer(BuildEstimateSerializer):
    topics = WholeField()
    left_out = serializers.DictField(child=serializers.CharField())


class DecidedSerializer(serializers.Serializer[Any]):
    decided = WholeField()


class AskedAgainSerializer(serializers.Serializer[Any]):
    asked = WholeField(help_text="Calls that are asked once more.")


class AddedSerializer(serializers.Serializer[Any]):
    """How many were added, and how many stood there with the same words."""

    new = WholeField()
    known = WholeField()
    into = serializers.CharField(allow_null=True, help_text="The nugget bank’s version or the run that has them.")
