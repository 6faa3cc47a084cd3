"""The next round of a study's battles."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.timezone import now
from django.views.decorators.http import require_POST

from collection.accounts.views import SignedInRequest
from collection.web.options import REFUSALS
from collection.web.pages import my_study
from collection.web.report_views import page_of
from evaluation.battles.reports import BattlesReport, RoundForm
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
