"""This app's part of /api/v1/: the same services as its pages."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, URLResolver
from django.utils.timezone import now
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from annotate.assignments.assignments import Unfinished, return_assignment, reveal_passages, submit_assignment
from annotate.assignments.errors import AssignmentReturned, NotAsked, StudyClosed
from annotate.assignments.task_page import screen_of
from annotate.crowd.api import crowd_api_urlpatterns
from annotate.frames.checks import FrameRefused
from annotate.models import Assignment, AssignmentItem, Enrolment
from annotate.prolific.api import prolific_api_urlpatterns
from annotate.quality.api import api_urlpatterns as quality_api_urlpatterns
from annotate.serializers import (
    AssignmentSerializer,
    ChoiceSerializer,
    CopySerializer,
    CriterionSerializer,
    EditSerializer,
    EnrolmentSerializer,
    GuidelinesVersionSerializer,
    NewAccountSerializer,
    NewEnrolmentsSerializer,
    NewGuidelinesSerializer,
    NewStudySerializer,
    NewThresholdSerializer,
    OpenedSerializer,
    ProgressSerializer,
    SavedChoiceSerializer,
    SkipSerializer,
    StudySerializer,
)
from annotate.studies.assessor_accounts import NotYourPeople, enrol_by_name, people_by_name
from annotate.studies.edits import OverlapLowered, copy_study, edit_study
from annotate.studies.frames import change_frame
from annotate.studies.lifecycle import (
    NameTaken,
    NotEmpty,
    WrongState,
    close_study,
    close_when_done,
    delete_draft,
    make_study,
    open_study,
    pause_study,
    remove_person,
    reopen_study,
    revise_guidelines,
)
from annotate.studies.progress import progress_of
from annotate.task_types import NothingToJudge
from annotate.work.later import SkippedForGood, TooManySetAside, set_aside, undo_skip
from annotate.work.next_work import next_work
from annotate.work.pace import SkipReason, skip_assignment
from annotate.work.saving import SavedChoice, save_choice
from annotate.workshop.api import workshop_api_urlpatterns
from collection.api_tools import Refused, checked, conflict_on, invalid_on, pages_by, user_of
from collection.judgments.services import NOTHING_WRITTEN, GradeNotOnScale, HighlightDoesNotFit, Span, Written
from collection.models import Criterion, Study, User
from collection.thresholds import NoSuchThreshold, ThresholdLocked, change_threshold

TEXTS = ("item__report", "item__passage", "item__answer_to_revise")


# --- The researcher's side ----------------------------------------------------------------------


class StudyViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Study]):
    """Studies on your collections."""

    serializer_class = StudySerializer
    pagination_class = pages_by("-created_at")
    lookup_field = "name"
    queryset = Study.objects.none()

    def get_queryset(self) -> QuerySet[Study]:
        if not self.request.user.is_authenticated:
            return Study.objects.none()
        return (
            Study.objects.of(self.request.user)
            .select_related("collection")
            .prefetch_related("criteria__scale", "criteria__threshold_changes__changed_by")
        )

    @extend_schema(request=NewStudySerializer, responses={201: StudySerializer})
    def create(self, request: Request) -> Response:
        """Create a draft. `assessors` are people of your studies; the study's enrolments create accounts."""
        if not user_of(request).is_researcher:
            raise PermissionDenied("Only researchers can create studies.")
        sent = checked(NewStudySerializer(data=request.data, context={"request": request}))
        usernames = sent["assessors"]
        known = people_by_name(usernames, by=user_of(request))
        if unknown := set(usernames) - known.keys():
            raise ValidationError({"assessors": str(NotYourPeople(sorted(unknown)))})
        with invalid_on(FrameRefused, field="frame"):
            study = make_study(sent["study"], assessors=known.values(), by=user_of(request), at=now())
        return Response(StudySerializer(study).data, status=status.HTTP_201_CREATED)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, name: str) -> Response:  # noqa: ARG002
        """Delete a draft without labels. 409 for any other study."""
        with conflict_on(WrongState, NotEmpty):
            delete_draft(study=self.get_object())
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(request=EditSerializer, responses=StudySerializer)
    def partial_update(self, request: Request, name: str) -> Response:  # noqa: ARG002
        """Change title, overlap, quota, batch size, time-out, frame. Once opened, overlap and frame only grow."""
        study = self.get_object()
        sent = checked(EditSerializer(data=request.data))
        frame = sent.pop("frame", None)
        overlap, framed = invalid_on(OverlapLowered, field="overlap"), invalid_on(FrameRefused, field="frame")
        with conflict_on(WrongState), overlap, framed, transaction.atomic():
            if frame is not None:
                change_frame(study=study, frame=frame)
            edit_study(study=study, at=now(), **sent)
        return Response(StudySerializer(self.get_object()).data)

    @extend_schema(request=CopySerializer, responses={201: StudySerializer})
    @action(detail=True, methods=["post"])
    def copy(self, request: Request, name: str) -> Response:  # noqa: ARG002
        """Create a draft with this study's design, criteria and guidelines; without its people and labels."""
        study = self.get_object()
        sent = checked(CopySerializer(data=request.data))
        with invalid_on(NameTaken, field="name"):
            copy = copy_study(study=study, by=user_of(request), **sent)
        return Response(StudySerializer(copy).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=None, responses=OpenedSerializer)
    @action(detail=True, methods=["post"])
    def open(self, request: Request, name: str) -> Response:  # noqa: ARG002
        """Open a draft or a paused study; an open one gets tasks for texts imported since."""
        return self.opened(open_study)

    @extend_schema(request=None, responses=OpenedSerializer)
    @action(detail=True, methods=["post"])
    def reopen(self, request: Request, name: str) -> Response:  # noqa: ARG002
        """Reopen a closed study."""
        return self.opened(reopen_study)

    @extend_schema(request=None, responses=StudySerializer)
    @action(detail=True, methods=["post"])
    def pause(self, request: Request, name: str) -> Response:  # noqa: ARG002
        """Pause: give out no work for now."""
        return self.moved(lambda study: pause_study(study=study))

    @extend_schema(request=None, responses=StudySerializer)
    @action(detail=True, methods=["post"])
    def close(self, request: Request, name: str) -> Response:  # noqa: ARG002
        """Close the study, which ends the sessions of people at work."""
        return self.moved(lambda study: close_study(study=study, at=now()))

    @extend_schema(request=None, responses=StudySerializer)
    @action(detail=True, methods=["post"])
    def finish(self, request: Request, name: str) -> Response:  # noqa: ARG002
        """Pause the study, and close it as soon as nobody works in it any more. Opening it cancels that."""
        return self.moved(lambda study: close_when_done(study=study, by=user_of(request), at=now()))

    def opened(self, move: Any) -> Response:
        study = self.get_object()
        with conflict_on(WrongState, NothingToJudge):
            new_tasks = move(study=study, at=now())
        return Response(OpenedSerializer({"state": study.state, "new_tasks": new_tasks}).data)

    def moved(self, move: Any) -> Response:
        study = self.get_object()
        with conflict_on(WrongState):
            move(study)
        return Response(StudySerializer(study).data)

    @extend_schema(responses=ProgressSerializer)
    @action(detail=True)
    def progress(self, request: Request, name: str) -> Response:  # noqa: ARG002
        """Progress by task type and by assessor."""
        return Response(ProgressSerializer(progress_of(self.get_object())).data)

    @extend_schema(request=NewGuidelinesSerializer, responses=GuidelinesVersionSerializer)
    @action(detail=True, methods=["post"])
    def guidelines(self, request: Request, name: str) -> Response:  # noqa: ARG002
        """Activate new guidelines."""
        sent = checked(NewGuidelinesSerializer(data=request.data))
        version = revise_guidelines(study=self.get_object(), markdown=sent["markdown"], by=user_of(request))
        return Response(GuidelinesVersionSerializer(version).data)

    @extend_schema(
        request=NewThresholdSerializer,
        parameters=[OpenApiParameter("criterion", str, OpenApiParameter.PATH)],
        responses=CriterionSerializer,
    )
    @action(detail=True, methods=["post"], url_path="criteria/(?P<criterion>[-a-zA-Z0-9_]+)/threshold")
    def threshold(self, request: Request, name: str, criterion: str) -> Response:  # noqa: ARG002
        """Change a criterion's threshold η. 409 once somebody has unlocked a judge's figures on the held-out topics."""
        found = get_object_or_404(self.get_object().criteria, name=criterion)
        sent = checked(NewThresholdSerializer(data=request.data))
        with invalid_on(NoSuchThreshold, field="threshold"), conflict_on(ThresholdLocked):
            change_threshold(criterion=found, threshold=sent["threshold"], by=user_of(request), at=now())
        return Response(CriterionSerializer(Criterion.objects.select_related("scale").get(pk=found.pk)).data)

    @extend_schema(responses=EnrolmentSerializer(many=True))
    @action(detail=True, pagination_class=None, filter_backends=[])
    def enrolments(self, request: Request, name: str) -> Response:  # noqa: ARG002
        """Everybody who is or was in the study."""
        enrolments = Enrolment.objects.filter(study=self.get_object()).select_related("user").order_by("user__username")
        return Response(EnrolmentSerializer(enrolments, many=True).data)

    @extend_schema(request=NewEnrolmentsSerializer, responses={201: NewAccountSerializer(many=True)})
    @enrolments.mapping.post
    def enrol(self, request: Request, name: str) -> Response:  # noqa: ARG002
        """Add people. Returns the accounts created, each with its password, only this once."""
        sent = checked(NewEnrolmentsSerializer(data=request.data))
        study = self.get_object()
        with invalid_on(NotYourPeople, field="usernames"):
            accounts = enrol_by_name(study=study, usernames=sent["usernames"], by=user_of(request), at=now())
        return Response(NewAccountSerializer(accounts, many=True).data, status=status.HTTP_201_CREATED)

    @extend_schema(parameters=[OpenApiParameter("username", str, OpenApiParameter.PATH)], responses={204: None})
    @action(detail=True, methods=["delete"], url_path="enrolments/(?P<username>[^/]+)", url_name="enrolment")
    def unenrol(self, request: Request, name: str, username: str) -> Response:  # noqa: ARG002
        """Remove a person; their open task is returned."""
        study = self.get_object()
        user = get_object_or_404(User, username=username, enrolments__study=study)
        remove_person(study=study, user=user, at=now())
        return Response(status=status.HTTP_204_NO_CONTENT)


# --- The assessor's side ------------------------------------------------------------------------


class WorkViewSet(viewsets.GenericViewSet[Assignment]):
    """Your own assignments: get the next, answer its questions, submit it."""

    serializer_class = AssignmentSerializer
    queryset = Assignment.objects.none()
    lookup_value_regex = "[0-9]+"

    def get_queryset(self) -> QuerySet[Assignment]:
        if not self.request.user.is_authenticated:
            return Assignment.objects.none()
        return Assignment.objects.of(self.request.user).select_related(
            "rater", "task__study", "task__topic", "task__report", "task__passage"
        )

    @extend_schema(
        request=None,
        parameters=[OpenApiParameter("study", str, OpenApiParameter.PATH)],
        responses={200: AssignmentSerializer, 204: None},
    )
    @action(detail=False, methods=["post"], url_path="next/(?P<study>[-a-zA-Z0-9_]+)")
    def next(self, request: Request, study: str) -> Response:
        """Get your open assignment, or the next one of this study. 204: none is left."""
        enrolled = Study.objects.filter(enrolments__user=user_of(request), enrolments__left_at=None)
        found = get_object_or_404(enrolled, name=study)
        following = next_work(study=found, user=user_of(request), at=now())
        if following.gate:
            raise Refused(f"Before you work, open {request.build_absolute_uri(following.gate)} in a browser.")
        if following.assignment is None:
            return Response(status=status.HTTP_204_NO_CONTENT)
        return Response(self.serialized(self.get_queryset().get(pk=following.assignment.pk)))

    def retrieve(self, request: Request, pk: int) -> Response:  # noqa: ARG002
        """Get an assignment with its text, its questions and your answers so far."""
        return Response(self.serialized(self.get_object()))

    @extend_schema(request=ChoiceSerializer, responses=SavedChoiceSerializer)
    @action(detail=True, methods=["post"])
    def choices(self, request: Request, pk: int) -> Response:
        """Save one choice. Grade null clears the answer."""
        sent = checked(ChoiceSerializer(data=request.data))
        rows = AssignmentItem.objects.filter(assignment__in=self.get_queryset())
        rows = rows.select_related("assignment__task__study", "assignment__rater", *TEXTS)
        asked = get_object_or_404(rows, assignment=pk, item=sent["item"])
        criterion = get_object_or_404(Criterion.objects.select_related("scale"), pk=sent["criterion"])
        return Response(SavedChoiceSerializer(self.saved(asked, criterion, sent)).data)

    def saved(self, asked: AssignmentItem, criterion: Criterion, sent: dict[str, Any]) -> SavedChoice:
        with conflict_on(StudyClosed, AssignmentReturned), invalid_on(NotAsked, GradeNotOnScale, HighlightDoesNotFit):
            return save_choice(
                assignment=asked.assignment,
                item=asked.item,
                criterion=criterion,
                grade=sent["grade"],
                spans=[Span(**span) for span in sent["spans"]],
                seconds=sent["seconds"],
                written=written_of(sent),
                guidelines=sent["guidelines_version"],
                unsure=sent["unsure"],
                at=now(),
            )

    @extend_schema(request=None, responses={204: None})
    @action(detail=True, methods=["post"])
    def reveal(self, request: Request, pk: int) -> Response:  # noqa: ARG002
        """End the first step of an evaluation of answers: its answers are locked, and the passages are shown."""
        with conflict_on(Unfinished, StudyClosed, AssignmentReturned, NotAsked):
            reveal_passages(assignment=self.get_object(), at=now())
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(request=None, responses={204: None})
    @action(detail=True, methods=["post"])
    def submit(self, request: Request, pk: int) -> Response:  # noqa: ARG002
        """Submit the assignment."""
        with conflict_on(Unfinished, StudyClosed, AssignmentReturned):
            submit_assignment(assignment=self.get_object(), at=now())
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(request=None, responses={204: None})
    @action(detail=True, methods=["post"], url_path="return", url_name="return")
    def give_back(self, request: Request, pk: int) -> Response:  # noqa: ARG002
        """Return the assignment, so that somebody else can do it."""
        assignment = self.get_object()
        returned = return_assignment(assignment=assignment, at=now())
        if not returned and self.get_object().state == Assignment.State.SUBMITTED:
            raise Refused("It is submitted: its answers count and cannot be withdrawn.")
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(request=None, responses={204: None})
    @action(detail=True, methods=["post"])
    def later(self, request: Request, pk: int) -> Response:  # noqa: ARG002
        """Set the assignment aside: it keeps its place and its answers, and others come first."""
        with conflict_on(TooManySetAside, StudyClosed, AssignmentReturned):
            set_aside(assignment=self.get_object(), at=now())
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(request=SkipSerializer, responses={204: None})
    @action(detail=True, methods=["post"])
    def skip(self, request: Request, pk: int) -> Response:  # noqa: ARG002
        """Pass the assignment on, with a reason that reaches the researcher."""
        assignment = self.get_object()
        sent = checked(SkipSerializer(data=request.data))
        skip_assignment(assignment=assignment, reason=SkipReason(sent["reason"]), words=sent["words"], at=now())
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(request=None, responses={204: None})
    @skip.mapping.delete
    def undo_skip(self, request: Request, pk: int) -> Response:  # noqa: ARG002
        """Take the skipped assignment back with its answers, while a place of it is free. 409: it is not."""
        with conflict_on(SkippedForGood):
            undo_skip(assignment=self.get_object(), at=now())
        return Response(status=status.HTTP_204_NO_CONTENT)

    def serialized(self, assignment: Assignment) -> Any:
        return AssignmentSerializer(screen_of(assignment)).data


def written_of(sent: dict[str, Any]) -> Written:
    answer = sent.get("answer")
    return Written(answer["text"], tuple(answer["confirmations"])) if answer else NOTHING_WRITTEN


router = SimpleRouter()
router.register("studies", StudyViewSet, basename="study")
router.register("assignments", WorkViewSet, basename="assignment")

api_urlpatterns: list[URLPattern | URLResolver] = [
    *crowd_api_urlpatterns,
    *prolific_api_urlpatterns,
    *quality_api_urlpatterns,
    *workshop_api_urlpatterns,
    *router.urls,
]
