"""A study's development and test part with its readings, and the model families of judges and systems."""

from __future__ import annotations

from typing import Any

from django.utils.timezone import now
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from collection.api_tools import NumberField, study_of, user_of
from collection.models import Rater, Study
from collection.splits import make_split
from collection.web.api import answers, chosen_by, criterion_of
from evaluation.agreement.report import measure_criterion
from evaluation.data.model_families import LONGEST, family_of, state_families, systems_of
from evaluation.data.population import JudgeNotFound
from evaluation.data.rater_names import judges_of, marked_judges_of
from evaluation.data.visibility import parts_of, read_test_part, readings_by_judge


class SplitChoice(serializers.Serializer[Any]):
    """How much of a study becomes its test part."""

    test_share = NumberField(min_value=0.05, max_value=0.95)


@extend_schema(
    operation_id="studies_split",
    methods=["GET"],
    description="The study's development and test topics, and how often the latter were unlocked for each judge.",
    responses=OpenApiTypes.OBJECT,
)
@extend_schema(
    operation_id="studies_split_make",
    methods=["POST"],
    description="Split the study's topics at random, once.",
    request=SplitChoice,
    responses={201: OpenApiTypes.OBJECT},
)
@answers("GET", "POST")
def split(request: Request, name: str) -> Response:
    study = study_of(request, name)
    if request.method == "POST":
        chosen = chosen_by(request, SplitChoice)
        make_split(study=study, test_share=chosen["test_share"], by=user_of(request), at=now())
    parts = parts_of(study)
    if parts is None:
        raise NotFound("The study is not split.")
    readings = {one.judge.name: one.n for one in readings_by_judge(parts, list(judges_of(study)))}
    topics = {
        part: list(parts.split.topics.filter(part=part).order_by("topic").values_list("topic__topic_id", flat=True))
        for part in ("dev", "test")
    }
    answer = {**parts.as_dict(), "seed": parts.split.seed, "readings": readings, "topics": topics}
    return Response(answer, status=201 if request.method == "POST" else 200)


class ReadingChoice(serializers.Serializer[Any]):
    """Whose figures on the test part are read."""

    criterion = serializers.CharField()
    judge = serializers.CharField()


@extend_schema(
    operation_id="studies_read_test_part",
    description="Unlock the test topics for a judge. Every call is counted.",
    request=ReadingChoice,
    responses={201: OpenApiTypes.OBJECT},
)
@answers("POST")
def readings(request: Request, name: str) -> Response:
    criterion = criterion_of(request, name)
    chosen = chosen_by(request, ReadingChoice)
    judge = _judge(criterion.study, chosen["judge"])
    n = read_test_part(criterion.study, judge, by=user_of(request), at=now())
    found = [one.as_dict() for one in measure_criterion(criterion).tests if one.one.judge == judge]
    return Response({"judge": judge.name, "test_readings": n, "figures": found}, status=201)


def _judge(study: Study, name: str) -> Rater:
    """Return the study's judge of this name. Raises JudgeNotFound."""
    judges = list(judges_of(study))
    found = [judge for judge in judges if judge.name == name]
    if len(found) != 1:
        listed = ", ".join(judge.name for judge in judges) or "none yet"
        raise JudgeNotFound(f"Choose one of the study’s judges: {listed}.")
    return found[0]


class FamiliesChoice(serializers.Serializer[Any]):
    """Model families by the names of judges and systems; an empty one takes the statement back."""

    judges = serializers.DictField(child=serializers.CharField(max_length=LONGEST, allow_blank=True), default=dict)
    systems = serializers.DictField(child=serializers.CharField(max_length=LONGEST, allow_blank=True), default=dict)


@extend_schema(
    operation_id="studies_families", methods=["GET"], description="Model families.", responses=FamiliesChoice
)
@extend_schema(
    operation_id="studies_families_state",
    methods=["POST"],
    description="Set the model families of judges and systems; those that are not named do not change.",
    request=FamiliesChoice,
    responses=FamiliesChoice,
)
@answers("GET", "POST")
def families(request: Request, name: str) -> Response:
    study = study_of(request, name)
    judges = {judge.name: judge for judge, _ in marked_judges_of(study)}
    systems = {system.name: system for system in systems_of(study)}
    if request.method == "POST":
        chosen = chosen_by(request, FamiliesChoice)
        if unknown := sorted((chosen["judges"].keys() - judges.keys()) | (chosen["systems"].keys() - systems.keys())):
            raise ValidationError(f"The study has no judge or system “{unknown[0]}”.")
        state_families(
            study=study,
            judges={judges[called].pk: family.strip() for called, family in chosen["judges"].items()},
            systems={systems[called].pk: family.strip() for called, family in chosen["systems"].items()},
        )
        judges = {judge.name: judge for judge, _ in marked_judges_of(study)}
        systems = {system.name: system for system in systems_of(study)}
    return Response(
        {
            "judges": {called: family_of(judge) for called, judge in judges.items()},
            "systems": {called: system.family for called, system in systems.items()},
        }
    )
