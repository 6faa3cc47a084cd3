"""Evaluation files: held against a leaderboard or one another on a page, which keeps none, and written of scores."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_safe

from collection.accounts.views import SignedInRequest
from collection.formats.problems import BrokenFile
from collection.models import Study
from collection.web.downloads import as_file
from collection.web.options import REFUSALS
from collection.web.pages import my_study, refused_is_not_found
from collection.web.report_views import result_of
from evaluation.leaderboards.forms import CorrelateForm
from evaluation.leaderboards.reports import LeaderboardReport
from evaluation.leaderboards.serializers import WRITTEN_FORMS, CorrelateChoice

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from django.core.files.uploadedfile import UploadedFile

    from evaluation.leaderboards.evaluation_files.values import EvaluationsCompared


@require_http_methods(["GET", "POST"])
@login_required
def correlate(request: SignedInRequest, name: str) -> HttpResponse:
    """Choose files and a reference; posting shows how far they rank the runs alike."""
    from evaluation.leaderboards.available_measures import offered_measures

    study = my_study(request, name)
    usual = next(iter(offered_measures(study)), "")
    asked = {"board": request.GET.get("board", usual), "missing": "warn", "fill": 0}
    sent = (request.POST, request.FILES) if request.method == "POST" else (None, None)
    form = CorrelateForm(*sent, initial=asked)

    compared: list[EvaluationsCompared] = []
    if form.is_valid():
        try:
            compared = correlated(study, form.cleaned_data["file"], {**_usual(), **form.cleaned_data})
        except BrokenFile as broken:
            form.add_error("file", "\n".join(f"{broken.name}: {problem}" for problem in broken.problems))
        except REFUSALS as refused:
            form.add_error(None, str(refused))

    answer = ""
    if compared:
        from evaluation.leaderboards.evaluation_files.values import answer_of  # pandas: none where nothing is sent

        answer = answer_of(compared)
    context = {"study": study, "form": form, "compared": compared, "answer": answer}
    return render(request, "evaluation/correlate.html", context, status=422 if form.errors else 200)


def correlated(
    study: Study, files: Iterable[UploadedFile[Any]], chosen: Mapping[str, Any]
) -> list[EvaluationsCompared]:
    """Hold uploaded files against what is chosen. Raises BrokenFile and Refused."""
    from evaluation.leaderboards.evaluation_files.correlate import MOST_CELLS_ON_A_PAGE, board_of, correlate

    board = board_of(study, chosen) if chosen["board"] else None
    with tempfile.TemporaryDirectory() as folder:
        kept = []
        for number, file in enumerate(files):
            path = Path(folder) / str(number)
            path.write_bytes(file.read())
            kept.append((file.name or f"file {number + 1}", path))
        return correlate(kept, chosen, board=board, most_cells=MOST_CELLS_ON_A_PAGE)


def _usual() -> dict[str, Any]:
    """Return the options that the page does not ask for."""
    choice = CorrelateChoice(data={})
    choice.is_valid(raise_exception=True)
    return dict(choice.validated_data)


@require_safe
@login_required
def leaderboard_evaluation(request: SignedInRequest, name: str) -> HttpResponse:
    """The page's scores as an evaluation file for each source: `form` says in which of the exchanged forms."""
    from evaluation.leaderboards.evaluation_files.values import evaluation_download

    form = request.GET.get("form", "")
    if form not in dict(WRITTEN_FORMS):
        raise Http404("There is no such form.")
    with refused_is_not_found():
        filename, content = evaluation_download(result_of(LeaderboardReport, request, name), form=form)
    return as_file(content, filename.replace("/", "-"), "application/octet-stream")
