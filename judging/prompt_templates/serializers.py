"""What the API takes and gives of prompt templates and their previews."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from collection.api_tools import NumberField, WholeField
from judging.models import PromptTemplate
from judging.prompts.template_versions import MOST_REPLY_TOKENS


class PreviewSerializer(serializers.Serializer[Any]):
    """What a model reads about an item. `swapped` is the other order of a pair; null if only one order is used."""

    item = serializers.CharField()
    system = serializers.CharField(source="prompt.system")
    text = serializers.CharField(source="prompt.text")
    swapped = serializers.CharField(source="swapped.text", allow_null=True, default=None)
    cut = serializers.DictField(source="prompt.cut", child=WholeField())
    impossible = serializers.CharField(source="prompt.impossible")
    tokens = WholeField(source="tokens.tokens")
    counted_by = serializers.CharField(source="tokens.counted_by", help_text="Empty: estimated from the characters.")


class TemplateSerializer(serializers.ModelSerializer[PromptTemplate]):
    class Meta:
        model = PromptTemplate
        fields = [
            "name", "version", "task_type", "criterion_name", "system_text", "text", "reply_with", "replies",
            "reply_rule", "reply_mark", "reply_tokens", "orders", "cut_text_at", "example_text", "source",
            "content_hash", "created_at",
        ]  # fmt: skip


class NewTemplateSerializer(serializers.Serializer[Any]):
    """A prompt template. A different text under an existing name is a new version."""

    name = serializers.SlugField(max_length=100)
    task_type = serializers.CharField(max_length=50, help_text="A shipped task type, or a question of `questions/`.")
    criterion_name = serializers.SlugField(max_length=50)
    text = serializers.CharField()
    system_text = serializers.CharField(required=False, allow_blank=True, default="")
    reply_with = serializers.ChoiceField(choices=PromptTemplate.ReplyWith.choices, default="value")
    replies = serializers.DictField(
        child=NumberField(), required=False, default=dict, help_text="The template's own words, with the grade of each."
    )
    reply_rule = serializers.ChoiceField(choices=PromptTemplate.ReplyRule.choices, default="first_line")
    reply_mark = serializers.CharField(required=False, allow_blank=True, default="", max_length=100)
    reply_tokens = WholeField(required=False, allow_null=True, default=None, min_value=1, max_value=MOST_REPLY_TOKENS)
    orders = serializers.ChoiceField(choices=[1, 2], default=1)
    cut_text_at = WholeField(required=False, allow_null=True, default=None, min_value=1)
    example_text = serializers.CharField(required=False, allow_blank=True, default="")
    source = serializers.CharField(  # type: ignore[assignment]  # a field here, as in the model
        required=False, allow_blank=True, default="", help_text="The method it follows."
    )
