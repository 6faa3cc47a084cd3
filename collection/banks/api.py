"""Nugget banks in the API: their versions, the nuggets of one, and what changed between two."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from collection.api_tools import WholeField, user_of
from collection.banks.contents import banks_with_counts, version_numbered, versions_with_counts
from collection.banks.versions import changes_between
from collection.models import Collection, NuggetBank


class BankSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    newest = WholeField(help_text="The number of its newest version.")
    changed_at = serializers.DateTimeField()


class VersionSerializer(serializers.Serializer[Any]):
    number = WholeField()
    made_at = serializers.DateTimeField()
    note = serializers.CharField()
    nuggets = WholeField(source="nugget_count")
    topics = WholeField(source="topic_count")


class BankChangeSerializer(serializers.Serializer[Any]):
    change = serializers.CharField(help_text="added, dropped, reworded or reweighed")
    topic = serializers.CharField()
    before = serializers.CharField(allow_null=True)
    after = serializers.CharField(allow_null=True)
    details = serializers.ListField(child=serializers.CharField())


class BankList(APIView):
    """A collection's nugget banks."""

    @extend_schema(operation_id="collections_banks", responses=BankSerializer(many=True))
    def get(self, request: Request, name: str) -> Response:
        """The banks; `banks/<bank>/nuggets.jsonl` of the collection's pages downloads one."""
        collection = get_object_or_404(Collection.objects.of(user_of(request)), name=name)
        return Response(BankSerializer(banks_with_counts(collection), many=True).data)


class BankVersions(APIView):
    """The versions of a nugget bank."""

    @extend_schema(operation_id="collections_banks_versions", responses=VersionSerializer(many=True))
    def get(self, request: Request, name: str, bank: str) -> Response:
        """The versions, the newest first."""
        return Response(VersionSerializer(versions_with_counts(_bank(request, name, bank)), many=True).data)


class BankChanges(APIView):
    """What changed between two versions of a nugget bank."""

    @extend_schema(operation_id="collections_banks_changes", responses=BankChangeSerializer(many=True))
    def get(self, request: Request, name: str, bank: str, before: int, after: int) -> Response:
        """Nuggets that were added, dropped, reworded or reweighed."""
        versions = versions_with_counts(_bank(request, name, bank))
        one, other = (version_numbered(versions, str(number), None) for number in (before, after))
        if one is None or other is None:
            raise Http404
        return Response([change.as_dict() for change in changes_between(one, other)])


def _bank(request: Request, name: str, bank: str) -> NuggetBank:
    collection = get_object_or_404(Collection.objects.of(user_of(request)), name=name)
    return get_object_or_404(collection.nugget_banks, name=bank)


banks_urlpatterns: list[URLPattern] = [
    path("collections/<slug:name>/banks/", BankList.as_view(), name="banks"),
    path("collections/<slug:name>/banks/<slug:bank>/", BankVersions.as_view(), name="bank"),
    path(
        "collections/<slug:name>/banks/<slug:bank>/changes/<int:before>/<int:after>/",
        BankChanges.as_view(),
        name="bank_changes",
    ),
]
