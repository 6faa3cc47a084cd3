"""Judges examined one by one, and all of them side by side."""

from __future__ import annotations

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import parser_classes
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from collection.api_tools import checked, invalid_on, user_of
from collection.formats.problems import BrokenFile
from collection.models import Study
from collection.web.api import answers, chosen_by, criterion_of, shows
from evaluation.leaderboards.forms import MOST_MB
from evaluation.trust.overview import kept_trust_in_judges
from evaluation.trust.serializers import (
    JudgesChoice,
    SubmissionsChoice,
)


@shows("trust_in_judges", "Every judge compared with humans, in all studies of the user.", JudgesChoice)
def trust_in_judges(request: Request) -> Response:
    user = user_of(request)
    if not user.is_researcher:
        raise NotFound("Only researchers have studies.")
    return Response(kept_trust_in_judges(Study.objects.read_by(user), **chosen_by(request, JudgesChoice)).as_dict())


class SubmittedFiles(SubmissionsChoice):
    """Files of judges, one of each, called like it."""

    criterion = serializers.CharField(max_length=100, help_text="The criterion that the judges graded.")
    file = serializers.ListField(child=serializers.FileField(), allow_empty=False, max_length=50)


@extend_schema(
    operation_id="studies_submitted_judges",
    description=(
        "Judges’ qrels and evaluation files beside people: κ and α of their grades, τ_b and τ_AP of their order of "
        "systems, with intervals. The files are not kept."
    ),
    request={"multipart/form-data": SubmittedFiles},
    responses=OpenApiTypes.OBJECT,
)
@answers("POST")
@parser_classes([MultiPartParser])
def submitted_judges(request: Request, name: str) -> Response:
    from evaluation.trust.submitted.views import compared_files

    criterion = criterion_of(request, name)
    sent = dict(checked(SubmittedFiles(data=request.data)))
    if sum(file.size for file in sent["file"]) > MOST_MB * 1024**2:
        raise ValidationError({"file": [f"Files of more than {MOST_MB} MB are for the command submitted_judges."]})
    with invalid_on(BrokenFile, field="file"):
        return Response(compared_files(criterion, sent["file"], sent).as_dict())
