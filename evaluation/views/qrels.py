"""The page on which judgments become qrels, and its files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.timezone import now
from django.views.decorators.http import require_safe

from collection.models import Criterion, Study
from collection.views.account import SignedInRequest
from evaluation.forms import QrelsForm
from evaluation.qrels import QrelsRefused
from evaluation.services.qrels import Qrels, compile_each, compile_qrels
from evaluation.services.studies import judged_criteria, raters_of
from evaluation.views.downloads import as_file, table_file

Found = TypeVar("Found")

PREVIEWED = 12
DEFAULTS = {"combine": "majority", "ties": "lower", "fewest_raters": "1", "holes_at": "10"}


@dataclass(frozen=True)
class Asked:
    """A study of this user's and what was chosen of it; `query` is the choice as a URL has it."""

    study: Study
    criteria: list[Criterion]
    criterion: Criterion | None
    form: QrelsForm
    query: str


@require_safe
@login_required
def qrels(request: SignedInRequest, name: str) -> HttpResponse:
    """Choose whose judgments and how; see counts, first lines and holes; take the files."""
    asked = _asked(request, name)

    compiled, refusal = _compiled(asked)

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
    return _file(request, name, lambda found: as_file(found.text, f"{name}.qrels", "text/plain"))


@require_safe
@login_required
def qrels_provenance(request: SignedInRequest, name: str) -> HttpResponse:
    """Where the qrels come from: raters, rule, counts, hashes."""
    return _file(
        request, name, lambda found: as_file(found.provenance_text, f"{name}.provenance.json", "application/json")
    )


@require_safe
@login_required
def qrels_unjudged(request: SignedInRequest, name: str) -> HttpResponse:
    """Every passage in the top k of a run that has no label."""
    return _file(
        request,
        name,
        lambda found: table_file(
            found.holes_table(), table_format="csv", stem=f"{name}-unjudged", caption=f"Unjudged passages of {name}"
        ),
    )


@require_safe
@login_required
def qrels_each(request: SignedInRequest, name: str) -> HttpResponse:
    """A zip with one qrels file for each rater alone."""
    archive, refusal = _made(_asked(request, name), lambda criterion, choice: compile_each(criterion, **choice))
    return as_file(archive, f"{name}-each-rater.zip", "application/zip") if archive else _refused(refusal)


def _file(request: SignedInRequest, name: str, written: Callable[[Qrels], HttpResponse]) -> HttpResponse:
    compiled, refusal = _compiled(_asked(request, name))
    return written(compiled) if compiled else _refused(refusal)


def _refused(reason: str) -> HttpResponse:
    return HttpResponse(f"{reason}\n", content_type="text/plain; charset=utf-8", status=422)


def _asked(request: SignedInRequest, name: str) -> Asked:
    """Return what was chosen; without a choice the first criterion that was judged and the usual rule."""
    study = get_object_or_404(Study.objects.of(request.user).select_related("collection"), name=name)
    criteria = list(study.criteria.select_related("study__collection", "scale"))
    data = request.GET.copy()
    if "criterion" not in data and criteria:
        data["criterion"] = next(iter([*judged_criteria(criteria), *criteria])).name
    for field, usual in DEFAULTS.items():
        data.setdefault(field, usual)
    chosen = next((criterion for criterion in criteria if criterion.name == data.get("criterion")), None)
    raters = raters_of(chosen) if chosen else []
    choices = [
        (called, f"{called} ({'simulated' if rater.simulated else rater.get_kind_display()})")
        for called, rater in raters
    ]
    form = QrelsForm(
        data,
        criteria=[criterion.name for criterion in criteria],
        raters=choices,
        grades=chosen.scale.values if chosen else [],
        simulated=any(rater.simulated for _, rater in raters),
    )
    return Asked(study, criteria, chosen, form, data.urlencode())


def _compiled(asked: Asked) -> tuple[Qrels | None, str]:
    """Return the qrels that the form asks for, or why there are none."""

    def compiled(criterion: Criterion, choice: dict[str, Any]) -> Qrels:
        return compile_qrels(criterion, **choice, holes_at=asked.form.cleaned_data["holes_at"])

    return _made(asked, compiled)


def _made(asked: Asked, make: Callable[[Criterion, dict[str, Any]], Found]) -> tuple[Found | None, str]:
    """Return what is made of the judgments that the form chooses, or why nothing is."""
    form = asked.form
    if not form.is_valid() or asked.criterion is None:
        return None, " ".join(
            f"{form[name].label}: {' '.join(map(str, errors))}" for name, errors in form.errors.items()
        )
    chosen = form.cleaned_data
    choice = {
        "raters": chosen["rater"],
        "with_simulated": chosen.get("with_simulated", False),
        "names": chosen["names"],
        "rule": form.rule(),
        "at": now(),
    }
    try:
        return make(asked.criterion, choice), ""
    except QrelsRefused as refused:
        return None, str(refused)
