"""Files that come in, and what became of them, in the API."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from collection.api_tools import NumberField, WholeField
from collection.importing.datasets.ir_dataset import MOST_ID
from collection.importing.raters import rater_of_file
from collection.importing.stray_grades import CHOICES
from collection.judgments.declarations import IRRELEVANT, source_and_reason
from collection.models import Upload


class UploadSerializer(serializers.ModelSerializer[Upload]):
    """An uploaded file. `outcome` is what it would change (tried) or changed (imported), or its problems."""

    class Meta:
        model = Upload
        fields = ["id", "name", "size", "file_format", "study", "state", "uploaded_at", "outcome"]


class RaterOfFileField(serializers.CharField):
    """“FILE=NAME”."""

    written = "FILE=NAME"

    def to_internal_value(self, data: Any) -> Any:
        try:
            return rater_of_file(super().to_internal_value(data))
        except ValueError as error:
            raise serializers.ValidationError(str(error)) from error


class SourceAndReasonField(serializers.CharField):
    """“SOURCE=REASON”."""

    written = "SOURCE=REASON"

    def to_internal_value(self, data: Any) -> Any:
        try:
            return source_and_reason(super().to_internal_value(data))
        except ValueError as error:
            raise serializers.ValidationError(str(error)) from error


class NamedFileField(serializers.FileField):
    """A file among several: what is wrong with it is said with its name."""

    def to_internal_value(self, data: Any) -> Any:
        try:
            return super().to_internal_value(data)
        except serializers.ValidationError as error:
            name = getattr(data, "name", "")
            said = error.detail if isinstance(error.detail, list) else [error.detail]
            raise serializers.ValidationError([f"{name}: {one}" if name else str(one) for one in said]) from error


class FilesSerializer(serializers.Serializer[Any]):
    """Files in any order, each recognised by its content, and what they do not say themselves."""

    file = serializers.ListField(child=NamedFileField(), required=False, default=list, max_length=200)
    ir_dataset = serializers.ListField(
        child=serializers.CharField(max_length=MOST_ID),
        required=False,
        default=list,
        max_length=20,
        help_text="Instead of files: ids of ir_datasets, of which topics come in.",
    )
    with_qrels = serializers.BooleanField(default=False, help_text="Of datasets: their qrels too.")
    with_passages = serializers.BooleanField(
        default=False, help_text="Of datasets: the passages that their qrels or the collection’s runs name."
    )
    study = serializers.CharField(required=False, default="", help_text="The study that judgments go into.")
    criterion = serializers.CharField(
        required=False, default="", max_length=100, help_text="Of scores whose file names none of the study's."
    )
    rater = serializers.ListField(
        child=RaterOfFileField(),
        required=False,
        default=list,
        help_text="The people who judged these qrels.",
    )
    judge = serializers.ListField(
        child=RaterOfFileField(), required=False, default=list, help_text="The LLM judge of these qrels."
    )
    people = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        default=list,
        help_text="The files of qrels that are people's; the others are LLM judges'. Called like the files.",
    )
    judges = serializers.BooleanField(default=False, help_text="All other qrels are LLM judges'.")
    format = serializers.ListField(
        child=RaterOfFileField(), required=False, default=list, help_text="Where it may be of several: its format."
    )
    stray_grades = serializers.ChoiceField(
        choices=CHOICES,
        default=CHOICES[0],
        help_text="What becomes of grades of qrels that one file alone has, in fewer than 1 % of its lines.",
    )
    relevant_from = NumberField(
        required=False,
        allow_null=True,
        default=None,
        help_text="η of a new criterion: relevant from this grade on; TREC’s Deep Learning track counts from 2.",
    )
    with_topics = serializers.BooleanField(default=False, help_text="Create missing topics with only an id.")
    seed = WholeField(
        default=0, min_value=0, max_value=2**31 - 2, help_text="Of the unanswerable Natural Questions that are drawn."
    )
    without_texts = serializers.BooleanField(default=False, help_text="Create missing passages with only an id.")
    irrelevant = serializers.ListField(child=SourceAndReasonField(), required=False, default=list, help_text=IRRELEVANT)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if bool(attrs["file"]) == bool(attrs["ir_dataset"]):
            raise serializers.ValidationError({"file": ["Send files or the ids of datasets, one of the two."]})
        return attrs


class FilesImportedSerializer(serializers.Serializer[Any]):
    """What came in: rows of name, new, known; each file with its format and why it waits."""

    counts = serializers.ListField(child=serializers.ListField())
    remarks = serializers.ListField(child=serializers.CharField())
    flaws = serializers.ListField(child=serializers.CharField())
    details = serializers.DictField()
