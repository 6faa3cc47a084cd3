"""How far two sets of a collection's nuggets agree."""

from __future__ import annotations

from django.shortcuts import get_object_or_404
from django.utils.timezone import now
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from collection.api_tools import WholeField, checked, user_of
from collection.models import Collection
from collection.web.api import answers, chosen_by, shows
from evaluation.agreement.nuggets.serializers import ListedSet, NuggetAgreementChoice


@shows(
    "collections_nugget_agreement",
    "Pairs of nuggets of two sets (banks, versions, creators), matched one to one; precision, recall and F1 over "
    "topics with intervals, and agreement on importance within the pairs.",
    NuggetAgreementChoice,
)
def nugget_agreement(request: Request, name: str) -> Response:
    from evaluation.agreement.nuggets.report import compare_sets  # it takes scipy

    collection = get_object_or_404(Collection.objects.of(user_of(request)), name=name)
    found = compare_sets(collection, user=user_of(request), **chosen_by(request, NuggetAgreementChoice))
    return Response(found.as_dict())


class ListedRun(serializers.Serializer[object]):
    """The run that was made."""

    run = serializers.CharField()
    reports = WholeField()


@extend_schema(
    operation_id="collections_nuggets_as_reports",
    description="Write a set of nuggets out as the reports of a new run, one nugget a line, so that people or judges "
    "can say which nuggets of another set it has.",
    request=ListedSet,
    responses=ListedRun,
)
@answers("POST")
def nuggets_as_reports(request: Request, name: str) -> Response:
    from evaluation.agreement.nuggets.listing import list_as_reports  # it takes scipy

    collection = get_object_or_404(Collection.objects.of(user_of(request)), name=name)
    sent = checked(ListedSet(data=request.data))
    made = list_as_reports(collection, sent["set"], run=sent["run"], by=user_of(request), at=now())
    return Response({"run": made.name, "reports": made.reports.count()})
