"""This app's part of /api/v1/: the same services as its pages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.http import FileResponse
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, URLResolver, path
from django.utils.timezone import now
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from collection.drawing import ItemsNotToBeDrawn
from collection.models import Criterion, Study
from evaluation.active import TooFewItems
from evaluation.agreement import measure_agreement
from evaluation.alternative_annotator import EPSILONS
from evaluation.planner import NoPlan
from evaluation.qrels import COMBINES, TIES, QrelsRefused, Rule
from evaluation.services.breakdowns import measure_breakdowns
from evaluation.services.calibration import calibrate
from evaluation.services.figures import measure_criterion
from evaluation.services.plans import HOW, SystemNotFound, draw_next, plan_difference, plan_interval
from evaluation.services.populations import JudgeNotFound, find_judge, judge_choices, load_population, population_of
from evaluation.services.qrels import compile_qrels
from evaluation.services.studies import load_criterion
from evaluation.services.trust import examine_judge, paired_judges
from evaluation.views.publish import bundle_file

CRITERION = OpenApiParameter("criterion", str, required=True, description="The criterion's name in the study.")


@extend_schema(
    operation_id="studies_agreement",
    description="Agreement among a study's people: each coefficient with its 95 % interval, or why there is none.",
    parameters=[CRITERION],
    responses=OpenApiTypes.OBJECT,
)
@api_view(["GET"])
def agreement(request: Request, name: str) -> Response:
    criterion = _criterion(request, name)
    return Response(measure_agreement(load_criterion(criterion).people).as_dict())


@extend_schema(
    operation_id="studies_comparison",
    description="Everything on the agreement page: people among themselves, and against each judge.",
    parameters=[CRITERION],
    responses=OpenApiTypes.OBJECT,
)
@api_view(["GET"])
def comparison(request: Request, name: str) -> Response:
    return Response(measure_criterion(_criterion(request, name)).as_dict())


class QrelsChoice(serializers.Serializer[Any]):
    """Which judgments become qrels, and how."""

    criterion = serializers.CharField()
    rater = serializers.ListField(child=serializers.CharField(), default=list, help_text="Names; all people if empty.")
    with_simulated = serializers.BooleanField(default=False, help_text="Simulated assessors count among all people.")
    combine = serializers.ChoiceField(choices=list(COMBINES), default="majority")
    ties = serializers.ChoiceField(choices=list(TIES), default="lower", help_text="undecided: left out.")
    fewest_raters = serializers.IntegerField(default=1, min_value=1, help_text="Items with fewer grades are left out.")
    binary_at = serializers.FloatField(required=False, help_text="1 from this grade up, else 0; grades if left out.")
    per_element = serializers.BooleanField(default=False)
    holes_at = serializers.IntegerField(required=False, min_value=1, max_value=1_000, help_text="k of judged@k.")
    names = serializers.BooleanField(default=False, help_text="People by their names, not by numbers.")


@extend_schema(
    operation_id="studies_qrels",
    description="A study's judgments as the text of a qrels file, with its provenance.",
    parameters=[QrelsChoice],
    responses=OpenApiTypes.OBJECT,
)
@api_view(["GET"])
def qrels(request: Request, name: str) -> Response:
    choice = QrelsChoice(data=request.query_params)
    choice.is_valid(raise_exception=True)
    chosen = choice.validated_data
    rule = Rule(
        combine=chosen["combine"],
        ties=chosen["ties"],
        fewest_raters=chosen["fewest_raters"],
        binary_at=chosen.get("binary_at"),
        per_element=chosen["per_element"],
    )
    try:
        compiled = compile_qrels(
            _criterion(request, name),
            raters=chosen["rater"],
            with_simulated=chosen["with_simulated"],
            rule=rule,
            names=chosen["names"],
            holes_at=chosen.get("holes_at"),
            at=now(),
        )
    except QrelsRefused as refused:
        raise ValidationError(str(refused)) from refused
    unjudged = {found.run: [list(one) for one in found.unjudged] for found in compiled.holes}
    answer = {"qrels": compiled.text, "provenance": compiled.provenance}
    return Response(answer | ({"unjudged": unjudged} if "holes_at" in chosen else {}))


class BundleChoice(serializers.Serializer[Any]):
    """What is in a bundle."""

    names = serializers.BooleanField(default=False, help_text="People by their names, not by numbers.")
    with_simulated = serializers.BooleanField(default=False, help_text="Simulated assessors count in the qrels.")


@extend_schema(
    operation_id="studies_bundle",
    description="The audit bundle: a zip from which a study's figures can be computed again.",
    parameters=[BundleChoice],
    responses={(200, "application/zip"): OpenApiTypes.BINARY},
)
@api_view(["GET"])
def bundle(request: Request, name: str) -> FileResponse:
    study = get_object_or_404(Study.objects.of(request.user).select_related("collection"), name=name)
    choice = BundleChoice(data=request.query_params)
    choice.is_valid(raise_exception=True)
    return bundle_file(study, **choice.validated_data)


class LeaderboardChoice(serializers.Serializer[Any]):
    """Which measure, whose judgments, and by which rules."""

    measure = serializers.CharField(help_text="coverage, Cover@20>=3, alpha-nDCG@10, nDCG@20, P(rel=η)@5, …")
    source = serializers.ListField(  # type: ignore[assignment]  # a parameter's name, and DRF's own
        child=serializers.CharField(), default=list, help_text="people, a judge; or all."
    )
    combine = serializers.ChoiceField(choices=["majority", "median"], default="majority")
    oracle = serializers.CharField(required=False, help_text="The run whose texts say what can be answered.")


@extend_schema(
    operation_id="studies_leaderboard",
    description="Systems under a measure by each source of judgments, with intervals, and how far the sources agree.",
    parameters=[LeaderboardChoice],
    responses=OpenApiTypes.OBJECT,
)
@api_view(["GET"])
def leaderboard(request: Request, name: str) -> Response:
    # They take pandas and scipy, which a web process that serves assessors does without.
    from evaluation.boards import BoardRefused, parse_measure
    from evaluation.services.boards import StudyBoards
    from evaluation.services.leaderboards import measure_leaderboard

    study = get_object_or_404(Study.objects.of(request.user).select_related("collection"), name=name)
    choice = LeaderboardChoice(data=request.query_params)
    choice.is_valid(raise_exception=True)
    chosen = choice.validated_data
    boards = StudyBoards(study, combine=chosen["combine"], oracle=chosen.get("oracle"))
    try:
        board = measure_leaderboard(boards, parse_measure(chosen["measure"]), sources=chosen["source"])
    except BoardRefused as refused:
        raise ValidationError(str(refused)) from refused
    return Response(board.as_dict())


class CalibrationChoice(serializers.Serializer[Any]):
    """Which judge is corrected, and what is declared."""

    criterion = serializers.CharField()
    judge = serializers.CharField(required=False, help_text="Its name; may be left out where there is one.")
    label_shift = serializers.BooleanField(default=False, help_text="Declares label shift, for Rogan–Gladen.")
    random_sample = serializers.BooleanField(
        default=False, help_text="Declares the labelled items a simple random sample, where no draw is stored."
    )


@extend_schema(
    operation_id="studies_calibration",
    description="A judge's scores corrected by people's labels, overall and by system, with the recalibration curve.",
    parameters=[CalibrationChoice],
    responses=OpenApiTypes.OBJECT,
)
@api_view(["GET"])
def calibration(request: Request, name: str) -> Response:
    criterion = _criterion(request, name)
    choice = CalibrationChoice(data=request.query_params)
    choice.is_valid(raise_exception=True)
    chosen = choice.validated_data
    with refused_as_bad_request():
        found = calibrate(
            criterion,
            judge=chosen.get("judge"),
            label_shift=chosen["label_shift"],
            declared_random=chosen["random_sample"],
        )
    return Response(found.as_dict())


class PlanChoice(serializers.Serializer[Any]):
    """What is planned for: an interval of ± half_width, or telling two systems apart."""

    criterion = serializers.CharField()
    judge = serializers.CharField(required=False)
    random_sample = serializers.BooleanField(default=False)
    half_width = serializers.FloatField(required=False, min_value=0.001, max_value=0.5)
    system = serializers.CharField(default="", help_text="Around this system's score, not that of all items.")
    separate = serializers.ListField(child=serializers.CharField(), min_length=2, max_length=2, required=False)
    difference = serializers.FloatField(required=False, help_text="Left out: as the judge sees it.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse a question that asks for both or neither."""
        if ("half_width" in attrs) == ("separate" in attrs):
            raise ValidationError("Say either half_width, or separate twice, with two systems.")
        return attrs


@extend_schema(
    operation_id="studies_label_plan",
    description="How many more labels give an interval of this half-width, or tell these two systems apart.",
    parameters=[PlanChoice],
    responses=OpenApiTypes.OBJECT,
)
@api_view(["GET"])
def label_plan(request: Request, name: str) -> Response:
    criterion = _criterion(request, name)
    choice = PlanChoice(data=request.query_params)
    choice.is_valid(raise_exception=True)
    chosen = choice.validated_data
    with refused_as_bad_request():
        population = population_of(criterion, chosen.get("judge"), declared_random=chosen["random_sample"])
        if "separate" in chosen:
            separation = plan_difference(population, *chosen["separate"], difference=chosen.get("difference"))
            return Response(separation.as_dict())
        return Response(plan_interval(population, chosen["half_width"], system=chosen["system"]).as_dict())


class DrawChoice(serializers.Serializer[Any]):
    """How many items people label next, and how they are drawn."""

    criterion = serializers.CharField()
    judge = serializers.CharField(required=False)
    n = serializers.IntegerField(min_value=1)
    how = serializers.ChoiceField(choices=list(HOW.items()), default="strata")


@extend_schema(
    operation_id="studies_draw",
    description="Draw items for people among those that were never drawn; each keeps its inclusion probability.",
    request=DrawChoice,
    responses=OpenApiTypes.OBJECT,
)
@api_view(["POST"])
def draw(request: Request, name: str) -> Response:
    study = get_object_or_404(Study.objects.of(request.user), name=name)
    choice = DrawChoice(data=request.data)
    choice.is_valid(raise_exception=True)
    chosen = choice.validated_data
    criterion = get_object_or_404(study.criteria.select_related("study__collection", "scale"), name=chosen["criterion"])
    with refused_as_bad_request():
        of_people = load_criterion(criterion)
        judges = judge_choices(of_people)
        population = load_population(of_people, find_judge(judges, chosen.get("judge")))
        n = draw_next(population, n=chosen["n"], how=chosen["how"], judges=judges, at=now())
    return Response({"drawn": n, "left": int(population.undrawn.sum()) - n}, status=201)


class TrustChoice(serializers.Serializer[Any]):
    """Which judge is examined, and whom it would stand in for."""

    criterion = serializers.CharField()
    judge = serializers.CharField(required=False, help_text="The first by name if left out.")
    people = serializers.ChoiceField(choices=list(EPSILONS), default="skilled")


@extend_schema(
    operation_id="studies_trust",
    description="A judge's threshold chosen on one half, human ceiling, alternative-annotator test and bias audits.",
    parameters=[TrustChoice],
    responses=OpenApiTypes.OBJECT,
)
@api_view(["GET"])
def trust(request: Request, name: str) -> Response:
    criterion = _criterion(request, name)
    choice = TrustChoice(data=request.query_params)
    choice.is_valid(raise_exception=True)
    chosen = choice.validated_data
    with refused_as_bad_request():
        found = examine_judge(
            criterion, paired_judges(criterion), judge=chosen.get("judge"), people_are=chosen["people"]
        )
    return Response(found.as_dict())


@extend_schema(
    operation_id="studies_agreement_details",
    description="Agreement by topic, topic attribute, batch, guideline version, grade and assessor; disputed items.",
    parameters=[CRITERION],
    responses=OpenApiTypes.OBJECT,
)
@api_view(["GET"])
def agreement_details(request: Request, name: str) -> Response:
    return Response(measure_breakdowns(_criterion(request, name)).as_dict())


@contextmanager
def refused_as_bad_request() -> Iterator[None]:
    """Answer 400 with the reason where a service refuses what was asked."""
    try:
        yield
    except (JudgeNotFound, SystemNotFound, NoPlan, TooFewItems, ItemsNotToBeDrawn) as refused:
        raise ValidationError(str(refused)) from refused


def _criterion(request: Request, name: str) -> Criterion:
    """Return the criterion that is asked for, of a study of this user's."""
    study = get_object_or_404(Study.objects.of(request.user), name=name)
    wanted = request.query_params.get("criterion")
    if not wanted:
        listed = ", ".join(study.criteria.values_list("name", flat=True))
        raise ValidationError({"criterion": [f"Name one of the study's criteria: {listed}."]})
    return get_object_or_404(study.criteria.select_related("study__collection", "scale"), name=wanted)


api_urlpatterns: list[URLPattern | URLResolver] = [
    path("studies/<slug:name>/agreement/", agreement, name="study_agreement"),
    path("studies/<slug:name>/comparison/", comparison, name="study_comparison"),
    path("studies/<slug:name>/agreement/details/", agreement_details, name="study_agreement_details"),
    path("studies/<slug:name>/calibration/", calibration, name="study_calibration"),
    path("studies/<slug:name>/calibration/plan/", label_plan, name="study_label_plan"),
    path("studies/<slug:name>/calibration/draw/", draw, name="study_draw"),
    path("studies/<slug:name>/trust/", trust, name="study_trust"),
    path("studies/<slug:name>/qrels/", qrels, name="study_qrels"),
    path("studies/<slug:name>/bundle/", bundle, name="study_bundle"),
    path("studies/<slug:name>/leaderboard/", leaderboard, name="study_leaderboard"),
]
