"""The page on which a judge's grades fill the holes of people's qrels, and its files."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from collection.accounts.views import SignedInRequest
from collection.models import Criterion, Study
from collection.web.downloads import as_file, table_file
from collection.web.file_names import file_stem
from collection.web.options import Choices, with_asked
from collection.web.pages import asked_part, figures_of, locked_is_not_found
from evaluation.publishing.forms import FilledQrelsForm
from evaluation.publishing.qrels_views import QrelsChoice, chosen_qrels
from evaluation.publishing.serializers import filling_of
from stats.refusals import Refused

if TYPE_CHECKING:
    from evaluation.publishing.filled_qrels import FilledQrels

PREVIEWED = 12
FILES: dict[str, Callable[[FilledQrels, str], HttpResponse]] = {
    "qrels": lambda found, stem: as_file(found.text, f"{stem}.qrels", "text/plain"),
    "lines": lambda found, stem: _table(found.lines_table(), "csv", f"{stem}-lines", "Whose each line is"),
    "provenance": lambda found, stem: as_file(found.provenance_text, f"{stem}-provenance.json", "application/json"),
    "scores": lambda found, stem: _table(found.scores_table(), "csv", f"{stem}-scores", "Scores"),
    "scores-tex": lambda found, stem: _table(found.scores_table(), "tex", f"{stem}-scores", _caption(found)),
}


@require_safe
@login_required
def filled_qrels(request: SignedInRequest, name: str) -> HttpResponse:
    """Choose a judge and which holes; see whose the lines are and what filling changes; take the files."""
    asked = _asked(request, name)

    found, refusal = _figures(asked, "filled_qrels", hashed=False)

    context = {
        "study": asked.study,
        "criteria": asked.criteria,
        "criterion": asked.criterion,
        "form": asked.form,
        "found": found,
        "previewed": found.owners()[:PREVIEWED] if found else (),
        "refusal": refusal,
        "chosen": asked.query,
        "sight": found.sight if found else None,
        "chosen_anywhere": urlencode([pair for pair in parse_qsl(asked.query) if pair[0] != "part"]),
    }
    template = "evaluation/filled_qrels_preview.html" if request.htmx else "evaluation/filled_qrels.html"
    return render(request, template, context, status=422 if asked.form.errors else 200)


@require_safe
@login_required
def filled_qrels_file(request: SignedInRequest, name: str, file: str) -> HttpResponse:
    """One of the files, or with “everything” all of them in a zip."""
    asked = _asked(request, name)
    if file not in (*FILES, "everything"):
        raise Http404("This file does not exist.")
    chosen = str(asked.form.data.get("judge", ""))
    stem = file_stem(name, asked.criterion.name if asked.criterion else "", "filled-qrels", "people", chosen)
    if file == "everything":
        archive, refusal = _figures(asked, "filled_qrels_files", hashed=True)
        return as_file(archive, f"{stem}.zip", "application/zip") if archive else _refused(refusal)
    found, refusal = _figures(asked, "filled_qrels", hashed=file == "provenance")
    return FILES[file](found, stem) if found else _refused(refusal)


def _table(rows: list[list[Any]], table_format: str, stem: str, caption: str) -> HttpResponse:
    return table_file({"table": rows}, "table", table_format=table_format, stem=stem, caption=caption)


def _caption(found: FilledQrels) -> str:
    return f"Scores by human labels and with holes filled by {found.judge}, with bounds"


def _refused(refusal: str) -> HttpResponse:
    return HttpResponse(f"{refusal}\n", content_type="text/plain; charset=utf-8", status=422)


def _asked(request: SignedInRequest, name: str) -> QrelsChoice:
    """Return what was chosen; without a choice the first judge, and the usual measures."""
    measures = [one.strip() for one in request.GET.getlist("measure")]

    def more(study: Study, criterion: Criterion) -> dict[str, Choices]:
        return {
            "judge": figures_of(request, "evaluation.computations:filling_judges", study, criterion=criterion.pk),
            "run": [(run, run) for run in study.collection.runs.order_by("name").values_list("name", flat=True)],
            "measure": [(one, one) for one in with_asked(FilledQrelsForm.measures, *measures)],
        }

    return chosen_qrels(request, name, form=FilledQrelsForm, usual={}, more=more)


def _figures(asked: QrelsChoice, kind: str, *, hashed: bool) -> tuple[Any, str]:
    """Return what is made of the choice, or why nothing is."""
    if not asked.form.is_valid() or asked.criterion is None:
        return None, asked.complaints
    part = asked_part(asked.request)
    choice = {"criterion": asked.criterion.pk, **filling_of({**asked.form.cleaned_data, "part": part})}
    try:
        with locked_is_not_found():
            return figures_of(
                asked.request, f"evaluation.computations:{kind}", asked.study, hashed=hashed, **choice
            ), ""
    except Refused as refused:
        return None, str(refused)
