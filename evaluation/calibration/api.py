"""Corrected scores, and which labels come next."""

from __future__ import annotations

from typing import Any

from django.utils.timezone import now
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from collection.api_tools import NumberField, WholeField
from evaluation.calibration.planning import HOW, draw_next
from evaluation.data.judgments import load_criterion
from evaluation.data.population import find_judge, judge_choices, load_population
from evaluation.parameters.api import chosen_by, criterion_of, figures_of, refused_as_bad_request


class CalibrationChoice(serializers.Serializer[Any]):
    """Which judge is corrected, and what is declared."""

    criterion = serializers.CharField()
    judge = serializers.CharField(required=False, help_text="Judge name; optional if there is only one.")
    label_shift = serializers.BooleanField(default=False, help_text="Declares label shift, for Rogan–Gladen.")
    random_sample = serializers.BooleanField(
        default=False, help_text="Declares the labelled items a simple random sample, if no draw is stored."
    )
    part = serializers.ChoiceField(
        choices=["development", "test"], default="development", help_text="If the study is split."
    )


@extend_schema(
    operation_id="studies_calibration",
    description="A judge's scores corrected by human labels, overall and by system, with the recalibration curve.",
    parameters=[CalibrationChoice],
    responses=OpenApiTypes.OBJECT,
)
@api_view(["GET"])
def calibration(request: Request, name: str) -> Response:
    criterion = criterion_of(request, name)
    chosen = chosen_by(request, CalibrationChoice)
    with refused_as_bad_request():
        found = figures_of(
            request,
            "calibration",
            criterion.study,
            criterion=criterion.pk,
            judge=chosen.get("judge"),
            label_shift=chosen["label_shift"],
            declared_random=chosen["random_sample"],
            part=chosen["part"],
        )
    return Response(found.as_dict())


class PlanChoice(serializers.Serializer[Any]):
    """What is planned for: an interval of ± half_width, or telling two systems apart."""

    criterion = serializers.CharField()
    judge = serializers.CharField(required=False)
    random_sample = serializers.BooleanField(default=False)
    half_width = NumberField(required=False, min_value=0.001, max_value=0.5)
    system = serializers.CharField(default="", help_text="For this system's score instead of that of all items.")
    separate = serializers.ListField(child=serializers.CharField(), min_length=2, max_length=2, required=False)
    difference = NumberField(required=False, help_text="Default: the difference according to the judge.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse a question that asks for both or neither."""
        if ("half_width" in attrs) == ("separate" in attrs):
            raise ValidationError("Give either half_width, or separate twice, with two systems.")
        return attrs


@extend_schema(
    operation_id="studies_label_plan",
    description=(
        "How many more labels give an interval of this half-width, or distinguish these two systems; on the "
        "development topics if the study is split."
    ),
    parameters=[PlanChoice],
    responses=OpenApiTypes.OBJECT,
)
@api_view(["GET"])
def label_plan(request: Request, name: str) -> Response:
    criterion = criterion_of(request, name)
    chosen = chosen_by(request, PlanChoice)
    with refused_as_bad_request():
        found = figures_of(
            request,
            "label_plan",
            criterion.study,
            criterion=criterion.pk,
            judge=chosen.get("judge"),
            declared_random=chosen["random_sample"],
            half_width=chosen.get("half_width"),
            system=chosen["system"],
            separate=chosen.get("separate", []),
            difference=chosen.get("difference"),
        )
    return Response(found)


class DrawChoice(serializers.Serializer[Any]):
    """How many items people label next, and how they are drawn."""

    criterion = serializers.CharField()
    judge = serializers.CharField(required=False)
    n = WholeField(min_value=1)
    how = serializers.ChoiceField(choices=list(HOW.items()), default="strata")


@extend_schema(
    operation_id="studies_draw",
    description="Draw items for assessors from those not yet drawn; each item's inclusion probability is stored.",
    request=DrawChoice,
    responses=OpenApiTypes.OBJECT,
)
@api_view(["POST"])
def draw(request: Request, name: str) -> Response:
    criterion = criterion_of(request, name)
    chosen = chosen_by(request, DrawChoice)
    with refused_as_bad_request():
        of_people = load_criterion(criterion)
        judges = judge_choices(of_people)
        population = load_population(of_people, find_judge(judges, chosen.get("judge")))
        n = draw_next(population, n=chosen["n"], how=chosen["how"], judges=judges, at=now())
    answer = {"drawn": n, "left": int(population.undrawn.sum()) - n, **population.sight.as_dict()}
    return Response(answer, status=201)
