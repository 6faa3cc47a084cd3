"""The part of /api/v1/ about known grades and comments."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path
from django.utils.timezone import now
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, serializers, status
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotate.models import GoldGrade
from annotate.quality.gold import mark_rows
from annotate.quality.inbox import NothingSaid, TooLong, comments_of
from annotate.quality.replies import reply_to
from annotate.sessions.at_work import at_work
from collection.api_tools import (
    NumberField,
    WholeField,
    checked,
    invalid_on,
    pages_by,
    study_of,
    study_to_set_up,
    user_of,
)
from collection.formats.problems import BrokenFile
from collection.models import Comment, CommentReply

MOST_AT_ONCE = 10_000


class GoldGradeSerializer(serializers.ModelSerializer[GoldGrade]):
    item_id = serializers.CharField(source="item.item_id", max_length=600)
    criterion = serializers.SlugField(source="criterion.name")
    purpose = serializers.ChoiceField(GoldGrade.Purpose.choices, default=GoldGrade.Purpose.GOLD)
    tolerance = NumberField(min_value=0, default=0)

    class Meta:
        model = GoldGrade
        fields = ["item_id", "criterion", "grade", "tolerance", "purpose", "explanation"]


class MarkedSerializer(serializers.Serializer[Any]):
    marked = WholeField(help_text="How many known grades were sent and are active.")
    in_sessions = WholeField(help_text="People at work in a session, who keep the training that they began with.")
    at_work = WholeField(help_text="People at work without one, who meet a new training with their next task.")


class GoldGradeList(generics.ListAPIView[GoldGrade]):
    """The known grades of a study, for training and as silent gold."""

    serializer_class = GoldGradeSerializer
    pagination_class = pages_by("pk")
    queryset = GoldGrade.objects.none()

    def get_queryset(self) -> QuerySet[GoldGrade]:
        study = study_to_set_up(self.request, self.kwargs["name"])
        return GoldGrade.objects.filter(item__study=study).select_related("item", "criterion")

    @extend_schema(request=GoldGradeSerializer(many=True), responses={201: MarkedSerializer})
    def post(self, request: Request, name: str) -> Response:
        """Mark items with their known grades, all or none; an existing one is replaced."""
        study = study_to_set_up(request, name)
        sent = checked(GoldGradeSerializer(data=request.data, many=True))
        if len(sent) > MOST_AT_ONCE:
            raise ValidationError(f"At most {MOST_AT_ONCE:,} at once.")
        rows = [(number, _as_row(row)) for number, row in enumerate(sent, start=1)]
        try:
            marked = mark_rows(study=study, rows=rows, name="the list", by=user_of(request), at=now())
        except BrokenFile as broken:
            raise ValidationError([str(problem) for problem in broken.problems]) from broken
        people = at_work(study, at=now())
        counts = {"marked": marked, "in_sessions": people.in_sessions, "at_work": people.without}
        return Response(counts, status=status.HTTP_201_CREATED)


def _as_row(sent: dict[str, Any]) -> dict[str, str | None]:
    return {
        "item_id": sent["item"]["item_id"],
        "criterion": sent["criterion"]["name"],
        "grade": str(sent["grade"]),
        "tolerance": str(sent["tolerance"]),
        "purpose": sent["purpose"],
        "explanation": sent.get("explanation", ""),
    }


class CommentReplySerializer(serializers.ModelSerializer[CommentReply]):
    author = serializers.CharField(source="author.username", default=None, read_only=True)

    class Meta:
        model = CommentReply
        fields = ["id", "author", "by_rater", "text", "made_at", "read_at"]
        read_only_fields = ["by_rater", "made_at", "read_at"]


class CommentSerializer(serializers.ModelSerializer[Comment]):
    item_id = serializers.CharField(source="item.item_id", default=None)
    rater = serializers.CharField(source="rater.name")
    replies = CommentReplySerializer(many=True)

    class Meta:
        model = Comment
        fields = ["id", "item_id", "rater", "text", "broken", "whole_task", "made_at", "handled_at", "replies"]


class CommentList(generics.ListAPIView[Comment]):
    """Assessors' comments on the items of a study, newest first."""

    serializer_class = CommentSerializer
    pagination_class = pages_by("-made_at", "-pk")
    queryset = Comment.objects.none()

    @extend_schema(parameters=[OpenApiParameter("broken", bool, description="Only on items reported as broken.")])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().get(request, *args, **kwargs)

    def get_queryset(self) -> QuerySet[Comment]:
        study = study_of(self.request, self.kwargs["name"])
        return comments_of(study, show="all", broken=self.request.query_params.get("broken") == "true")


class CommentReplies(APIView):
    """Replies to a comment."""

    @extend_schema(request=CommentReplySerializer, responses={201: CommentReplySerializer})
    def post(self, request: Request, name: str, pk: int) -> Response:
        """Reply to a comment, which is handled by that; its assessor sees the reply on *My work*."""
        comment = get_object_or_404(Comment.objects.filter(study=study_of(request, name)), pk=pk)
        sent = checked(CommentReplySerializer(data=request.data))
        with invalid_on(NothingSaid, TooLong, field="text"):
            reply = reply_to(comment=comment, by=user_of(request), text=sent["text"], at=now())
        return Response(CommentReplySerializer(reply).data, status=status.HTTP_201_CREATED)


api_urlpatterns: list[URLPattern] = [
    path("studies/<slug:name>/gold/", GoldGradeList.as_view(), name="gold-list"),
    path("studies/<slug:name>/comments/", CommentList.as_view(), name="comment-list"),
    path("studies/<slug:name>/comments/<int:pk>/replies/", CommentReplies.as_view(), name="comment-replies"),
]
