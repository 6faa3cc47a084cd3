"""Sharing collections in the API."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, URLResolver, path
from django.utils.timezone import now
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from collection.api_tools import checked, invalid_on, user_of
from collection.collections.sharing import (
    InAlready,
    NoInvitation,
    accept_collection,
    decline_collection,
    invite_researcher,
    withdraw_invitation,
)
from collection.models import Collection, CollectionInvitation


class InvitationSerializer(serializers.ModelSerializer[CollectionInvitation]):
    """An invitation to a collection by username; no response reveals whether the username exists."""

    collection = serializers.SlugRelatedField[Any](slug_field="name", read_only=True)
    invited_by = serializers.SlugRelatedField[Any](slug_field="username", read_only=True)
    ends_at = serializers.DateTimeField(read_only=True)

    class Meta:
        model = CollectionInvitation
        fields = ["id", "collection", "username", "invited_by", "invited_at", "ends_at"]
        read_only_fields = ["invited_at"]


class CollectionInvitations(generics.ListCreateAPIView[CollectionInvitation]):
    """Open invitations to your collection. Declining is not shown."""

    serializer_class = InvitationSerializer
    pagination_class = None
    queryset = CollectionInvitation.objects.none()

    @property
    def collection(self) -> Collection:
        return get_object_or_404(
            Collection.objects.of(self.request.user).select_related("owner"), name=self.kwargs["name"]
        )

    def get_queryset(self) -> QuerySet[CollectionInvitation]:
        return self.collection.invitations.pending(at=now()).select_related("collection", "invited_by")

    def create(self, request: Request, name: str) -> Response:  # noqa: ARG002
        """Invite a researcher to the collection by username."""
        collection = self.collection
        username = checked(InvitationSerializer(data=request.data))["username"]
        with invalid_on(InAlready, field="username"):
            invited = invite_researcher(collection=collection, username=username, by=user_of(request), at=now())
        return Response(InvitationSerializer(invited).data, status=status.HTTP_201_CREATED)


class CollectionInvitationDetail(APIView):
    """An open invitation."""

    @extend_schema(responses={204: None})
    def delete(self, request: Request, name: str, pk: int) -> Response:
        """Withdraw an invitation."""
        collection = get_object_or_404(Collection.objects.of(request.user), name=name)
        try:
            withdraw_invitation(collection=collection, pk=pk)
        except NoInvitation as gone:
            raise Http404 from gone
        return Response(status=status.HTTP_204_NO_CONTENT)


class MyInvitations(generics.ListAPIView[CollectionInvitation]):
    """Invitations to collections that you have received."""

    serializer_class = InvitationSerializer
    pagination_class = None
    queryset = CollectionInvitation.objects.none()

    def get_queryset(self) -> QuerySet[CollectionInvitation]:
        mine = CollectionInvitation.objects.to(self.request.user, at=now())
        return mine.select_related("collection", "invited_by")


class InvitationAnswer(APIView):
    """Your reply to an invitation."""

    @extend_schema(request=None, responses={204: None})
    def post(self, request: Request, pk: int, answer: str) -> Response:
        """Accept an invitation (`accept`), or decline it (`decline`); declining is not shown to the sender."""
        answers = {"accept": accept_collection, "decline": decline_collection}
        try:
            answers[answer](pk=pk, by=user_of(request), at=now())
        except (KeyError, NoInvitation) as gone:
            raise Http404 from gone
        return Response(status=status.HTTP_204_NO_CONTENT)


api_urlpatterns: list[URLPattern | URLResolver] = [
    path("collections/<slug:name>/invitations/", CollectionInvitations.as_view(), name="collection_invitations"),
    path(
        "collections/<slug:name>/invitations/<int:pk>/",
        CollectionInvitationDetail.as_view(),
        name="collection_invitation",
    ),
    path("invitations/", MyInvitations.as_view(), name="invitations"),
    path("invitations/<int:pk>/<slug:answer>/", InvitationAnswer.as_view(), name="invitation_answer"),
]
