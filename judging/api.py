"""This app's part of /api/v1/: the same services as its pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, URLResolver
from django.utils.timezone import now
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import APIException, PermissionDenied, ValidationError
from rest_framework.pagination import CursorPagination
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.views import APIView

from collection.models import Criterion, Item, Study, User
from judging.grading import (
    AlreadyUnderWay,
    JudgeDoesNotFit,
    NothingToGrade,
    WrongState,
    cancel_job,
    grade_again,
    pause_job,
    resume_job,
    start_job,
)
from judging.judges import ASKED, BadJudge, make_judge, save_template
from judging.ledgers import ledger_of
from judging.models import GradingJob, Judge, PromptTemplate
from judging.offers import criterion_named
from judging.placeholders import BadTemplate
from judging.serializers import (
    AgainSerializer,
    JobSerializer,
    JudgeSerializer,
    LedgerSerializer,
    NewJobSerializer,
    NewJudgeSerializer,
    NewTemplateSerializer,
    ReplySerializer,
    TemplateSerializer,
)
from judging.template_files import TemplateText


class Refused(APIException):
    """The state of things does not allow it now."""

    status_code = status.HTTP_409_CONFLICT


class Researches(IsAuthenticated):
    """Judges are for researchers: what a judge thinks might sway an assessor."""

    message = "Only researchers work with judges."

    def has_permission(self, request: Request, view: APIView) -> bool:
        return super().has_permission(request, view) and user_of(request).is_researcher


class ById(CursorPagination):
    ordering = "-id"


class TemplateViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[PromptTemplate]):
    """Prompt templates, which researchers share. They never change."""

    serializer_class = TemplateSerializer
    permission_classes = [Researches]
    pagination_class = ById
    lookup_field = "content_hash"
    queryset = PromptTemplate.objects.all()

    @extend_schema(request=NewTemplateSerializer, responses={201: TemplateSerializer, 200: TemplateSerializer})
    def create(self, request: Request) -> Response:
        """Store a template. One that is stored already is found, with status 200."""
        sent = checked(NewTemplateSerializer(data=request.data))
        try:
            template, new = save_template(TemplateText(**sent), by=user_of(request))
        except BadTemplate as error:
            raise ValidationError({"text": str(error)}) from error
        return Response(TemplateSerializer(template).data, status=201 if new else 200)


class JudgeViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Judge]):
    """Judges, which researchers share. They never change."""

    serializer_class = JudgeSerializer
    permission_classes = [Researches]
    pagination_class = ById
    lookup_field = "name"
    queryset = Judge.objects.select_related("rater", "template", "scale")

    @extend_schema(request=NewJudgeSerializer, responses={201: JudgeSerializer, 200: JudgeSerializer})
    def create(self, request: Request) -> Response:
        """Make a judge. One with the same settings is found, with status 200, whatever its name."""
        sent = checked(NewJudgeSerializer(data=request.data))
        asked = next(asked for asked in ASKED if asked.criterion_name == sent["criterion_name"])
        sent.setdefault("scale", None)
        sent["scale"] = sent["scale"] or asked.scale.stored()
        try:
            judge, new = make_judge(**sent, task_type=asked.task_type, by=user_of(request))
        except BadJudge as error:
            raise ValidationError({"non_field_errors": str(error)}) from error
        return Response(JudgeSerializer(judge).data, status=201 if new else 200)


class JobViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[GradingJob]):
    """Grading jobs of the studies that you research."""

    serializer_class = JobSerializer
    permission_classes = [Researches]
    pagination_class = ById
    queryset = GradingJob.objects.none()

    def get_queryset(self) -> QuerySet[GradingJob]:
        if not self.request.user.is_authenticated:
            return GradingJob.objects.none()
        jobs = GradingJob.objects.of(self.request.user).select_related("study", "criterion", "judge__rater")
        study = self.request.query_params.get("study")
        return jobs.filter(study__name=study) if study else jobs

    @extend_schema(parameters=[OpenApiParameter("study", str, description="Only jobs of this study.")])
    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().list(request, *args, **kwargs)

    @extend_schema(request=NewJobSerializer, responses={201: JobSerializer})
    def create(self, request: Request) -> Response:
        """Start a job. A worker does it."""
        sent = checked(NewJobSerializer(data=request.data))
        study = get_object_or_404(Study.objects.of(user_of(request)), name=sent["study"])
        judge = Judge.objects.filter(name=sent["judge"]).first()
        if judge is None:
            raise ValidationError({"judge": f"There is no judge “{sent['judge']}”."})
        try:
            criterion = criterion_named(study, sent["criterion"])
            items = items_named(study, sent["items"]) if "items" in sent else None
            job = start_job(criterion=criterion, judge=judge, items=items, by=user_of(request), at=now())
        except Criterion.DoesNotExist:
            raise ValidationError({"criterion": f"The study has no criterion “{sent['criterion']}”."}) from None
        except JudgeDoesNotFit as error:
            raise ValidationError({"judge": str(error)}) from error
        except (NothingToGrade, AlreadyUnderWay) as error:
            raise Refused(str(error)) from error
        return Response(JobSerializer(job).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=None, responses=JobSerializer)
    @action(detail=True, methods=["post"])
    def pause(self, request: Request, pk: str) -> Response:  # noqa: ARG002
        """Begin no more pairs; replies that are under way are kept."""
        return self.moved(lambda job: pause_job(job=job))

    @extend_schema(request=None, responses=JobSerializer)
    @action(detail=True, methods=["post"])
    def resume(self, request: Request, pk: str) -> Response:  # noqa: ARG002
        """Go on with what is missing."""
        return self.moved(lambda job: resume_job(job=job, at=now()))

    @extend_schema(request=None, responses=JobSerializer)
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: str) -> Response:  # noqa: ARG002
        """Never begin another pair. What was graded stays."""
        return self.moved(lambda job: cancel_job(job=job, at=now()))

    @extend_schema(request=AgainSerializer, responses={201: JobSerializer})
    @action(detail=True, methods=["post"])
    def again(self, request: Request, pk: str) -> Response:  # noqa: ARG002
        """Grade what was left ungraded again, or only these kinds of it, in a job of its own."""
        kinds = checked(AgainSerializer(data=request.data))["kinds"]
        try:
            job = grade_again(job=self.get_object(), kinds=kinds, by=user_of(request), at=now())
        except (NothingToGrade, AlreadyUnderWay) as error:
            raise Refused(str(error)) from error
        return Response(JobSerializer(job).data, status=status.HTTP_201_CREATED)

    @extend_schema(responses=LedgerSerializer)
    @action(detail=True)
    def ledger(self, request: Request, pk: str) -> Response:  # noqa: ARG002
        """Tell what became of every pair."""
        ledger = ledger_of(self.get_object())
        by_grade = {f"{grade:g}": count for grade, count in ledger.graded.items()}
        return Response(
            {
                "total": ledger.total,
                "graded": by_grade,
                "ungraded": ledger.ungraded,
                "waiting": ledger.waiting,
                "skipped": ledger.skipped,
            }
        )

    @extend_schema(responses=ReplySerializer(many=True))
    @action(detail=True)
    def replies(self, request: Request, pk: str) -> Response:  # noqa: ARG002
        """Every reply as it came, newest first."""
        pages = ById()
        replies = pages.paginate_queryset(self.get_object().completions.select_related("item"), request, view=self)
        return pages.get_paginated_response(ReplySerializer(replies or [], many=True).data)

    def moved(self, move: Callable[[GradingJob], None]) -> Response:
        job = self.get_object()
        try:
            move(job)
        except WrongState as refusal:
            raise Refused(str(refusal)) from refusal
        return Response(JobSerializer(job).data)


def items_named(study: Study, names: list[str]) -> list[int]:
    """Return the keys of the study's items; answer 400 if one is unknown."""
    found = dict(Item.objects.filter(study=study, item_id__in=names).values_list("item_id", "pk"))
    if unknown := [name for name in names if name not in found]:
        raise ValidationError({"items": f"The study has no item “{unknown[0]}”."})
    return list(found.values())


def user_of(request: Request) -> User:
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user


def checked(serializer: Any) -> Any:
    """Return what was sent if it is valid; else answer 400."""
    serializer.is_valid(raise_exception=True)
    return serializer.validated_data


router = SimpleRouter()
router.register("judges", JudgeViewSet, basename="judge")
router.register("templates", TemplateViewSet, basename="template")
router.register("grading-jobs", JobViewSet, basename="grading_job")

api_urlpatterns: list[URLPattern | URLResolver] = [*router.urls]
