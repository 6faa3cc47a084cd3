"""The items behind each cell of the confusion matrix of errors."""

from __future__ import annotations

import json

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from collection.accounts.views import SignedInRequest
from collection.page_tools import download
from collection.web.file_names import file_stem
from collection.web.pages import query_without, refused_is_not_found
from collection.web.report_views import result_of
from evaluation.agreement.errors.items import SHOWN, error_items, error_rows, exported_errors
from evaluation.agreement.errors.report import Errors
from evaluation.agreement.reports import ErrorsReport
from stats.csv_files import csv_lines


@require_safe
@login_required
def error_items_page(request: SignedInRequest, name: str) -> HttpResponse:
    """The items of a cell, a row or a column, or all errors, a few at a time."""
    found, places, cell = _asked_for(request, name)
    page = Paginator(places, SHOWN).get_page(request.GET.get("page"))
    context = {
        "study": found.criterion.study,
        "criterion": found.criterion,
        "found": found,
        "cell_in_words": ", ".join(f"{side} {value}" for side, value in cell.items() if value).capitalize(),
        "page": page,
        "items": error_items(found, list(page.object_list)),
        "n_hidden": int(found.hidden.sum()),
        "may_be_examples": found.visibility.part == "development" and found.rater.same_scale,
        "query": query_without(request, "shown", "page", *cell),
        "query_of_cell": query_without(request, "shown", "page"),
    }
    return render(request, "evaluation/error_items.html", context)


@require_safe
@login_required
def error_items_file(request: SignedInRequest, name: str, table_format: str) -> HttpResponseBase:
    """The items of a cell, or all errors, with texts and grades, as CSV or JSONL."""
    found, places, _ = _asked_for(request, name)
    stem = file_stem(name, found.criterion.name, "error-items")
    if table_format == "csv":
        return download(csv_lines(error_rows(found, places)), f"{stem}.csv")
    lines = (json.dumps(one, ensure_ascii=False) + "\n" for one in exported_errors(found, places))
    return download(lines, f"{stem}.jsonl")


def _asked_for(request: SignedInRequest, name: str) -> tuple[Errors, list[int], dict[str, str]]:
    """Return the errors that an address asks for, the places of its items, and the cell."""
    found: Errors = result_of(ErrorsReport, request, name)
    cell = {side: request.GET.get(side, "") for side in ("expected", "given")}
    with refused_is_not_found():
        return found, found.rows_of(**cell).tolist(), cell
