"""Judges examined one by one, and all of them side by side."""

from __future__ import annotations

from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from collection.api_tools import study_of, user_of
from collection.models import Study
from evaluation.data.population import JudgeNotFound
from evaluation.parameters.api import CRITERION, chosen_by, criterion_of, figures_of, shows
from evaluation.trust.overview import kept_trust_in_judges
from evaluation.trust.serializers import EffectsChoice, JudgeComparisonChoice, JudgesChoice, TrustChoice


@shows(
    "studies_trust",
    "A judge’s threshold chosen on one half, human ceiling, alternative-annotator test and bias audits; if it graded "
    "texts’ elements and assessors the texts, `rolled_up` compares them.",
    CRITERION,
    TrustChoice,
)
def trust(request: Request, name: str) -> Response:
    criterion = criterion_of(request, name)
    chosen = chosen_by(request, TrustChoice)
    asked = {name: chosen[name] for name in ("judge", "against", "rule")}
    asked |= {"people_are": chosen["people"], "on_test": chosen["part"] == "test"}
    found = figures_of(request, "examination", criterion.study, criterion=criterion.pk, **asked)
    if not found.name:
        raise JudgeNotFound("No judge can be compared with humans under this criterion yet.")
    return Response(found.as_dict())


@shows("trust_in_judges", "Every judge compared with humans, in all studies of the user.", JudgesChoice)
def trust_in_judges(request: Request) -> Response:
    user = user_of(request)
    if not user.is_researcher:
        raise NotFound("Only researchers have studies.")
    return Response(kept_trust_in_judges(Study.objects.of(user), **chosen_by(request, JudgesChoice)).as_dict())


@shows(
    "studies_judge_comparison",
    "All judges of a criterion on the same items: the best by κ, corrected for the choice, and differences with "
    "simultaneous 95 % intervals; on the development topics if the study is split.",
    CRITERION,
    JudgeComparisonChoice,
)
def judge_comparison(request: Request, name: str) -> Response:
    criterion = criterion_of(request, name)
    asked = chosen_by(request, JudgeComparisonChoice)
    return Response(figures_of(request, "judge_comparison", criterion.study, criterion=criterion.pk, **asked).as_dict())


@shows(
    "studies_suggestion_effects",
    "By arm of the study's suggestions: the shift towards the judge, time, agreement, and the leaderboard.",
    EffectsChoice,
)
def suggestion_effects(request: Request, name: str) -> Response:
    found = figures_of(request, "suggestion_effects", study_of(request, name), **chosen_by(request, EffectsChoice))
    return Response(found.as_dict())
