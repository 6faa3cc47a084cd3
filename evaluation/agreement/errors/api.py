"""Where a rater errs, and the items behind it."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Paginator
from rest_framework.request import Request
from rest_framework.response import Response

from collection.models import Criterion
from collection.web.api import CRITERION, chosen_by, criterion_of, figures_of, shows
from evaluation.agreement.errors.items import SHOWN, error_items
from evaluation.agreement.errors.report import Errors
from evaluation.agreement.errors.serializers import ErrorItemsChoice, ErrorsChoice


@shows(
    "studies_errors",
    "Where a rater errs beside people or another rater: confusion matrix, errors by topic, length and expected grade, "
    "and all pairs of raters, with 95 % intervals over topics.",
    CRITERION,
    ErrorsChoice,
)
def errors(request: Request, name: str) -> Response:
    criterion = criterion_of(request, name)
    return Response(_errors(request, criterion, chosen_by(request, ErrorsChoice)).as_dict())


@shows(
    "studies_error_items",
    f"The items of a cell of that matrix, or all errors: text, expected and given, reply, reason and each person’s "
    f"grade; {SHOWN} a page.",
    CRITERION,
    ErrorItemsChoice,
)
def error_items_page(request: Request, name: str) -> Response:
    criterion = criterion_of(request, name)
    chosen = chosen_by(request, ErrorItemsChoice)
    cell, page = {side: chosen.pop(side) for side in ("expected", "given")}, chosen.pop("page")
    found = _errors(request, criterion, chosen)
    pages = Paginator(found.rows_of(**cell).tolist(), SHOWN)
    shown = error_items(found, list(pages.page(page).object_list)) if page <= pages.num_pages else []
    return Response({"count": pages.count, "pages": pages.num_pages, "results": [one.as_dict() for one in shown]})


def _errors(request: Request, criterion: Criterion, chosen: dict[str, Any]) -> Errors:
    found: Errors = figures_of(
        request, "evaluation.computations:errors", criterion.study, criterion=criterion.pk, **chosen
    )
    return found
