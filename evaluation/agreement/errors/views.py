"""The page that says where a rater errs, and the items behind each of its cells."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_safe

from collection.accounts.views import SignedInRequest
from collection.models import Criterion
from collection.page_tools import download
from collection.web.downloads import table_file
from collection.web.file_names import file_stem
from collection.web.pages import (
    asked_criterion,
    asked_part,
    figures_of,
    json_file,
    refused_is_not_found,
    study_and_criterion,
)
from evaluation.agreement.errors.forms import ErrorsForm
from evaluation.agreement.errors.items import SHOWN, error_items, error_rows, exported_errors
from evaluation.agreement.errors.raters import PEOPLE
from evaluation.agreement.errors.report import MOST_TOPICS_SHOWN, Errors
from evaluation.agreement.errors.serializers import BY
from stats.csv_files import csv_lines
from stats.refusals import Refused

CAPTIONS = {"confusion": "Confusion matrix", "groups": "Errors by group", "raters": "Pairs of raters"}


@require_safe
@login_required
def errors(request: SignedInRequest, name: str) -> HttpResponse:
    """One rater under one criterion: the confusion matrix, errors by group, and all pairs of raters."""
    study, criteria, chosen = study_and_criterion(request, name)
    found, refusal = None, ""
    if chosen:
        try:
            found = _errors(request, chosen)
        except Refused as refused:
            refusal = str(refused)
    context = {
        "study": study,
        "criteria": criteria,
        "criterion": chosen,
        "found": found,
        "refusal": refusal,
        "form": _form(found) if found else None,
        "chosen": _query(found) if found else "",
        "chosen_anywhere": _query(found, part=False) if found else "",
        "most_topics": MOST_TOPICS_SHOWN,
        "first_topics": f":{MOST_TOPICS_SHOWN}",
        "table_names": CAPTIONS,
    }
    return render(request, "evaluation/errors.html", context, status=422 if refusal and _asks(request) else 200)


@require_safe
@login_required
def error_items_page(request: SignedInRequest, name: str) -> HttpResponse:
    """The items of a cell, a row or a column, or all errors, a few at a time."""
    found = _asked_for(request, name)
    cell = _cell(request)
    with refused_is_not_found():
        places = found.rows_of(**cell).tolist()
    page = Paginator(places, SHOWN).get_page(request.GET.get("page"))
    context = {
        "study": found.criterion.study,
        "criterion": found.criterion,
        "found": found,
        "cell": cell,
        "cell_in_words": ", ".join(f"{name} {value}" for name, value in cell.items() if value).capitalize()
        or "All errors",
        "page": page,
        "items": error_items(found, list(page.object_list)),
        "n_hidden": int(found.hidden.sum()),
        "may_be_examples": found.sight.part == "development" and found.rater.same_scale,
        "chosen": _query(found),
        "chosen_cell": f"{_query(found)}&{urlencode(cell)}",
    }
    return render(request, "evaluation/error_items.html", context)


@require_safe
@login_required
def errors_json(request: SignedInRequest, name: str) -> HttpResponse:
    """Everything on the page, as JSON."""
    found = _asked_for(request, name)
    return json_file(found.as_dict(), f"{name}-{found.criterion}-errors.json")


@require_safe
@login_required
def error_items_file(request: SignedInRequest, name: str, table_format: str) -> HttpResponseBase:
    """The items of a cell, or all errors, with texts and grades, as CSV or JSONL."""
    found = _asked_for(request, name)
    with refused_is_not_found():
        places = found.rows_of(**_cell(request)).tolist()
    stem = file_stem(name, found.criterion.name, "error-items")
    if table_format == "csv":
        return download(csv_lines(error_rows(found, places)), f"{stem}.csv")
    lines = (json.dumps(one, ensure_ascii=False) + "\n" for one in exported_errors(found, places))
    return download(lines, f"{stem}.jsonl")


@require_safe
@login_required
def errors_table(request: SignedInRequest, name: str, table: str, table_format: str) -> HttpResponse:
    """One of the page's tables as CSV or LaTeX: `confusion`, `groups` or `raters`."""
    found = _asked_for(request, name)
    caption = f"{CAPTIONS.get(table, table)}: {found.name} beside {found.against}, study {name}, {found.criterion}"
    return table_file(
        found.tables(),
        table,
        table_format=table_format,
        stem=file_stem(name, found.criterion.name, table),
        caption=caption,
    )


def _asked_for(request: SignedInRequest, name: str) -> Errors:
    """Return the errors that an address asks for."""
    with refused_is_not_found():
        return _errors(request, asked_criterion(request, name))


def _errors(request: SignedInRequest, criterion: Criterion) -> Errors:
    by = request.GET.get("by", "answers")
    if by not in BY:
        raise Http404("Errors are of answers or of grades.")
    asked = {
        "criterion": criterion.pk,
        "rater": request.GET.get("rater", ""),
        "against": request.GET.get("against") or PEOPLE,
        "by": by,
        "part": asked_part(request),
    }
    found: Errors = figures_of(request, "evaluation.computations:errors", criterion.study, **asked)
    return found


def _asks(request: SignedInRequest) -> bool:
    return any(request.GET.get(name) for name in ("rater", "against", "by", "part"))


def _cell(request: SignedInRequest) -> dict[str, str]:
    return {name: request.GET.get(name, "") for name in ("expected", "given")}


def _form(found: Errors) -> ErrorsForm:
    """Return the form of what is shown."""
    names = [(one.name, one.completeness.after(one.name)) for one in found.choices]
    asked: dict[str, Any] = {"rater": found.name, "against": found.against, "by": found.by}
    data = QueryDict(urlencode(asked))
    return ErrorsForm(data, choices={"rater": names, "against": [(PEOPLE, "people (majority)"), *names]})


def _query(found: Errors, *, part: bool = True) -> str:
    chosen = {"criterion": found.criterion.name, "rater": found.name, "against": found.against, "by": found.by}
    return urlencode(chosen | ({"part": "test"} if part and found.sight.part == "test" else {}))
