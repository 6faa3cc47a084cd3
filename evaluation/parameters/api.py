"""What the views of this app's API share: what was asked for, and refusals as 400."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from collection.judgments.draws import ItemsNotToBeDrawn
from collection.models import Criterion, Study, User
from collection.splits import AlreadySplit, TooFewTopics
from evaluation.computing.kept import kept
from evaluation.data.model_families import FamilyNotFound
from evaluation.data.population import JudgeNotFound, SystemNotFound
from evaluation.data.visibility import NotSplit, TestPartLocked
from stats.calibration.active_sampling import TooFewItems
from stats.calibration.allocation import NoAllocation
from stats.calibration.pilots import NoPlan
from stats.qrels import QrelsRefused

CRITERION = OpenApiParameter("criterion", str, required=True, description="The criterion's name in the study.")
REFUSALS: tuple[type[Exception], ...] = (
    AlreadySplit,
    FamilyNotFound,
    ItemsNotToBeDrawn,
    JudgeNotFound,
    NoAllocation,
    NoPlan,
    NotSplit,
    QrelsRefused,
    SystemNotFound,
    TestPartLocked,
    TooFewItems,
    TooFewTopics,
)


@contextmanager
def refused_as_bad_request(*others: type[Exception]) -> Iterator[None]:
    """Answer 400 with the reason where a service refuses what was asked."""
    try:
        yield
    except (*REFUSALS, *others) as refused:
        raise ValidationError(str(refused)) from refused


def study_of(request: Request, name: str) -> Study:
    """Return the study if it is this user's; else there is nothing here."""
    return get_object_or_404(Study.objects.of(request.user).select_related("collection"), name=name)


def figures_of(request: Request, kind: str, study: Study, **asked: Any) -> Any:
    """Return these figures of a study that the user may see; see `kept`."""
    return kept(kind, study, shown=request.query_params.getlist("shown"), **asked)


def chosen_by(request: Request, form: type[serializers.Serializer[Any]]) -> dict[str, Any]:
    """Return what the request chooses, in its address or, where it changes something, in its body."""
    choice = form(data=request.data if request.method == "POST" else request.query_params)
    choice.is_valid(raise_exception=True)
    return dict(choice.validated_data)


def user_of(request: Request) -> User:
    """Return who asks; the API answers nobody who is not signed in."""
    assert isinstance(request.user, User)  # DEFAULT_PERMISSION_CLASSES
    return request.user


def criterion_of(request: Request, name: str) -> Criterion:
    """Return the criterion that is asked for, of a study of this user's."""
    study = study_of(request, name)
    asked: Any = request.data if request.method == "POST" else request.query_params
    wanted = asked.get("criterion") if hasattr(asked, "get") else None
    if not wanted:
        listed = ", ".join(study.criteria.values_list("name", flat=True))
        raise ValidationError({"criterion": [f"Name one of the study’s criteria: {listed}."]})
    return get_object_or_404(study.criteria.select_related("study__collection", "scale"), name=wanted)
