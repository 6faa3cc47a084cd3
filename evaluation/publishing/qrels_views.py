"""The page on which judgments become qrels, and its files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_safe

from collection.accounts.views import SignedInRequest
from collection.judgments.judged_criteria import judged_criteria
from collection.models import Criterion, Rater, Study
from collection.web.downloads import as_file, table_file
from collection.web.file_names import file_stem
from collection.web.options import Choices
from collection.web.pages import criteria_queryset, figures_of, my_study, query_without
from evaluation.publishing.forms import QrelsForm
from evaluation.publishing.gold_qrels import gold_sources
from stats.completeness import Completeness
from stats.qrels import asked_of
from stats.refusals import Refused

PREVIEWED = 12
HOLES_AT = "10"


@dataclass(frozen=True)
class QrelsChoice:
    """A study of this user's and what was chosen of it; `query` is the choice as a URL has it."""

    request: SignedInRequest
    study: Study
    criteria: list[Criterion]
    criterion: Criterion | None
    form: QrelsForm
    query: str

    @property
    def complaints(self) -> str:
        """What is wrong with the choice."""
        return " ".join(
            f"{self.form[name].label}: {' '.join(map(str, errors))}" for name, errors in self.form.errors.items()
        )


@require_safe
@login_required
def qrels(request: SignedInRequest, name: str) -> HttpResponse:
    """Choose whose judgments and how; see counts, first lines and holes; take the files."""
    asked = _asked(request, name)

    compiled, refusal = _figures(asked, "qrels")

    context = {
        "study": asked.study,
        "criteria": asked.criteria,
        "criterion": asked.criterion,
        "form": asked.form,
        "qrels": compiled,
        "previewed": compiled.lines[:PREVIEWED] if compiled else (),
        "refusal": refusal,
        "chosen": asked.query,
    }
    template = "evaluation/qrels_preview.html" if request.htmx else "evaluation/qrels.html"
    return render(request, template, context, status=422 if asked.form.errors else 200)


@require_safe
@login_required
def qrels_file(request: SignedInRequest, name: str) -> HttpResponse:
    """The qrels themselves."""
    return _file(request, name, "qrels", lambda found, stem: as_file(found.text, f"{stem}.qrels", "text/plain"))


@require_safe
@login_required
def qrels_provenance(request: SignedInRequest, name: str) -> HttpResponse:
    """Where the qrels come from: raters, rule, counts, hashes."""

    def written(found: Any, stem: str) -> HttpResponse:
        return as_file(found.provenance_text, f"{stem}-provenance.json", "application/json")

    return _file(request, name, "qrels", written, hashed=True)


@require_safe
@login_required
def qrels_unjudged(request: SignedInRequest, name: str) -> HttpResponse:
    """Every passage in the top k of a run that has no label."""

    def written(found: Any, stem: str) -> HttpResponse:
        table = {"table_format": "csv", "stem": f"{stem}-unjudged", "caption": f"Unjudged passages of {name}"}
        return table_file({"unjudged": found.holes_table()}, "unjudged", **table)

    return _file(request, name, "qrels", written)


@require_safe
@login_required
def qrels_each(request: SignedInRequest, name: str) -> HttpResponse:
    """A zip with one qrels file for each rater alone."""
    return _file(
        request, name, "qrels_of_each", lambda archive, stem: as_file(archive, f"{stem}.zip", "application/zip")
    )


def _file(
    request: SignedInRequest, name: str, kind: str, written: Callable[[Any, str], HttpResponse], *, hashed: bool = False
) -> HttpResponse:
    asked = _asked(request, name)
    found, refusal = _figures(asked, kind, hashed=hashed)
    if found is None:
        return HttpResponse(f"{refusal}\n", content_type="text/plain; charset=utf-8", status=422)
    whose = "each-rater" if kind == "qrels_of_each" else found.whose
    return written(found, file_stem(name, asked.criterion.name if asked.criterion else "", "qrels", whose))


def _asked(request: SignedInRequest, name: str) -> QrelsChoice:
    return chosen_qrels(request, name, form=QrelsForm, usual={"holes_at": HOLES_AT}, more=_gold)


def _gold(study: Study, _: Criterion) -> dict[str, Choices]:
    sources = gold_sources(study.collection)
    return {"gold": [("", "no, judgments"), *sources]} if sources else {}


def chosen_qrels(
    request: SignedInRequest,
    name: str,
    *,
    form: type[QrelsForm],
    usual: dict[str, str],
    more: Callable[[Study, Criterion], dict[str, Choices]] | None = None,
) -> QrelsChoice:
    """Return what was chosen; without a choice the first criterion that was judged and the usual rule.

    `usual` is added to the defaults; `more` returns what else there is to choose from, of judges the usual one first.
    """
    study = my_study(request, name)
    criteria = list(criteria_queryset(study))
    data = QueryDict(query_without(request, "shown"), mutable=True)
    if "criterion" not in data and criteria:
        data["criterion"] = next(iter([*judged_criteria(criteria), *criteria])).name
    chosen = next((criterion for criterion in criteria if criterion.name == data.get("criterion")), None)
    raters = figures_of(request, "evaluation.computations:qrels_raters", study, criterion=chosen.pk) if chosen else []
    others = more(study, chosen) if more and chosen else {}
    first = {"judge": found[0][0]} if (found := others.get("judge")) else {}
    for field, value in {**form.usual(), **usual, **first}.items():
        data.setdefault(field, value)
    filled = form(
        data,
        criteria=[criterion.name for criterion in criteria],
        raters=[(called, _described(called, rater, found)) for called, rater, found in raters],
        grades=chosen.scale.values if chosen else [],
        simulated=any(rater.simulated for _, rater, _ in raters),
        more=others,
    )
    return QrelsChoice(request, study, criteria, chosen, filled, data.urlencode())


def _described(called: str, rater: Rater, found: Completeness) -> str:
    kind = "simulated" if rater.simulated else rater.get_kind_display()
    return f"{called} ({', '.join(filter(None, (kind, found.mark, found.why)))})"


def _figures(asked: QrelsChoice, kind: str, *, hashed: bool = False) -> tuple[Any, str]:
    """Return what is made of the judgments that the form chooses, or why nothing is."""
    form = asked.form
    if not form.is_valid() or asked.criterion is None:
        return None, asked.complaints
    choice = {"criterion": asked.criterion.pk, **asked_of(form.cleaned_data)}
    if kind == "qrels":
        choice |= {"holes_at": form.cleaned_data["holes_at"], "hashed": hashed}
    try:
        return figures_of(asked.request, f"evaluation.computations:{kind}", asked.study, **choice), ""
    except Refused as refused:
        return None, str(refused)
