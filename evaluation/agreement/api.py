"""How far people agree, without judges, and the items behind the errors of a rater."""

from __future__ import annotations

from django.core.paginator import Paginator
from rest_framework.request import Request
from rest_framework.response import Response

from collection.web.api import CRITERION, chosen_by, criterion_of, shows
from collection.web.reports import reports
from evaluation.agreement.errors.items import SHOWN, error_items
from evaluation.agreement.errors.serializers import ErrorItemsChoice


@shows(
    "studies_agreement_of_people",
    "Agreement between a study's assessors: coefficients with 95 % intervals, or why there is none.",
    CRITERION,
)
def agreement_of_people(request: Request, name: str) -> Response:
    shown = request.query_params.getlist("shown")
    found = reports()["agreement"].result(criterion_of(request, name), {}, shown=shown)
    written = {"written_answers": found.written.as_dict()} if found.written else {}
    return Response(found.agreement.as_dict() | written)


@shows(
    "studies_error_items",
    f"The items of a cell of that matrix, or all errors: text, expected and given, reply, reason and each person’s "
    f"grade; {SHOWN} a page.",
    CRITERION,
    ErrorItemsChoice,
)
def error_items_page(request: Request, name: str) -> Response:
    chosen, shown = chosen_by(request, ErrorItemsChoice), request.query_params.getlist("shown")
    cell, page = {side: chosen.pop(side) for side in ("expected", "given")}, chosen.pop("page")
    found = reports()["errors"].result(criterion_of(request, name), chosen, shown=shown)
    pages = Paginator(found.rows_of(**cell).tolist(), SHOWN)
    items = error_items(found, list(pages.page(page).object_list)) if page <= pages.num_pages else []
    return Response({"count": pages.count, "pages": pages.num_pages, "results": [one.as_dict() for one in items]})
