"""The next round of a study's battles, by page and by API."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.timezone import now
from django.views.decorators.http import require_POST
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from collection.accounts.views import SignedInRequest
from collection.api_tools import study_of
from collection.web.api import answers, chosen_by
from collection.web.options import REFUSALS
from collection.web.pages import my_study
from collection.web.report_views import page_of
from evaluation.battles.reports import BattlesReport, RoundChoice, RoundForm
from stats.plurals import counted


@require_POST
@login_required
def battles_draw(request: SignedInRequest, name: str) -> HttpResponse:
    """Draw the pairs that people compare next; then back to the page, which opens them."""
    from evaluation.battles.rounds import draw_next_pairs

    study, form = my_study(request, name), RoundForm(request.POST)
    if form.is_valid():
        try:
            made = draw_next_pairs(study, n=form.cleaned_data["n"], at=now())
        except REFUSALS as refused:
            form.add_error("n", str(refused))
        else:
            messages.success(request, f"{counted(made.drawn, 'pairs')} drawn. Open them to your assessors below.")
            return redirect("evaluation:battles", name)
    return page_of(BattlesReport, request, name, round_form=form)


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
