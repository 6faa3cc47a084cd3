"""What the API takes and gives of collections and judgments."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from collection.api_tools import NumberField, WholeField
from collection.judgments.recording import JudgmentRow
from collection.judgments.services import Span
from collection.models import (
    Collection,
    Highlight,
    Judgment,
    Masking,
    Passage,
    RankedPassage,
    Rater,
    Report,
    RubricElement,
    Run,
    Topic,
)


class CollectionSerializer(serializers.ModelSerializer[Collection]):
    owner = serializers.SlugRelatedField[Any](slug_field="username", read_only=True)

    class Meta:
        model = Collection
        fields = ["name", "title", "description", "licence", "owner", "created_at", "attributes"]
        read_only_fields = ["created_at", "attributes"]


class RubricElementSerializer(serializers.ModelSerializer[RubricElement]):
    class Meta:
        model = RubricElement
        fields = ["kind", "element_id", "position", "text", "importance", "masked", "attributes"]


class MaskingSerializer(serializers.ModelSerializer[Masking]):
    """A decision to mask or unmask an element."""

    topic_id = serializers.CharField(source="element.topic.topic_id")
    kind = serializers.CharField(source="element.kind")
    element_id = serializers.CharField(source="element.element_id")
    decided_by = serializers.SlugRelatedField[Any](slug_field="username", read_only=True)

    class Meta:
        model = Masking
        fields = ["topic_id", "kind", "element_id", "masked", "reason", "basis", "decided_by", "decided_at"]


class NewMaskingSerializer(serializers.Serializer[Any]):
    """Elements of one topic and kind to mask or unmask."""

    topic_id = serializers.CharField()
    kind = serializers.ChoiceField(choices=RubricElement.Kind.choices, default=RubricElement.Kind.SUB_QUESTION)
    element_ids = serializers.ListField(child=serializers.CharField(), allow_empty=False, max_length=1_000)
    masked = serializers.BooleanField(default=True, help_text="False: unmask.")
    reason = serializers.CharField(max_length=500)


class MaskedSerializer(serializers.Serializer[Any]):
    changed = WholeField(help_text="How many elements changed.")


class TopicSerializer(serializers.ModelSerializer[Topic]):
    rubric_elements = RubricElementSerializer(many=True)

    class Meta:
        model = Topic
        fields = ["topic_id", "title", "request", "attributes", "rubric_elements"]


class PassageSerializer(serializers.ModelSerializer[Passage]):
    class Meta:
        model = Passage
        fields = ["passage_id", "title", "document_id", "text", "text_sha256", "translation", "attributes"]


class RunSerializer(serializers.ModelSerializer[Run]):
    system = serializers.CharField(source="system.name")
    family = serializers.CharField(source="system.family")
    made_from = serializers.CharField(source="made_from.name", default="")

    class Meta:
        model = Run
        fields = ["name", "system", "family", "made_from", "attributes"]


class ReportSerializer(serializers.ModelSerializer[Report]):
    run = serializers.CharField(source="run.name")
    topic_id = serializers.CharField(source="topic.topic_id")

    class Meta:
        model = Report
        fields = ["run", "topic_id", "text", "text_sha256", "attributes"]


class RankedPassageSerializer(serializers.ModelSerializer[RankedPassage]):
    run = serializers.CharField(source="run.name")
    topic_id = serializers.CharField(source="topic.topic_id")

    class Meta:
        model = RankedPassage
        fields = ["run", "topic_id", "passage_id", "rank", "score"]


class HighlightSerializer(serializers.ModelSerializer[Highlight]):
    """`start` and `end` count Unicode code points, end-exclusive; null if the quote's position is not certain."""

    class Meta:
        model = Highlight
        fields = ["purpose", "start", "end", "quote", "text_sha256"]


class JudgmentSerializer(serializers.ModelSerializer[Judgment]):
    item_id = serializers.CharField(source="item.item_id")
    topic_id = serializers.CharField(source="item.topic.topic_id")
    criterion = serializers.CharField(source="criterion.name")
    rater = serializers.CharField(source="rater.name")
    rater_kind = serializers.ChoiceField(source="rater.kind", choices=Rater.Kind.choices)
    rater_origin = serializers.ChoiceField(source="rater.origin", choices=Rater.Origin.choices)
    guideline_version = WholeField(source="guideline.version", default=None, allow_null=True)
    highlights = HighlightSerializer(many=True)
    page_changed = serializers.BooleanField(
        help_text="Whether the rater chose something about the item on a page that was translated, say."
    )

    class Meta:
        model = Judgment
        fields = [
            "topic_id", "item_id", "criterion", "rater", "rater_kind", "rater_origin", "grade", "ungraded",
            "judged_at", "seconds", "guideline_version", "highlights", "unsure", "page_changed",
        ]  # fmt: skip


class NewHighlightSerializer(serializers.Serializer[Any]):
    start = WholeField(min_value=0)
    end = WholeField(min_value=1)
    quote = serializers.CharField(trim_whitespace=False)
    purpose = serializers.ChoiceField(choices=Highlight.Purpose.choices, default=Highlight.Purpose.SUPPORT.value)


class NewJudgmentSerializer(serializers.Serializer[Any]):
    """Your own judgment, or that of the imported rater named in `rater`."""

    item_id = serializers.CharField(max_length=600)
    criterion = serializers.CharField(max_length=50)
    grade = NumberField()
    highlights = NewHighlightSerializer(many=True, required=False)
    seconds = NumberField(min_value=0, required=False, allow_null=True)
    rater = serializers.CharField(max_length=200, required=False, allow_blank=True)
    rater_kind = serializers.ChoiceField(choices=Rater.Kind.choices, default=Rater.Kind.ASSESSOR.value)
    guideline_version = WholeField(
        min_value=1, max_value=32_767, required=False, allow_null=True, help_text="What the rater was shown."
    )
    unsure = serializers.BooleanField(default=False, help_text="Whether the rater is not sure of the grade.")
    page_changed = serializers.BooleanField(
        default=False, help_text="Whether the rater chose something about the item on a page with other words."
    )


def judgment_row(sent: dict[str, Any]) -> JudgmentRow:
    """Return a checked NewJudgment as the service takes it."""
    spans = [Span(**highlight) for highlight in sent.get("highlights", ())]
    rest = {name: value for name, value in sent.items() if name != "highlights"}
    return JudgmentRow(**rest, spans=spans)


class WrittenSerializer(serializers.Serializer[Any]):
    """How many judgments are now as sent."""

    judgments = WholeField()


class RowErrorSerializer(serializers.Serializer[Any]):
    row = WholeField(help_text="Counted from 0; null for what was sent as a whole.", allow_null=True)
    error = serializers.CharField()


class RowErrorsSerializer(serializers.Serializer[Any]):
    """Why nothing was saved."""

    rows = RowErrorSerializer(many=True)
