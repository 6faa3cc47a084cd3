"""Researchers' own questions in the API."""

from __future__ import annotations

from typing import Any

from django.utils.timezone import now
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from collection.api_tools import checked, invalid_on, pages_by, user_of
from collection.models import Question
from collection.questions.documents import BadQuestion, make_question, reinstate_question, withdraw_question
from collection.web.api_access import Researches


class OwnQuestionSerializer(serializers.ModelSerializer[Question]):
    created_by = serializers.SlugRelatedField[Any](slug_field="username", read_only=True)

    class Meta:
        model = Question
        fields = ["name", "document", "created_by", "created_at", "withdrawn_at"]


class NewQuestionSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=50)
    document = serializers.DictField(help_text="What a question's file says, but its name: docs/task-types.md.")


class QuestionViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Question]):
    """Questions of researchers' own, which all of them share. They never change."""

    serializer_class = OwnQuestionSerializer
    permission_classes = [Researches]
    pagination_class = pages_by("name")
    lookup_field = "name"
    queryset = Question.objects.select_related("created_by")

    @extend_schema(request=NewQuestionSerializer, responses={201: OwnQuestionSerializer})
    def create(self, request: Request) -> Response:
        """Store a question that studies can ask and judges can grade at once."""
        sent = checked(NewQuestionSerializer(data=request.data))
        with invalid_on(BadQuestion, field="document"):
            made = make_question(**sent, by=user_of(request), at=now())
        return Response(OwnQuestionSerializer(made).data, status=201)

    @extend_schema(request=None, responses=OwnQuestionSerializer)
    @action(detail=True, methods=["post"])
    def withdraw(self, request: Request, name: str) -> Response:  # noqa: ARG002
        """Offer your question to new studies no more."""
        found = self._own(request)
        withdraw_question(found, at=now())
        return Response(OwnQuestionSerializer(found).data)

    @extend_schema(request=None, responses=OwnQuestionSerializer)
    @withdraw.mapping.delete
    def reinstate(self, request: Request, name: str) -> Response:  # noqa: ARG002
        """Offer your withdrawn question to new studies again."""
        found = self._own(request)
        reinstate_question(found)
        return Response(OwnQuestionSerializer(found).data)

    def _own(self, request: Request) -> Question:
        found = self.get_object()
        if found.created_by_id != user_of(request).pk:
            raise NotFound
        return found


router = SimpleRouter()
router.register("questions", QuestionViewSet, basename="questions")
questions_api_urlpatterns = router.urls
