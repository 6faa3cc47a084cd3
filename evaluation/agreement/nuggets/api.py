"""How far two sets of a collection's nuggets agree."""

from __future__ import annotations

from django.shortcuts import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from collection.api_tools import user_of
from collection.models import Collection
from evaluation.agreement.nuggets.serializers import NuggetAgreementChoice
from evaluation.parameters.api import chosen_by, shows


@shows(
    "collections_nugget_agreement",
    "Pairs of nuggets of two sets (banks, versions, creators), matched one to one; precision, recall and F1 over "
    "topics with intervals, and agreement on importance within the pairs.",
    NuggetAgreementChoice,
)
def nugget_agreement(request: Request, name: str) -> Response:
    from evaluation.agreement.nuggets.report import compare_sets  # it takes scipy

    collection = get_object_or_404(Collection.objects.of(user_of(request)), name=name)
    return Response(compare_sets(collection, **chosen_by(request, NuggetAgreementChoice)).as_dict())
