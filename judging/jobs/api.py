"""This app's part of /api/v1/: the same services as its pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db.models import QuerySet
from django.http.response import HttpResponseBase
from django.utils.timezone import now
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from collection.api_tools import Refused, checked, conflict_on, invalid_on, study_of, study_to_set_up, user_of
from collection.finished_files import file_response
from collection.formats.problems import BrokenFile, InputFile
from collection.importing.serializers import UploadSerializer
from collection.importing.uploads import keep_upload
from collection.models import Criterion, Item, Study, Upload
from collection.web.api_access import ById, Researches
from judging.data.selection import NoSuchPart
from judging.engines.token_quotas import QuotaSpent
from judging.grading.batch_files import NoBatch, read_replies, write_requests
from judging.grading.jobs import (
    AlreadyUnderWay,
    JudgeDoesNotFit,
    LimitReached,
    NothingToGrade,
    WrongState,
    cancel_job,
    grade_again,
    pause_job,
    resume_job,
    start_job,
)
from judging.grading.progress import counts_of_job
from judging.imported.uploads import replies_chosen
from judging.jobs.available_judges import criterion_named
from judging.jobs.estimate import estimate
from judging.jobs.serializers import (
    AgainSerializer,
    AnchorCheckSerializer,
    BatchFileSerializer,
    BatchReadSerializer,
    EstimateSerializer,
    JobCountsSerializer,
    JobSerializer,
    LimitsSerializer,
    NewJobSerializer,
    ReplySerializer,
)
from judging.models import GradingJob, Judge


class JobViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[GradingJob]):
    """Grading jobs of the studies that you research."""

    serializer_class = JobSerializer
    permission_classes = [Researches]
    pagination_class = ById
    queryset = GradingJob.objects.none()

    def get_queryset(self) -> QuerySet[GradingJob]:
        if not self.request.user.is_authenticated:
            return GradingJob.objects.none()
        jobs = GradingJob.objects.of(self.request.user).select_related(
            "study", "criterion", "judge__rater", "created_by", "build"
        )
        study = self.request.query_params.get("study")
        return jobs.filter(study__name=study) if study else jobs

    @extend_schema(parameters=[OpenApiParameter("study", str, description="Only jobs of this study.")])
    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().list(request, *args, **kwargs)

    @extend_schema(request=NewJobSerializer, responses={201: JobSerializer})
    def create(self, request: Request) -> Response:
        """Start a job. A worker grades, or a batch service if one is named."""
        wanted = NewJobSerializer(data=request.data)
        sent = checked(wanted)
        study, criterion, judge = self.chosen(request, sent)
        items = items_named(study, sent["items"]) if "items" in sent else None
        with fitting(), conflict_on(NothingToGrade, AlreadyUnderWay, QuotaSpent):
            job = start_job(
                criterion=criterion, judge=judge, items=items, selection=wanted.selection, terms=wanted.terms,
                away=sent["service"], by=user_of(request), at=now(),
            )  # fmt: skip
        return Response(JobSerializer(job).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=NewJobSerializer, responses=EstimateSerializer)
    @action(detail=False, methods=["post"])
    def estimate(self, request: Request) -> Response:
        """Estimate a job, and start nothing."""
        wanted = NewJobSerializer(data=request.data)
        sent = checked(wanted)
        _, criterion, judge = self.chosen(request, sent)
        with fitting():
            expected = estimate(
                criterion=criterion, judge=judge, selection=wanted.selection, price_in=sent.get("price_in"),
                price_out=sent.get("price_out"), by=user_of(request),
            )  # fmt: skip
        return Response(EstimateSerializer(expected).data)

    def read(self) -> GradingJob:
        """Return the job for what its judge said; refused to who assesses in the study."""
        job = self.get_object()
        study_of(self.request, job.study.name)
        return job

    def chosen(self, request: Request, sent: dict[str, Any]) -> tuple[Study, Criterion, Judge]:
        """Return what the request names; 404 for a study of somebody else."""
        study = study_to_set_up(request, sent["study"])
        judge = Judge.objects.filter(name=sent["judge"]).first()
        if judge is None:
            raise ValidationError({"judge": f"There is no judge “{sent['judge']}”."})
        try:
            return study, criterion_named(study, sent["criterion"]), judge
        except Criterion.DoesNotExist:
            raise ValidationError({"criterion": f"The study has no criterion “{sent['criterion']}”."}) from None

    @extend_schema(request=None, responses=JobSerializer)
    @action(detail=True, methods=["post"])
    def pause(self, request: Request, pk: str) -> Response:  # noqa: ARG002
        """Pause the job; replies in progress are kept."""
        return self.moved(lambda job: pause_job(job=job))

    @extend_schema(request=LimitsSerializer, responses=JobSerializer)
    @action(detail=True, methods=["post"])
    def resume(self, request: Request, pk: str) -> Response:  # noqa: ARG002
        """Resume the job, with new limits if they are sent.

        If the job is waiting after a check of the anchor items, this accepts the new model's grades.
        """
        sent = LimitsSerializer(data=request.data)
        checked(sent)
        terms = sent.terms if request.data else None
        return self.moved(lambda job: resume_job(job=job, terms=terms, by=user_of(request), at=now()))

    @extend_schema(request=None, responses=JobSerializer)
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: str) -> Response:  # noqa: ARG002
        """Cancel the job. Grades are kept."""
        return self.moved(lambda job: cancel_job(job=job, at=now()))

    @extend_schema(request=AgainSerializer, responses={201: JobSerializer})
    @action(detail=True, methods=["post"])
    def again(self, request: Request, pk: str) -> Response:  # noqa: ARG002
        """Grade ungraded pairs again, or only these kinds of them, in a new job."""
        kinds = checked(AgainSerializer(data=request.data))["kinds"]
        with conflict_on(NothingToGrade, AlreadyUnderWay, QuotaSpent):
            job = grade_again(job=self.get_object(), kinds=kinds, by=user_of(request), at=now())
        return Response(JobSerializer(job).data, status=status.HTTP_201_CREATED)

    @extend_schema(responses=JobCountsSerializer)
    @action(detail=True)
    def outcomes(self, request: Request, pk: str) -> Response:  # noqa: ARG002
        """Return the outcome of every pair."""
        counts = counts_of_job(self.read())
        by_grade = {f"{grade:g}": count for grade, count in counts.graded.items()}
        return Response(
            {
                "total": counts.total,
                "graded": by_grade,
                "ungraded": counts.ungraded,
                "waiting": counts.waiting,
                "skipped": counts.skipped,
            }
        )

    @extend_schema(responses=ReplySerializer(many=True))
    @action(detail=True)
    def replies(self, request: Request, pk: str) -> Response:  # noqa: ARG002
        """Raw replies, newest first."""
        pages = ById()
        replies = pages.paginate_queryset(self.read().completions.select_related("item"), request, view=self)
        return pages.get_paginated_response(ReplySerializer(replies or [], many=True).data)

    @extend_schema(responses=AnchorCheckSerializer(many=True))
    @action(detail=True, url_path="anchor-checks")
    def anchor_checks(self, request: Request, pk: str) -> Response:  # noqa: ARG002
        """Every check of the anchor items in this job, newest first: how far the judge's grades drifted."""
        rounds = self.read().anchor_checks.select_related("earlier_judge")
        return Response(AnchorCheckSerializer(rounds, many=True).data)

    @extend_schema(responses={(200, "application/jsonl"): OpenApiTypes.BINARY})
    @action(detail=True)
    def requests(self, request: Request, pk: str) -> HttpResponseBase:  # noqa: ARG002
        """The requests that a batch service's job still needs, one per line."""
        job = self.get_object()
        if job.state != GradingJob.State.AWAY:
            raise Refused(f"Job {job.pk} was not sent to a batch service.")
        lines = write_requests(job, service=job.selection["service"])
        return file_response(lines, content_type="application/jsonl")

    @extend_schema(
        request={"multipart/form-data": BatchFileSerializer},
        responses={200: BatchReadSerializer, 202: UploadSerializer},
    )
    @action(detail=True, methods=["post"], url_path="batch-replies", parser_classes=[MultiPartParser])
    def batch_replies(self, request: Request, pk: str) -> Response:  # noqa: ARG002
        """Read a batch service's output. The same file again changes nothing.

        A worker reads a large file, with status 202: `uploads/<id>/` shows its progress.
        """
        job = self.get_object()
        sent = checked(BatchFileSerializer(data=request.data))["file"]
        upload = keep_upload(
            file=sent,
            collection=job.criterion.study.collection,
            by=user_of(request),
            chosen=replies_chosen(job),
            at=now(),
            ask=Upload.State.IMPORTING,
        )
        if upload.is_at_work:
            return Response(UploadSerializer(upload).data, status=status.HTTP_202_ACCEPTED)
        try:
            said = read_replies(job=job, file=InputFile(upload.path, name=upload.name), at=now())
        except BrokenFile as error:
            raise ValidationError({"file": [str(problem) for problem in error.problems]}) from error
        except NoBatch as error:
            raise Refused(str(error)) from error
        finally:
            upload.delete()
        return Response(BatchReadSerializer(said).data)

    def moved(self, move: Callable[[GradingJob], None]) -> Response:
        job = self.get_object()
        with conflict_on(WrongState, LimitReached):
            move(job)
        return Response(JobSerializer(job).data)


@contextmanager
def fitting() -> Iterator[None]:
    """Answer 400 where the judge does not fit, or a part is chosen that is not there."""
    with invalid_on(JudgeDoesNotFit, field="judge"), invalid_on(NoSuchPart, field="selection"):
        yield


def items_named(study: Study, names: list[str]) -> list[int]:
    """Return the keys of the study's items; answer 400 if one is unknown."""
    found = dict(Item.objects.filter(study=study, item_id__in=names).values_list("item_id", "pk"))
    if unknown := [name for name in names if name not in found]:
        raise ValidationError({"items": f"The study has no item “{unknown[0]}”."})
    return list(found.values())
