"""Qrels and bundles."""

from __future__ import annotations

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework.request import Request
from rest_framework.response import Response

from collection.api_tools import study_of
from collection.web.api import CRITERION, chosen_by, criterion_of, figures_of, shows
from collection.web.pages import locked_is_not_found
from evaluation.publishing.making import line_of
from evaluation.publishing.serializers import FilledChoice, Published, QrelsChoice, filling_of
from evaluation.publishing.views import bundle_file
from stats.qrels import asked_of


@shows(
    "studies_qrels",
    "A study's judgments as the text of a qrels file, with its provenance.",
    CRITERION,
    QrelsChoice,
)
def qrels(request: Request, name: str) -> Response:
    chosen = chosen_by(request, QrelsChoice)
    criterion = criterion_of(request, name)
    asked = {"holes_at": chosen.get("holes_at"), "hashed": True, **asked_of(chosen)}
    compiled = figures_of(
        request, "evaluation.publishing.computing:qrels", criterion.study, criterion=criterion.pk, **asked
    )
    unjudged = {found.run: [list(one) for one in found.unjudged] for found in compiled.holes}
    answer = {"qrels": compiled.text, "provenance": compiled.provenance}
    return Response(answer | ({"unjudged": unjudged} if "holes_at" in chosen else {}))


@shows(
    "studies_filled_qrels",
    "People’s qrels with their holes filled by a judge’s grades: the text, whose each line is, and what it changes.",
    CRITERION,
    FilledChoice,
)
def filled_qrels(request: Request, name: str) -> Response:
    chosen = chosen_by(request, FilledChoice)
    criterion = criterion_of(request, name)
    asked = {"criterion": criterion.pk, "hashed": True, **filling_of(chosen)}
    with locked_is_not_found():
        found = figures_of(request, "evaluation.publishing.computing:filled_qrels", criterion.study, **asked)
    lines = [dict(zip(("line", "by"), one, strict=True)) for one in found.owners()]
    answer = {"answer": found.answer, "qrels": found.text, "lines": lines, "provenance": found.provenance}
    return Response(answer)


@shows(
    "studies_bundle",
    "The audit bundle: a zip file from which a study's figures can be recomputed.",
    Published,
    responses={(200, "application/zip"): OpenApiTypes.BINARY},
)
def bundle(request: Request, name: str) -> HttpResponse:
    study = study_of(request, name)
    return bundle_file(
        study, figures_of(request, "evaluation.publishing.computing:bundle", study, **chosen_by(request, Published))
    )


@shows("studies_making", "The line from documents to qrels: who wrote, reviewed and judged what a study asks about.")
def making(request: Request, name: str) -> Response:
    return Response(line_of(study_of(request, name)).as_dict())
