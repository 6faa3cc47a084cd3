"""Seed questions in the API."""

from __future__ import annotations

from typing import Any

from django.urls import URLPattern, path
from django.utils.timezone import now
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from collection.api_tools import NumberField, WholeField, checked, user_of
from collection.web.api_access import Researches
from judging.building.api import collection_of
from judging.building.seeds.forms import SeedsForm
from judging.jobs.serializers import option_of


class SeedsSerializer(serializers.Serializer[Any]):
    """Whose grades choose the seeds, and how many of each category."""

    take = serializers.BooleanField(default=False, help_text="Take them; without it, only say which they would be.")

    def get_fields(self) -> dict[str, Any]:
        return super().get_fields() | {name: option_of(field) for name, field in SeedsForm.base_fields.items()}


class SeedSerializer(serializers.Serializer[Any]):
    """A question with the mean of its grades."""

    topic_id = serializers.CharField(source="topic.topic_id")
    request = serializers.CharField(source="topic.request")
    grade = NumberField()
    n = WholeField(help_text="How many grades.")


class SeedsOfCategorySerializer(serializers.Serializer[Any]):
    """A category's seed questions, the best first, and how many others there are."""

    category = serializers.CharField(source="name")
    wanted = WholeField()
    chosen = SeedSerializer(many=True)
    behind = SeedSerializer(many=True, help_text="They fit, but come behind those chosen.")
    unfit = WholeField(help_text="Questions whose mean is below the threshold.")
    ungraded = WholeField(help_text="Questions without a grade.")


class Seeds(APIView):
    """The seed questions of a collection."""

    permission_classes = [Researches]

    @extend_schema(request=SeedsSerializer, responses=SeedsOfCategorySerializer(many=True))
    def post(self, request: Request, name: str) -> Response:
        """Say which questions of each category fit best, and take them as seeds where that is asked for."""
        collection = collection_of(request, name)
        sent = checked(SeedsSerializer(data=request.data))
        given = {key: sent[key] for key in SeedsForm.base_fields if sent.get(key) is not None}
        form = SeedsForm(given | {"others": "\n".join(given.get("others", ()))}, collection=collection)
        if not form.is_valid():
            raise serializers.ValidationError({key: [str(one) for one in said] for key, said in form.errors.items()})
        if sent["take"]:
            form.take(by=user_of(request), at=now())
        return Response(SeedsOfCategorySerializer(form.found, many=True).data)


seeds_urlpatterns: list[URLPattern] = [path("collections/<slug:name>/seeds/", Seeds.as_view(), name="seeds")]
