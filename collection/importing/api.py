"""Files into a collection by multipart POST."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path
from django.utils.timezone import now
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from collection.api_tools import checked, user_of
from collection.importing.background import outcome_of, try_waiting_again
from collection.importing.files import rater_of_file, raters_of
from collection.importing.uploads import in_one, keep_upload
from collection.models import Collection, Upload
from collection.serializers import UploadSerializer


class RaterOfFileField(serializers.CharField):
    """“FILE=NAME”."""

    def to_internal_value(self, data: Any) -> Any:
        try:
            return rater_of_file(super().to_internal_value(data))
        except ValueError as error:
            raise serializers.ValidationError(str(error)) from error


class FilesSerializer(serializers.Serializer[Any]):
    """Files in any order, each recognised by its content, and what they do not say themselves."""

    file = serializers.ListField(child=serializers.FileField(), allow_empty=False, max_length=200)
    study = serializers.CharField(required=False, default="", help_text="The study that judgments go into.")
    rater = serializers.ListField(
        child=RaterOfFileField(),
        required=False,
        default=list,
        help_text="FILE=NAME: the people who judged these qrels.",
    )
    judge = serializers.ListField(
        child=RaterOfFileField(), required=False, default=list, help_text="FILE=NAME: the LLM judge of these qrels."
    )
    relevant_from = serializers.FloatField(required=False, allow_null=True, default=None, help_text="η of the qrels.")
    with_topics = serializers.BooleanField(default=False, help_text="Create missing topics with only an id.")
    without_texts = serializers.BooleanField(default=False, help_text="Create missing passages with only an id.")


class FilesImportedSerializer(serializers.Serializer[Any]):
    """What came in: rows of name, new, known; each file with its format and why it waits."""

    counts = serializers.ListField(child=serializers.ListField())
    remarks = serializers.ListField(child=serializers.CharField())
    flaws = serializers.ListField(child=serializers.CharField())
    details = serializers.DictField()


class CollectionFiles(APIView):
    """Import files into a collection."""

    parser_classes = [MultiPartParser]

    @extend_schema(
        request={"multipart/form-data": FilesSerializer},
        responses={200: FilesImportedSerializer, 201: FilesImportedSerializer, 202: UploadSerializer},
    )
    def post(self, request: Request, name: str) -> Response:
        """Import files, all or nothing; the same again changes nothing, with status 200.

        A worker imports several files, and large ones, with status 202: `uploads/<id>/` shows its progress. A file that
        names topics or passages which are nowhere is left out and says so.
        """
        collection = get_object_or_404(Collection.objects.of(user_of(request)), name=name)
        sent = checked(FilesSerializer(data=request.data))
        if sent["study"] and not collection.studies.filter(name=sent["study"]).exists():
            raise ValidationError({"study": [f"The collection has no study “{sent['study']}”."]})
        raters = raters_of(sent["rater"], sent["judge"])
        chosen = {
            "file_format": "files",
            "study": sent["study"],
            "without_texts": sent["without_texts"],
            "said": {
                "relevant_from": sent["relevant_from"],
                "with_topics": sent["with_topics"],
                "raters": {file: asdict(rater) for file, rater in raters.items()},
            },
        }
        upload = keep_upload(
            file=in_one(sent["file"]),
            collection=collection,
            by=user_of(request),
            chosen=chosen,
            at=now(),
            ask=Upload.State.IMPORTING,
        )
        if upload.is_at_work:
            return Response(UploadSerializer(upload).data, status=status.HTTP_202_ACCEPTED)
        return imported_now(upload)


def imported_now(upload: Upload) -> Response:
    """Import a small file while its sender waits."""
    outcome = outcome_of(upload, really=True, at=now())
    upload.delete()
    if outcome.problems:
        raise ValidationError({"file": [str(problem) for problem in outcome.problems]})
    if outcome.changed:
        try_waiting_again(upload.collection, at=now())
    row = FilesImportedSerializer(
        {name: getattr(outcome, name) for name in ("counts", "remarks", "flaws", "details")}
    ).data
    return Response(row, status=status.HTTP_201_CREATED if outcome.changed else status.HTTP_200_OK)


files_urlpatterns: list[URLPattern] = [
    path("collections/<slug:name>/files/", CollectionFiles.as_view(), name="files"),
]
