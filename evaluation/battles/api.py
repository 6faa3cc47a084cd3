"""The next round of a study's battles."""

from __future__ import annotations

from django.utils.timezone import now
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from collection.api_tools import study_of
from collection.web.api import answers, chosen_by
from evaluation.battles.reports import RoundChoice


@extend_schema(
    operation_id="studies_battles_draw",
    description="Draw the pairs that people compare next, most likely where the order of two systems is open.",
    request=RoundChoice,
    responses=OpenApiTypes.OBJECT,
)
@answers("POST")
def draw(request: Request, name: str) -> Response:
    from evaluation.battles.rounds import draw_next_pairs

    made = draw_next_pairs(study_of(request, name), **chosen_by(request, RoundChoice), at=now())
    return Response({"drawn": made.drawn, "left": made.left}, status=201)
