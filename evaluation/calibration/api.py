"""Corrected scores, which labels come next, and what is declared of labels."""

from __future__ import annotations

from django.core.exceptions import ValidationError as Contradiction
from django.utils.timezone import now
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from collection.api_tools import study_of
from collection.judgments.declarations import declarations_of, declare, doubt_about_sample
from collection.web.api import CRITERION, answers, chosen_by, criterion_of, figures_of, shows
from evaluation.calibration.planning import draw_next
from evaluation.calibration.serializers import (
    DeclarationsChoice,
    DeclaredSerializer,
    DrawChoice,
    PlanChoice,
)
from evaluation.data.judgments import load_criterion
from evaluation.data.population import find_judge, judge_choices, load_population


@shows(
    "studies_label_plan",
    "How many more labels give an interval of this half-width, or distinguish these two systems; on the development "
    "topics if the study is split.",
    CRITERION,
    PlanChoice,
)
def label_plan(request: Request, name: str) -> Response:
    criterion = criterion_of(request, name)
    asked = chosen_by(request, PlanChoice)
    return Response(
        figures_of(
            request,
            "evaluation.leaderboards.corrected.calibrations:label_plan",
            criterion.study,
            criterion=criterion.pk,
            **asked,
        )
    )


@extend_schema(
    operation_id="studies_draw",
    description="Draw items for assessors from those not yet drawn; each item's inclusion probability is stored.",
    request=DrawChoice,
    responses=OpenApiTypes.OBJECT,
)
@answers("POST")
def draw(request: Request, name: str) -> Response:
    criterion = criterion_of(request, name)
    chosen = chosen_by(request, DrawChoice)
    of_people = load_criterion(criterion)
    judges = judge_choices(of_people)
    population = load_population(of_people, find_judge(judges, chosen["judge"]))
    n = draw_next(population, n=chosen["n"], how=chosen["how"], judges=judges, at=now())
    answer = {"drawn": n, "left": int(population.undrawn.sum()) - n, **population.visibility.as_dict()}
    return Response(answer, status=201)


@extend_schema(
    operation_id="studies_declarations",
    methods=["GET"],
    description="What is declared of the study's labels.",
    responses=DeclaredSerializer,
)
@extend_schema(
    operation_id="studies_declare",
    methods=["POST"],
    description="Declare something of the study's labels, or take it back; what is not named does not change.",
    request=DeclarationsChoice,
    responses=DeclaredSerializer,
)
@answers("GET", "POST")
def declarations(request: Request, name: str) -> Response:
    study = study_of(request, name)
    if request.method == "POST":
        try:
            declare(study, **chosen_by(request, DeclarationsChoice))
        except Contradiction as refused:
            raise ValidationError(refused.messages) from refused
    return Response({**declarations_of(study), "doubt": doubt_about_sample(study)})
