"""The page that says which passages are required and which redundant, keeps the required as a run, and its qrels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.timezone import now
from django.views.decorators.http import require_http_methods, require_safe

from collection.accounts.views import SignedInRequest
from collection.models import Study
from collection.web.cached_results import compute_now
from collection.web.downloads import as_file
from collection.web.file_names import file_stem
from collection.web.pages import figures_of, my_study, query_without
from evaluation.rubrics.forms import OracleForm, RedundancyForm
from stats.plurals import counted
from stats.refusals import Refused

if TYPE_CHECKING:
    from evaluation.rubrics.redundancy import Redundancy


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def redundancy(request: SignedInRequest, name: str) -> HttpResponse:
    """Each topic's passages by class, by one source's ratings; posting keeps the required ones as a run."""
    study = my_study(request, name)
    found, form, refusal = _found(request, study)
    if request.method == "POST" and found:
        from evaluation.rubrics.oracle import keep_oracle  # it takes pandas

        try:
            run = keep_oracle(found, name=form.cleaned_data["name"], by=request.user, at=now())
        except Refused as refused:
            refusal = str(refused)
        else:
            n = counted(run.ranking.count(), "required passages")
            messages.success(request, f"The run {run.name} ranks {n}.")
            return redirect(f"{request.path}?{_chosen(request.POST)}")
    context = {
        "study": study,
        "form": form,
        "keep": OracleForm(request.POST or None, initial=OracleForm.usual(), sources=[], runs=[]),
        "found": found,
        "refusal": refusal,
        "chosen": _chosen(request.POST) if request.method == "POST" else query_without(request, "shown"),
    }
    return render(request, "evaluation/redundancy.html", context, status=422 if refusal or form.errors else 200)


@require_safe
@login_required
def redundancy_qrels(request: SignedInRequest, name: str) -> HttpResponse:
    """The classes as a qrels file."""
    found, _, refusal = _found(request, my_study(request, name))
    if found is None:
        raise Http404(refusal or "No passages have been rated yet.")
    return as_file(found.qrels, f"{file_stem(name, found.source.name, 'redundancy')}.qrels", "text/plain")


def _chosen(sent: QueryDict) -> str:
    """Return what was posted as an address has it."""
    return urlencode({name: str(sent[name]) for name in RedundancyForm.asked if name in sent})


def _found(request: SignedInRequest, study: Study) -> tuple[Redundancy | None, RedundancyForm | OracleForm, str]:
    posted = request.method == "POST"
    there, runs, written = _figures(request, "evaluation.computations:redundancy_choices", study)
    told: dict[str, Any] = {"sources": [(one.name, one.shown) for one in there], "runs": runs, "written": written}
    form = OracleForm(request.POST, **told) if posted else RedundancyForm(_asked(request), **told)
    if not there or not form.is_valid():
        return None, form, ""
    asked = {name: form.cleaned_data[name] for name in RedundancyForm.asked}
    try:
        return _figures(request, "evaluation.computations:redundancy", study, **asked), form, ""
    except Refused as refused:
        return None, form, str(refused)


def _asked(request: SignedInRequest) -> QueryDict:
    return QueryDict(query_without(request, "shown"))


def _figures(request: SignedInRequest, kind: str, study: Study, **asked: Any) -> Any:
    """Return these figures; what is posted waits for no worker, and computes what is not kept."""
    return compute_now(kind, study, **asked) if request.method == "POST" else figures_of(request, kind, study, **asked)
