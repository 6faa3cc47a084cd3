"""Sentences for reports that came in as one text, for the collection's researchers."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from collection.accounts.views import SignedInRequest
from collection.api_tools import WholeField, user_of
from collection.models import Collection
from collection.texts.report_sentences import MOST_AT_ONCE, reports_without_sentences, split_reports
from stats.plurals import counted


@require_POST
@login_required
def report_sentences(request: SignedInRequest, name: str) -> HttpResponse:
    """Find the sentences of reports, as many as can be waited for."""
    found = get_object_or_404(Collection.objects.of(request.user), name=name)
    split = split_reports(found, most=MOST_AT_ONCE)
    messages.success(request, f"{counted(split, 'reports')} split into sentences, which are marked as found by a rule.")
    return redirect("collection:collection", name)


class SplitSerializer(serializers.Serializer[dict[str, int]]):
    split = WholeField(help_text="So many reports have sentences now.")
    left = WholeField(help_text="So many have none yet: ask again.")


class ReportSentences(APIView):
    """Sentences of reports that came in as one text."""

    @extend_schema(operation_id="collections_report_sentences", request=None, responses=SplitSerializer)
    def post(self, request: Request, name: str) -> Response:
        """Find the sentences of reports that have none. They bear the name of the rule that found them."""
        found = get_object_or_404(Collection.objects.of(user_of(request)), name=name)
        split = split_reports(found, most=MOST_AT_ONCE)
        return Response({"split": split, "left": reports_without_sentences(found).count()})
