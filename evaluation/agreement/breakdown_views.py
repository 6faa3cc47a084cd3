"""The pages that say where people agree and where not, down to a single item."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from collection.accounts.views import SignedInRequest
from collection.models import Criterion, Item
from evaluation.agreement.breakdowns import Breakdowns
from evaluation.agreement.disputed_items import opinions_of
from evaluation.parameters.downloads import TABLE_FORMATS, table_file
from evaluation.parameters.pages import (
    chosen_criterion,
    criteria_of,
    criteria_queryset,
    figures_of,
    json_file,
    my_study,
)


@require_safe
@login_required
def breakdowns(request: SignedInRequest, name: str) -> HttpResponse:
    """One criterion's agreement in detail, and the items that people dispute most."""
    study = my_study(request, name)
    criteria = criteria_of(study)
    chosen = chosen_criterion(criteria, request.GET.get("criterion"))

    found = _measured(request, chosen) if chosen else None

    context = {"study": study, "criteria": criteria, "criterion": chosen, "found": found}
    return render(request, "evaluation/breakdowns.html", context)


@require_safe
@login_required
def breakdowns_json(request: SignedInRequest, name: str) -> HttpResponse:
    """Everything on the page, as JSON."""
    found = _asked_for(request, name)
    return json_file(found.as_dict(), f"{name}-{found.criterion}-details.json")


@require_safe
@login_required
def breakdowns_table(request: SignedInRequest, name: str, table: str, table_format: str) -> HttpResponse:
    """One of the page's tables, `groups` or `disputed`, as CSV or LaTeX."""
    found = _asked_for(request, name)
    tables = found.tables()
    if table not in tables or table_format not in TABLE_FORMATS:
        raise Http404("This table does not exist.")
    stem = f"{name}-{found.criterion}-{table}"
    caption = f"Agreement under {found.criterion}, study {name}: {table}"
    return table_file(tables[table], table_format=table_format, stem=stem, caption=caption)


@require_safe
@login_required
def item(request: SignedInRequest, name: str, pk: int) -> HttpResponse:
    """Everything that was said of one item, side by side."""
    study = my_study(request, name)
    chosen = get_object_or_404(
        Item.objects.filter(study=study).select_related("topic", "element", "passage", "report__run"), pk=pk
    )
    return render(request, "evaluation/item.html", {"study": study, "item": chosen, "said": opinions_of(chosen)})


def _asked_for(request: SignedInRequest, name: str) -> Breakdowns:
    """Return what a download's address asks for."""
    criterion = get_object_or_404(criteria_queryset(my_study(request, name)), name=request.GET.get("criterion"))
    return _measured(request, criterion)


def _measured(request: SignedInRequest, criterion: Criterion) -> Breakdowns:
    found: Breakdowns = figures_of(request, "breakdowns", criterion.study, criterion=criterion.pk)
    return found
