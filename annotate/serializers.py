"""What the API takes and gives of studies and of an assessor's work."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rest_framework import serializers

from annotate.assignments.design import Design, design_of
from annotate.assignments.shown import Answer
from annotate.frames.serializers import FrameSerializer
from annotate.models import Enrolment
from annotate.studies.design import StudyDesign
from annotate.studies.edits import EDITABLE
from annotate.studies.forms import MOST_PEOPLE_AT_ONCE, UsernamesField
from annotate.studies.lifecycle import NameTaken, refuse_a_taken_name
from annotate.studies.options import StudyOptions, WorkOptions
from annotate.suggestions.shown import as_shown
from annotate.task_types import RULES, criteria_asked, lacks_of, shapes_offered
from annotate.task_types.key_point import ANSWERS, ONLY_OF_ANSWERS
from annotate.task_types.writing import MOST_CHARACTERS
from annotate.work.pace import SkipReason
from collection.api_tools import NumberField, WholeField
from collection.languages.languages import ENGLISH
from collection.models import Collection, Criterion, Scale, Study, ThresholdChange
from collection.questions.shapes import CriterionShape

# --- Studies ------------------------------------------------------------------------------------


class ScaleSerializer(serializers.ModelSerializer[Scale]):
    points = serializers.ListField(child=serializers.DictField())

    class Meta:
        model = Scale
        fields = ["name", "level", "points", "content_hash"]


class ThresholdChangeSerializer(serializers.ModelSerializer[ThresholdChange]):
    """A change of the threshold: from what to what, when and by whom."""

    changed_by = serializers.SlugRelatedField[Any](slug_field="username", read_only=True)

    class Meta:
        model = ThresholdChange
        fields = ["before", "after", "changed_at", "changed_by"]


class CriterionSerializer(serializers.ModelSerializer[Criterion]):
    scale = ScaleSerializer()
    threshold_changes = ThresholdChangeSerializer(many=True, read_only=True)

    class Meta:
        model = Criterion
        fields = ["id", "name", "task_type", "question", "threshold", "threshold_changes", "scale"]


class NewThresholdSerializer(serializers.Serializer[Any]):
    threshold = NumberField(help_text="A grade of at least this counts as positive.")


class StudySerializer(serializers.ModelSerializer[Study]):
    collection = serializers.SlugRelatedField[Collection](slug_field="name", read_only=True)
    criteria = CriterionSerializer(many=True)
    design = serializers.SerializerMethodField()
    frame = serializers.JSONField(help_text="What differs from asking about everything.")

    class Meta:
        model = Study
        fields = [
            "name", "title", "collection", "state", "overlap", "language", "terms", "translatable",
            "created_at", "sample_sizes", "depth", "nuggets_in", "key_points_in", "pooled_from", "citations_asked",
            "drawn_by", "revise", "revision_places", "design", "frame", "released_batch", "attributes", "criteria",
        ]  # fmt: skip

    def get_design(self, study: Study) -> dict[str, Any]:
        return design_of(study).as_dict()


class GradeWordsSerializer(serializers.Serializer[Any]):
    value = NumberField()
    name = serializers.CharField(max_length=50)
    text = serializers.CharField(max_length=500)


class CriterionWordsSerializer(serializers.Serializer[Any]):
    """A criterion in the researcher's words. What is left out is as in the task type, in the study's language."""

    name = serializers.SlugField()
    question = serializers.CharField(max_length=500, required=False)
    threshold = NumberField(required=False)
    grades = GradeWordsSerializer(many=True, required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        shapes = shapes_in(ENGLISH)
        if attrs["name"] not in shapes:
            raise serializers.ValidationError(
                f"There is no criterion “{attrs['name']}”; there are {', '.join(shapes)}."
            )
        shape = shapes[attrs["name"]]
        values = [value for value, _, _ in shape.scale.points]
        if shape.open_scale and "grades" in attrs:
            values = [grade["value"] for grade in attrs["grades"]]
            if values != sorted(set(values)) or len(values) < 2:
                raise serializers.ValidationError({"grades": "These must be at least two rising grades."})
        elif "grades" in attrs and [grade["value"] for grade in attrs["grades"]] != values:
            raise serializers.ValidationError({"grades": f"These must be the grades {values}, in this order."})
        if "threshold" in attrs and attrs["threshold"] not in values:
            raise serializers.ValidationError({"threshold": f"The threshold must be one of {values}."})
        return attrs


def shapes_in(language: str) -> dict[str, CriterionShape]:
    """Return the criteria of all task types in this language, by name."""
    return {shape.name: shape for of in shapes_offered() for _, shape in criteria_asked(of.task_type, language)}


def worded(shape: CriterionShape, words: dict[str, Any]) -> CriterionShape:
    """Return the criterion with the researcher's words where there are any."""
    scale = shape.scale
    if "grades" in words:
        points = tuple((grade["value"], grade["name"], grade["text"]) for grade in words["grades"])
        scale = shape.with_points(points)
    return replace(
        shape,
        question=words.get("question", shape.question),
        threshold=words.get("threshold", shape.threshold),
        scale=scale,
    )


class UsernamesSerializerField(serializers.ListField):
    """A list of usernames, each checked as the page checks it."""

    child = serializers.CharField(max_length=150)

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=MOST_PEOPLE_AT_ONCE, **kwargs)

    def to_internal_value(self, data: Any) -> list[str]:
        names = super().to_internal_value(data)
        if broken := [name for name in names if len(name.split()) != 1]:
            raise serializers.ValidationError(f"“{broken[0]}” is not a username: it contains spaces.")
        usernames: list[str] = UsernamesField(required=False).clean("\n".join(names))
        return usernames


class WorkSerializer(WorkOptions):
    def to_internal_value(self, data: Any) -> Design:
        return Design(**super().to_internal_value(data))


class NewStudySerializer(StudyOptions):
    """A new study; validated, it is a `StudyDesign` and the names of its assessors."""

    collection = serializers.SlugRelatedField(slug_field="name", queryset=Collection.objects.none())
    name = serializers.SlugField(max_length=100)
    title = serializers.CharField(max_length=200, required=False, default="")
    task_types = serializers.ListField(
        child=serializers.CharField(max_length=50),
        min_length=1,
        help_text="Shipped ones, or questions of `questions/`.",
    )
    sample_sizes = serializers.DictField(child=WholeField(min_value=1), required=False)
    criteria = CriterionWordsSerializer(many=True, required=False)
    design = WorkSerializer(required=False, source="work")
    frame = FrameSerializer(required=False)
    assessors = UsernamesSerializerField(required=False)

    def get_fields(self) -> dict[str, Any]:
        fields: dict[str, Any] = super().get_fields()
        user = self.context["request"].user if "request" in self.context else None
        if user and user.is_authenticated:
            fields["collection"].queryset = Collection.objects.of(user)
        return fields

    def validate_name(self, name: str) -> str:
        try:
            refuse_a_taken_name(name)
        except NameTaken as refusal:
            raise serializers.ValidationError(str(refusal)) from refusal
        return name

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["why_missed"] and attrs["key_points_in"] != ANSWERS:
            raise serializers.ValidationError({"why_missed": ONLY_OF_ANSWERS})
        shapes = shapes_in(attrs["language"])
        attrs["criteria"] = {words["name"]: worded(shapes[words["name"]], words) for words in attrs.get("criteria", [])}
        return {"assessors": attrs.pop("assessors", []), "study": StudyDesign(**attrs)}

    def validate_task_types(self, task_types: list[str]) -> list[str]:
        offered = [shape.task_type for shape in shapes_offered()]
        if unknown := [name for name in task_types if name not in offered]:
            raise serializers.ValidationError(f"“{unknown[0]}” is not a task type. Use {', '.join(offered)}.")
        if lacks := lacks_of(task_types):
            raise serializers.ValidationError(lacks)
        return list(dict.fromkeys(task_types))

    def validate_sample_sizes(self, sizes: dict[str, int]) -> dict[str, int]:
        if unknown := sizes.keys() - RULES.keys():
            raise serializers.ValidationError(f"{', '.join(sorted(unknown))}: not a task type.")
        return sizes


class EditSerializer(serializers.Serializer[Any]):
    """What of a study can be changed. What is left out stays as it is."""

    title = serializers.CharField(max_length=200, allow_blank=True, required=False)
    frame = FrameSerializer(required=False, help_text="Replaces the whole; with items in the study it can only grow.")

    def get_fields(self) -> dict[str, Any]:
        """Return these with the options of a new study that can still be changed, none of which has a default here."""
        fields: dict[str, Any] = super().get_fields()
        options = {**StudyOptions().get_fields(), **WorkOptions().get_fields()}
        for name in EDITABLE:
            if name in options:
                fields[name] = options[name]
                fields[name].default, fields[name].required = serializers.empty, False
        return fields


class CopySerializer(serializers.Serializer[Any]):
    title = serializers.CharField(max_length=200)
    name = serializers.SlugField(max_length=100, default="", help_text="Derived from the title if left out.")


class NewGuidelinesSerializer(serializers.Serializer[Any]):
    markdown = serializers.CharField()


class GuidelinesVersionSerializer(serializers.Serializer[Any]):
    version = WholeField()


class OpenedSerializer(serializers.Serializer[Any]):
    state = serializers.CharField()
    new_tasks = WholeField(help_text="How many tasks this call created.")


class TaskTypeProgressSerializer(serializers.Serializer[Any]):
    task_type = serializers.CharField()
    tasks = WholeField()
    places = WholeField()
    filled = WholeField()
    submitted = WholeField()


class AssessorProgressSerializer(serializers.Serializer[Any]):
    username = serializers.CharField(source="user.username")
    enrolled = serializers.BooleanField()
    open = WholeField()
    submitted = WholeField()
    incomplete = WholeField(help_text="Submitted tasks with an incomplete change; the earlier answers count.")
    judgments = WholeField()
    median_seconds = NumberField(allow_null=True, help_text="Active time per submitted task.")
    last_seen = serializers.DateTimeField(allow_null=True)
    excluded_because = serializers.CharField()


class CriterionProgressSerializer(serializers.Serializer[Any]):
    criterion = serializers.CharField()
    grades = WholeField(help_text="By people.")
    unsure = WholeField(help_text="Those of them that were marked as not sure.")


class ProgressSerializer(serializers.Serializer[Any]):
    task_types = TaskTypeProgressSerializer(many=True)
    assessors = AssessorProgressSerializer(many=True)
    criteria = CriterionProgressSerializer(many=True)


class EnrolmentSerializer(serializers.ModelSerializer[Enrolment]):
    username = serializers.CharField(source="user.username")

    class Meta:
        model = Enrolment
        fields = ["username", "joined_at", "left_at"]


class NewEnrolmentsSerializer(serializers.Serializer[Any]):
    usernames = UsernamesSerializerField()


class NewAccountSerializer(serializers.Serializer[Any]):
    username = serializers.CharField(source="user.username")
    password = serializers.CharField(help_text="Shown only once.")


# --- Work ---------------------------------------------------------------------------------------


class SpanSerializer(serializers.Serializer[Any]):
    """A span of the text in code points, end-exclusive, with its words; from 0 to 0 the title of the passage."""

    start = WholeField(min_value=0)
    end = WholeField(min_value=0)
    quote = serializers.CharField(trim_whitespace=False)


class OwnWordsSerializer(serializers.Serializer[Any]):
    """An answer in the assessor's own words, with the names of the confirmed points."""

    text = serializers.CharField(allow_blank=True, trim_whitespace=False, max_length=MOST_CHARACTERS)
    confirmations = serializers.ListField(child=serializers.CharField(max_length=50), default=list)


class AnswerSerializer(serializers.Serializer[Any]):
    criterion = WholeField(source="criterion.pk")
    name = serializers.CharField(source="criterion.name")
    question = serializers.CharField(source="criterion.question")
    grades = GradeWordsSerializer(many=True)
    asked = serializers.BooleanField()
    grade = NumberField(allow_null=True)
    spans = SpanSerializer(many=True)
    answer = OwnWordsSerializer(source="written", help_text="Where the task type takes one.")
    lack = serializers.CharField(help_text="What is missing before it is answered.")
    unsure = serializers.BooleanField(help_text="Whether you are not sure of the grade.")
    suggestion = serializers.SerializerMethodField()

    def get_suggestion(self, answer: Answer) -> dict[str, Any] | None:
        """What a judge suggests, where the assignment shows it now: its arm, its grade, its reason, its words."""
        return as_shown(answer.suggestion)


class QuestionSerializer(serializers.Serializer[Any]):
    item = WholeField(source="item.pk")
    number = WholeField()
    text = serializers.CharField()
    answers = AnswerSerializer(many=True)


class AssignmentSerializer(serializers.Serializer[Any]):
    """An assessor's task, with its text and the answers so far."""

    id = WholeField(source="assignment.pk")
    study = serializers.CharField(source="assignment.task.study.name")
    state = serializers.CharField(source="assignment.state")
    task_type = serializers.CharField(source="assignment.task.task_type")
    request = serializers.CharField(source="assignment.task.topic.request")
    text = serializers.CharField(source="text.text", default=None, help_text="Null where several texts are judged.")
    text_sha256 = serializers.CharField(source="text.text_sha256", default=None)
    extras = serializers.JSONField(help_text="What else the task type shows.")
    guidelines = serializers.CharField(source="guideline.markdown", default="", help_text="In Markdown.")
    guidelines_version = WholeField(source="guideline.version", default=None, allow_null=True)
    questions = QuestionSerializer(many=True)


class ChoiceSerializer(serializers.Serializer[Any]):
    item = WholeField()
    criterion = WholeField()
    grade = NumberField(allow_null=True)
    spans = SpanSerializer(many=True, required=False, default=list)
    answer = OwnWordsSerializer(required=False, help_text="Where the task type takes one.")
    seconds = NumberField(min_value=0, max_value=86_400, allow_null=True, default=None)
    guidelines_version = WholeField(
        min_value=1,
        max_value=32_767,
        allow_null=True,
        default=None,
        help_text="The version that the assessor was shown; it is recorded with the judgment.",
    )
    unsure = serializers.BooleanField(default=False, help_text="Whether you are not sure of the grade, which counts.")


class SkipSerializer(serializers.Serializer[Any]):
    reason = serializers.ChoiceField(SkipReason.choices)
    words = serializers.CharField(max_length=1000, default="", allow_blank=True)


class SavedChoiceSerializer(serializers.Serializer[Any]):
    state = serializers.ChoiceField(["judged", "draft", "empty"])
    lack = serializers.CharField()
    submitted = serializers.BooleanField(
        help_text="The assignment is submitted: the earlier answer counts until the new one is complete."
    )
