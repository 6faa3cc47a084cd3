"""The pages of one passage, and of the passages of one answer, with the questions that each answers."""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from collection.accounts.views import SignedInRequest
from collection.web.options import choose
from collection.web.pages import figures_of, my_study, refused_is_not_found
from evaluation.rubrics.forms import GradedAnswerForm
from evaluation.rubrics.serializers import MOST_PASSAGES, GradedAnswerChoice, GradedPassageChoice
from stats.refusals import Refused


@require_safe
@login_required
def graded_passage(request: SignedInRequest, name: str) -> HttpResponse:
    """A passage's questions by rater, with their reasons."""
    study = my_study(request, name)
    with refused_is_not_found():
        asked = choose(GradedPassageChoice, request.GET.dict())
        found = figures_of(request, "evaluation.computations:graded_passage", study, **asked)
    return render(request, "evaluation/graded_passage.html", {"study": study, "found": found})


@require_safe
@login_required
def graded_answer(request: SignedInRequest, name: str) -> HttpResponse:
    """A run's passages on a topic, each with the questions that it answers."""
    study = my_study(request, name)
    given = {key: value for key, value in request.GET.dict().items() if value and key != "shown"}
    found, form, refusal = None, None, ""
    try:
        found = figures_of(request, "evaluation.computations:graded_answer", study, **choose(GradedAnswerChoice, given))
    except Refused as refused:
        refusal = str(refused)
    if found:
        shown = {"source": found.source.name, "run": found.run, "topic": found.topic, "minimum": found.minimum}
        choices = {"source": found.sources, "run": _named(found.runs), "topic": _named(found.topics)}
        form = GradedAnswerForm(shown | {"k": given.get("k", MOST_PASSAGES)}, choices=choices)
    context = {"study": study, "found": found, "form": form, "refusal": refusal, "asked": bool(given)}
    return render(request, "evaluation/graded_answer.html", context, status=422 if refusal and given else 200)


def _named(names: Iterable[str]) -> list[tuple[str, str]]:
    return [(name, name) for name in names]
