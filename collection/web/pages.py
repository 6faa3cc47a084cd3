"""What pages of results share: the study and the criterion that a request is about, and files to take away."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse

from collection.accounts.access import study_of
from collection.accounts.views import SignedInRequest
from collection.judgments.judged_criteria import judged_criteria
from collection.models import Criterion, Study
from collection.splits import NotSplit, TestPartLocked
from collection.web.cached_results import cached_result
from collection.web.computing_views import is_for_an_image
from collection.web.downloads import as_file
from collection.web.options import REFUSALS

# Of a long table a page shows so many rows; its file has all.
MOST_LISTED = 100


def my_study(request: SignedInRequest, name: str) -> Study:
    """Return the study if it is this user's; else there is nothing here. Raises StillAssesses."""
    return study_of(request.user, name)


def figures_of(request: HttpRequest, kind: str, study: Study, **asked: Any) -> Any:
    """Return these figures of a study that the reader may see; see `cached_result`."""
    return cached_result(kind, study, shown=request.GET.getlist("shown"), waits_long=is_for_an_image(request), **asked)


def query_without(request: HttpRequest, *left_out: str) -> str:
    """Return the address's query without these."""
    asked = [(name, value) for name, values in request.GET.lists() if name not in left_out for value in values]
    return urlencode(asked)


def chart_file(
    request: HttpRequest,
    chart: dict[str, Any] | None,
    *,
    form: str,
    stem: str,
    nothing: str = "Nothing to draw.",
) -> HttpResponse:
    """Return the chart as SVG, PDF or the Vega-Lite description that it is drawn from; and to a page what it shows."""
    if chart is None:
        raise Http404(nothing)
    if form == "json":
        return json_file(chart["json"], f"{stem}.vl.json")
    if form == "pdf":
        return as_file(chart["pdf"], f"{stem}.pdf", "application/pdf")
    if "HX-Request" in request.headers:
        return HttpResponse(chart["narrow" if request.GET.get("width") == "narrow" else "wide"])
    shown = HttpResponse(chart["svg"], content_type="image/svg+xml")
    shown["Content-Disposition"] = f'inline; filename="{stem}.svg"'
    return shown


def criteria_queryset(study: Study) -> QuerySet[Criterion]:
    return study.criteria.select_related("study__collection", "scale")


def chosen_criterion(criteria: list[Criterion], name: str | None) -> Criterion | None:
    """Return the criterion of this name; without one, the first that people have judged, else the first."""
    if name:
        found = next((criterion for criterion in criteria if criterion.name == name), None)
        if found is None:
            raise Http404("The study has no such criterion.")
        return found
    return next(iter([*judged_criteria(criteria), *criteria]), None)


def study_and_criterion(request: SignedInRequest, name: str) -> tuple[Study, list[Criterion], Criterion | None]:
    """Return this user's study, its criteria and the one that the address asks for, or the usual one."""
    study = my_study(request, name)
    criteria = list(criteria_queryset(study))
    return study, criteria, chosen_criterion(criteria, request.GET.get("criterion"))


@contextmanager
def locked_is_not_found() -> Iterator[None]:
    """Answer 404 where a part is asked for that is locked, or that the study does not have."""
    try:
        yield
    except (TestPartLocked, NotSplit) as error:
        raise Http404(str(error)) from error


def json_file(answer: dict[str, Any], filename: str) -> HttpResponse:
    response = JsonResponse(answer, json_dumps_params={"ensure_ascii": False, "indent": 2})
    response["Content-Disposition"] = f'attachment; filename="{filename}"'
    return response


@contextmanager
def refused_is_not_found() -> Iterator[None]:
    """Answer 404 where a service refuses what an address asks for."""
    try:
        yield
    except REFUSALS as refused:
        raise Http404(str(refused)) from refused
