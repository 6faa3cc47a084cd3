"""What suggesting a judge's grades did to labels, for programs."""

from __future__ import annotations

from rest_framework.request import Request
from rest_framework.response import Response

from collection.api_tools import study_of
from evaluation.parameters.api import chosen_by, figures_of, shows
from evaluation.suggestions.serializers import EffectsChoice


@shows(
    "studies_suggestion_effects",
    "By arm of the study's suggestions: the shift towards the judge, time, agreement, and the leaderboard.",
    EffectsChoice,
)
def suggestion_effects(request: Request, name: str) -> Response:
    found = figures_of(request, "suggestion_effects", study_of(request, name), **chosen_by(request, EffectsChoice))
    return Response(found.as_dict())
