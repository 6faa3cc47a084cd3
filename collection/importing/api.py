"""Files into a collection by multipart POST."""

from __future__ import annotations

from dataclasses import asdict

from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path
from django.utils.timezone import now
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.exceptions import ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from collection.api_tools import checked, study_of, user_of
from collection.importing.background import outcome_of, try_waiting_again
from collection.importing.datasets.ir_dataset import FORMAT, Wanted, request_for
from collection.importing.raters import raters_of
from collection.importing.serializers import FilesImportedSerializer, FilesSerializer, UploadSerializer
from collection.importing.uploads import in_one, keep_upload
from collection.models import Collection, Rater, Upload


class CollectionFiles(APIView):
    """Import files into a collection."""

    parser_classes = [MultiPartParser]

    @extend_schema(
        request={"multipart/form-data": FilesSerializer},
        responses={200: FilesImportedSerializer, 201: FilesImportedSerializer, 202: UploadSerializer},
    )
    def post(self, request: Request, name: str) -> Response:
        """Import files, all or nothing; the same again changes nothing, with status 200.

        Instead of files, `ir_dataset` names datasets of the package ir_datasets, where that is installed. A worker
        imports these, several files, and large ones, with status 202: `uploads/<id>/` shows its progress. A file that
        names topics or passages which are nowhere is left out and says so.
        """
        collection = get_object_or_404(Collection.objects.of(user_of(request)), name=name)
        sent = checked(FilesSerializer(data=request.data))
        if sent["study"]:
            if not collection.studies.filter(name=sent["study"]).exists():
                raise ValidationError({"study": [f"The collection has no study “{sent['study']}”."]})
            study_of(request, sent["study"])
        raters = raters_of(sent["rater"], sent["judge"], unnamed_people=sent["people"])
        asked = {name: sent[name] for name in ("with_qrels", "with_passages")}
        wanted = Wanted(sent["ir_dataset"], **asked) if sent["ir_dataset"] else None
        chosen = {
            "file_format": FORMAT if wanted else "files",
            "study": sent["study"],
            "without_texts": sent["without_texts"],
            "said": {
                "relevant_from": sent["relevant_from"],
                "with_topics": sent["with_topics"],
                "seed": sent["seed"],
                "criterion": sent["criterion"],
                "irrelevant": dict(sent["irrelevant"]),
                "others": Rater.Kind.JUDGE if sent["judges"] or sent["people"] else "",
                "formats": dict(sent["format"]),
                "stray_grades": sent["stray_grades"],
                "raters": {file: asdict(rater) for file, rater in raters.items()},
                **({FORMAT: asdict(wanted)} if wanted else {}),
            },
        }
        upload = keep_upload(
            file=request_for(wanted) if wanted else in_one(sent["file"]),
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
