"""The pages on which judgments become qrels, and on which a judge's grades fill the holes of these; and their files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_safe

from collection.accounts.views import SignedInRequest
from collection.judgments.judged_criteria import judged_criteria
from collection.models import Criterion, Rater, Study
from collection.web.downloads import as_file, table_download
from collection.web.file_names import file_stem
from collection.web.options import Choices, with_asked
from collection.web.pages import criteria_queryset, figures_of, locked_is_not_found, my_study, query_without
from collection.web.tables import Table
from evaluation.publishing.forms import FilledQrelsForm, QrelsForm
from evaluation.publishing.gold_qrels import gold_sources
from stats.completeness import Completeness
from stats.refusals import Refused


@dataclass(frozen=True)
class File:
    """A file: how it is written of what was computed, and of its name; what a worker computes; with hashes or not."""

    written: Callable[[Any, str], HttpResponse]
    compute: str
    hashed: bool = False


def _table(of: Table, stem: str, table_format: str = "csv") -> HttpResponse:
    return table_download(of, table_format=table_format, stem=stem, caption=of.title)


def _qrels(compute: str) -> File:
    return File(lambda found, stem: as_file(found.text, f"{stem}.qrels", "text/plain"), compute)


def _provenance(compute: str) -> File:
    def written(found: Any, stem: str) -> HttpResponse:
        return as_file(found.provenance_text, f"{stem}-provenance.json", "application/json")

    return File(written, compute, hashed=True)


def _zip(compute: str) -> File:
    return File(lambda archive, stem: as_file(archive, f"{stem}.zip", "application/zip"), compute, hashed=True)


FILES = {
    "file": _qrels("qrels"),
    "provenance": _provenance("qrels"),
    "unjudged": File(lambda found, stem: _table(found.unjudged, f"{stem}-unjudged"), "qrels"),
    "each": _zip("qrels_of_each"),
}
FILES_OF_FILLED = {
    "qrels": _qrels("filled_qrels"),
    "lines": File(lambda found, stem: _table(found.owned, f"{stem}-lines"), "filled_qrels"),
    "provenance": _provenance("filled_qrels"),
    "scores": File(lambda found, stem: _table(found.scored, f"{stem}-scores"), "filled_qrels"),
    "scores-tex": File(lambda found, stem: _table(found.scored, f"{stem}-scores", "tex"), "filled_qrels"),
    "everything": _zip("filled_qrels_files"),
}


@require_safe
@login_required
def qrels(request: SignedInRequest, name: str) -> HttpResponse:
    """Choose whose judgments and how; see counts, first lines and holes; take the files."""
    return _page(_asked_qrels(request, name), "qrels")


@require_safe
@login_required
def qrels_file(request: SignedInRequest, name: str, file: str) -> HttpResponse:
    """The qrels, their provenance, the unjudged passages of each run, or qrels of each rater alone."""
    return _file(_asked_qrels(request, name), FILES, file)


@require_safe
@login_required
def filled_qrels(request: SignedInRequest, name: str) -> HttpResponse:
    """Choose a judge and which holes; see whose the lines are and what filling changes; take the files."""
    return _page(_asked_filled(request, name), "filled_qrels")


@require_safe
@login_required
def filled_qrels_file(request: SignedInRequest, name: str, file: str) -> HttpResponse:
    """One of the files, or with “everything” all of them in a zip."""
    return _file(_asked_filled(request, name), FILES_OF_FILLED, file)


@dataclass(frozen=True)
class Asked:
    """A study of this user's and what was chosen of it; `query` is the choice as an address has it."""

    request: SignedInRequest
    study: Study
    criteria: list[Criterion]
    criterion: Criterion | None
    form: QrelsForm
    query: QueryDict

    def figures(self, compute: str, *, hashed: bool) -> tuple[Any, str]:
        """Return what is made of the judgments that the form chooses, or why nothing is."""
        form = self.form
        if not form.is_valid() or self.criterion is None:
            complaints = (f"{form[name].label}: {' '.join(map(str, of))}" for name, of in form.errors.items())
            return None, " ".join(complaints)
        chosen = {"criterion": self.criterion.pk, "hashed": hashed, **form.chosen()}
        try:
            with locked_is_not_found():
                return figures_of(self.request, f"evaluation.publishing.computing:{compute}", self.study, **chosen), ""
        except Refused as refused:
            return None, str(refused)


def _page(asked: Asked, page: str) -> HttpResponse:
    found, refusal = asked.figures(page, hashed=False)
    without_part = asked.query.copy()
    without_part.pop("part", None)
    context = {
        "study": asked.study,
        "criteria": asked.criteria,
        "criterion": asked.criterion,
        "form": asked.form,
        "found": found,
        "refusal": refusal,
        "chosen": asked.query.urlencode(),
        "visibility": getattr(found, "visibility", None),
        "chosen_anywhere": without_part.urlencode(),
    }
    template = f"evaluation/{page}{'_preview' if asked.request.htmx else ''}.html"
    return render(asked.request, template, context, status=422 if asked.form.errors else 200)


def _file(asked: Asked, files: Mapping[str, File], name: str) -> HttpResponse:
    if name not in files:
        raise Http404("This file does not exist.")
    file = files[name]
    found, refusal = asked.figures(file.compute, hashed=file.hashed)
    if found is None:
        return HttpResponse(f"{refusal}\n", content_type="text/plain; charset=utf-8", status=422)
    criterion = asked.criterion.name if asked.criterion else ""
    return file.written(found, file_stem(asked.study.name, criterion, *asked.form.words(found)))


def _asked_qrels(request: SignedInRequest, name: str) -> Asked:
    def offered(study: Study, _: Criterion) -> dict[str, Choices]:
        sources = gold_sources(study.collection)
        return {"gold": [("", "no, judgments"), *sources]} if sources else {}

    return _asked(request, name, QrelsForm, offered)


def _asked_filled(request: SignedInRequest, name: str) -> Asked:
    measures = [one.strip() for one in request.GET.getlist("measure")]

    def offered(study: Study, criterion: Criterion) -> dict[str, Choices]:
        judges = "evaluation.publishing.computing:filling_judges"
        return {
            "judge": figures_of(request, judges, study, criterion=criterion.pk),
            "run": [(run, run) for run in study.collection.runs.order_by("name").values_list("name", flat=True)],
            "measure": [(one, one) for one in with_asked(FilledQrelsForm.measures, *measures)],
        }

    return _asked(request, name, FilledQrelsForm, offered)


def _asked(
    request: SignedInRequest,
    name: str,
    form: type[QrelsForm],
    offered: Callable[[Study, Criterion], dict[str, Choices]],
) -> Asked:
    """Return what was chosen; without a choice the first criterion that was judged, the first judge and usual rule."""
    study = my_study(request, name)
    criteria = list(criteria_queryset(study))
    data = QueryDict(query_without(request, "shown"), mutable=True)
    if "criterion" not in data and criteria:
        data["criterion"] = next(iter([*judged_criteria(criteria), *criteria])).name
    chosen = next((criterion for criterion in criteria if criterion.name == data.get("criterion")), None)
    raters, more = [], {}
    if chosen:
        raters = figures_of(request, "evaluation.publishing.computing:raters", study, criterion=chosen.pk)
        more = offered(study, chosen)
    first = {"judge": found[0][0]} if (found := more.get("judge")) else {}
    for field, value in {**form.usual(), **first}.items():
        data.setdefault(field, value)
    filled = form(
        data,
        criteria=[criterion.name for criterion in criteria],
        raters=[(called, _described(called, rater, found)) for called, rater, found in raters],
        grades=chosen.scale.values if chosen else [],
        simulated=any(rater.simulated for _, rater, _ in raters),
        more=more,
    )
    return Asked(request, study, criteria, chosen, filled, data)


def _described(called: str, rater: Rater, found: Completeness) -> str:
    kind = "simulated" if rater.simulated else rater.get_kind_display()
    return f"{called} ({', '.join(filter(None, (kind, found.mark, found.why)))})"
