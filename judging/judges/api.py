"""Judges and ensembles in the API."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.utils.timezone import now
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from collection.api_tools import Refused, checked, conflict_on, invalid_on, pages_by, study_of, user_of
from collection.completeness import JudgesOfStudies, judges_of_studies
from collection.models import Criterion, Study
from collection.web.api_access import Researches
from judging.comparison.figures import criteria_to_compare
from judging.comparison.kept import kept_comparison, kept_pair
from judging.data.human_labels import NoSplit
from judging.data.marked_judges import marked_last
from judging.engines import EngineUnavailable
from judging.judges.combining import EnsembleDoesNotFit, NotAnEnsemble, combine
from judging.judges.ensembles import ensemble_of
from judging.judges.registry import BadJudge, make_judge
from judging.judges.serializers import (
    CombinationSerializer,
    CombineSerializer,
    DifferenceSerializer,
    JudgeFiguresSerializer,
    JudgeSerializer,
    NewEnsembleSerializer,
    NewJudgeSerializer,
)
from judging.models import Judge
from judging.prompts.criteria import judged_criterion_named
from judging.prompts.few_shot import NoExamples, check_scale, choose_examples, draw_examples
from judging.prompts.placeholders import BadTemplate
from judging.trial_runs.api import ErrandSerializer, told
from judging.trial_runs.engine_choice import criterion_to_try, seen_by
from judging.trial_runs.errands import ask_for_probe, ask_for_trial
from judging.trial_runs.serializers import SeenSerializer, TrySerializer


class JudgeViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Judge]):
    """Judges, which researchers share. They never change."""

    serializer_class = JudgeSerializer
    permission_classes = [Researches]
    pagination_class = pages_by("place", "-id")  # the newest first, unfinished and failing ones last
    lookup_field = "name"
    queryset = Judge.objects.select_related("rater", "template", "scale", "examples_from").prefetch_related(
        "members__judge", "members__rater"
    )

    @cached_property
    def completeness(self) -> JudgesOfStudies:
        """How complete judges are in the studies of who asks."""
        return judges_of_studies(Study.objects.read_by(user_of(self.request)))

    def get_queryset(self) -> QuerySet[Judge]:
        judges = super().get_queryset()
        return marked_last(judges, self.completeness) if self.action == "list" else judges

    def get_serializer_context(self) -> dict[str, Any]:
        """Return what judges are told with: how complete they are."""
        context = dict(super().get_serializer_context())
        if not getattr(self, "swagger_fake_view", False):
            context["completeness"] = self.completeness
        return context

    @extend_schema(request=NewJudgeSerializer, responses={201: JudgeSerializer, 200: JudgeSerializer})
    def create(self, request: Request) -> Response:
        """Create a judge. An existing one with the same settings is returned, with status 200, whatever its name."""
        sent = checked(NewJudgeSerializer(data=request.data))
        asked = judged_criterion_named(sent["criterion_name"])
        assert asked is not None  # the serializer has seen it
        with invalid_on(BadJudge, NoSplit, NoExamples, field="non_field_errors"):
            if wished := sent.pop("examples", None):
                study = study_of(request, wished["study"])
                criteria = study.criteria.select_related("scale")
                criterion = get_object_or_404(criteria, name=asked.criterion_name, task_type=asked.task_type)
                check_scale(criterion, sent.setdefault("scale", criterion.scale))
                if "items" in wished:
                    sent["examples"] = choose_examples(criterion=criterion, items=wished["items"])
                else:
                    sent["examples"] = draw_examples(criterion=criterion, count=wished["count"], seed=wished["seed"])
            sent.setdefault("scale", asked.scale.stored())
            judge, new = make_judge(**sent, task_type=asked.task_type, by=user_of(request))
        return Response(self.get_serializer(judge).data, status=201 if new else 200)

    @extend_schema(request=NewEnsembleSerializer, responses={201: JudgeSerializer, 200: JudgeSerializer})
    @action(detail=False, methods=["post"])
    def ensembles(self, request: Request) -> Response:
        """Create an ensemble of judges, or of samples of one. An existing one is returned, with status 200."""
        sent = checked(NewEnsembleSerializer(data=request.data))
        studies = Study.objects.read_by(user_of(request))
        with invalid_on(BadJudge, field="non_field_errors"):
            judge, new = ensemble_of(sent.pop("members"), studies=studies, **sent, by=user_of(request))
        return Response(self.get_serializer(judge).data, status=201 if new else 200)

    @extend_schema(request=CombineSerializer, responses={200: CombinationSerializer})
    @action(detail=True, methods=["post"])
    def combine(self, request: Request, name: str) -> Response:  # noqa: ARG002
        """Combine the members' current judgments into an ensemble's. Running it again writes only changes."""
        sent = checked(CombineSerializer(data=request.data))
        study = study_of(request, sent["study"])
        criterion = get_object_or_404(study.criteria.select_related("study"), name=sent["criterion"])
        with invalid_on(NotAnEnsemble, EnsembleDoesNotFit, field="non_field_errors"):
            done = combine(ensemble=self.get_object(), criterion=criterion, by=user_of(request), at=now())
        return Response(CombinationSerializer(done).data)

    @extend_schema(
        parameters=[OpenApiParameter("study", str, required=True), OpenApiParameter("criterion", str, required=True)],
        responses=JudgeFiguresSerializer(many=True),
    )
    @action(detail=False, pagination_class=None)
    def comparison(self, request: Request) -> Response:
        """Compare all judges of a criterion with the human majority, on the development topics if there is a split."""
        study = study_of(request, request.query_params.get("study"))
        criterion = get_object_or_404(criteria_to_compare(study), name=request.query_params.get("criterion"))
        return Response(JudgeFiguresSerializer(kept_comparison(request, criterion).figures, many=True).data)

    @extend_schema(
        parameters=[
            OpenApiParameter("study", str, required=True),
            OpenApiParameter("criterion", str, required=True),
            OpenApiParameter("first", str, required=True, description="A judge."),
            OpenApiParameter("second", str, required=True, description="Another."),
        ],
        responses=DifferenceSerializer,
    )
    @action(detail=False, pagination_class=None)
    def difference(self, request: Request) -> Response:
        """Test whether one judge agrees with the human majority more often than another, on the same topics."""
        study = study_of(request, request.query_params.get("study"))
        criterion = get_object_or_404(criteria_to_compare(study), name=request.query_params.get("criterion"))
        fitting = Judge.objects.fitting(criterion)
        pair = [get_object_or_404(fitting, name=request.query_params.get(which)) for which in ("first", "second")]
        found = kept_pair(request, criterion, pair)["difference"]
        if found is None:
            raise Refused("No labelled item was judged by both judges.")
        return Response(DifferenceSerializer(found).data)

    @extend_schema(request=None, responses={202: ErrandSerializer})
    @action(detail=True, methods=["post"])
    def probe(self, request: Request, name: str) -> Response:  # noqa: ARG002
        """Have a worker probe the judge's servers. Get the result from `ask_again`."""
        judge = self.get_object()
        if judge.engine != Judge.Engine.OPENAI:
            raise Refused(f"“{judge}” does not use a server: there is nothing to probe.")
        with conflict_on(EngineUnavailable):
            return told(ask_for_probe(judge, by=user_of(request), at=now()))

    @extend_schema(
        parameters=[
            OpenApiParameter("study", str, required=True),
            OpenApiParameter("item", str, description="Its item_id; the study's first if left out."),
        ],
        responses=SeenSerializer,
    )
    @action(detail=True)
    def preview(self, request: Request, name: str) -> Response:  # noqa: ARG002
        """Preview the judge's input for an item of a study of yours, whatever its engine."""
        judge, criterion = self._to_try(request, request.query_params.get("study"))
        with invalid_on(BadTemplate, field="item"):
            seen = seen_by(judge, criterion, item=request.query_params.get("item", ""))
        if seen is None:
            raise ValidationError({"item": "The study has no such item with a text."})
        return Response(SeenSerializer(seen).data)

    @extend_schema(request=TrySerializer, responses={202: ErrandSerializer})
    @action(detail=True, methods=["post"])
    def trial(self, request: Request, name: str) -> Response:  # noqa: ARG002
        """Have a worker run the judge on five items of a study, with the human grades; see `ask_again`."""
        sent = checked(TrySerializer(data=request.data))
        judge, criterion = self._to_try(request, sent["study"])
        with conflict_on(EngineUnavailable):
            return told(ask_for_trial(judge, criterion, seed=sent["seed"], by=user_of(request), at=now()))

    def _to_try(self, request: Request, study_name: str | None) -> tuple[Judge, Criterion]:
        """Return the judge with the criterion of the user's study that it fits; 400 if there is none."""
        judge = self.get_object()
        study = study_of(request, study_name)
        criterion = criterion_to_try(judge, study)
        if criterion is None or judge.engine == Judge.Engine.ENSEMBLE:
            raise ValidationError({"study": f"The study has no criterion that “{judge}” grades on its scale."})
        return judge, criterion
