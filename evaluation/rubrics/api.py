"""Masking rubric elements by grades, which passages are redundant, and what is wrong with a bank of questions."""

from __future__ import annotations

from django.utils.timezone import now
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from collection.api_tools import study_of, user_of
from collection.web.api import answers, chosen_by, figures_of, shows
from collection.web.cached_results import compute_now
from evaluation.rubrics.serializers import (
    GradedAnswerChoice,
    GradedPassageChoice,
    MaskingChoice,
    MaskingSent,
    OracleSent,
    RedundancyChoice,
)


@extend_schema(
    operation_id="studies_masking",
    methods=["GET"],
    description="Sub-questions that no passage answers, or key points that were not confirmed, by a source's grades.",
    parameters=[MaskingChoice],
    responses=OpenApiTypes.OBJECT,
)
@extend_schema(
    operation_id="studies_masking_apply",
    methods=["POST"],
    description="Mask unfulfilled elements. Undo this with the collection's maskings.",
    request=MaskingSent,
    responses=OpenApiTypes.OBJECT,
)
@answers("GET", "POST")
def masking(request: Request, name: str) -> Response:
    from evaluation.rubrics.masking import mask_unfulfilled  # it takes pandas

    study = study_of(request, name)
    if request.method == "GET":
        return Response(
            figures_of(request, "evaluation.computations:masking", study, **chosen_by(request, MaskingChoice)).as_dict()
        )
    chosen = chosen_by(request, MaskingSent)
    reason = chosen.pop("reason")
    found = compute_now("evaluation.computations:masking", study, **chosen)
    n = mask_unfulfilled(found, reason=reason, by=user_of(request), at=now())
    return Response(found.as_dict() | {"masked": n})


@extend_schema(
    operation_id="studies_redundancy",
    methods=["GET"],
    description="Required and redundant passages of each topic, as in CRUX, and as qrels of 3, 2 and 1.",
    parameters=[RedundancyChoice],
    responses=OpenApiTypes.OBJECT,
)
@extend_schema(
    operation_id="studies_redundancy_keep",
    methods=["POST"],
    description="Keep the required passages as a run: the oracle's contexts.",
    request=OracleSent,
    responses=OpenApiTypes.OBJECT,
)
@answers("GET", "POST")
def redundancy(request: Request, name: str) -> Response:
    study = study_of(request, name)
    if request.method == "GET":
        found = figures_of(request, "evaluation.computations:redundancy", study, **chosen_by(request, RedundancyChoice))
        return Response({**found.as_dict(), "qrels": found.qrels})
    from evaluation.rubrics.oracle import keep_oracle  # it takes pandas

    chosen = chosen_by(request, OracleSent)
    run = chosen.pop("name")
    kept = keep_oracle(
        compute_now("evaluation.computations:redundancy", study, **chosen), name=run, by=user_of(request), at=now()
    )
    return Response({"run": kept.name, **kept.attributes["oracle"]})


@shows("studies_graded_passage", "A passage’s questions by rater, with their reasons.", GradedPassageChoice)
def graded_passage(request: Request, name: str) -> Response:
    found = figures_of(
        request,
        "evaluation.computations:graded_passage",
        study_of(request, name),
        **chosen_by(request, GradedPassageChoice),
    )
    return Response(found.as_dict())


@shows("studies_graded_answer", "A run’s passages on a topic with the questions that each answers.", GradedAnswerChoice)
def graded_answer(request: Request, name: str) -> Response:
    found = figures_of(
        request,
        "evaluation.computations:graded_answer",
        study_of(request, name),
        **chosen_by(request, GradedAnswerChoice),
    )
    return Response(found.as_dict())
