"""The pages that say where people agree and where not, down to a single item."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from collection.accounts.views import SignedInRequest
from collection.models import Criterion, Item
from collection.web.downloads import table_file
from collection.web.file_names import file_stem
from collection.web.pages import (
    asked_criterion,
    figures_of,
    json_file,
    my_study,
    study_and_criterion,
)
from evaluation.agreement.breakdowns import Breakdowns
from evaluation.agreement.disputed_items import opinions_of


@require_safe
@login_required
def breakdowns(request: SignedInRequest, name: str) -> HttpResponse:
    """One criterion's agreement in detail, and the items that people dispute most."""
    study, criteria, chosen = study_and_criterion(request, name)

    found = _measured(request, chosen) if chosen else None

    context = {"study": study, "criteria": criteria, "criterion": chosen, "found": found}
    return render(request, "evaluation/breakdowns.html", context)


@require_safe
@login_required
def breakdowns_json(request: SignedInRequest, name: str) -> HttpResponse:
    """Everything on the page, as JSON."""
    found = _asked_for(request, name)
    return json_file(found.as_dict(), f"{file_stem(name, found.criterion.name, 'details')}.json")


@require_safe
@login_required
def breakdowns_table(request: SignedInRequest, name: str, table: str, table_format: str) -> HttpResponse:
    """One of the page's tables, `groups` or `disputed`, as CSV or LaTeX."""
    found = _asked_for(request, name)
    stem = file_stem(name, found.criterion.name, table)
    caption = f"Agreement under {found.criterion}, study {name}: {table}"
    return table_file(found.tables(), table, table_format=table_format, stem=stem, caption=caption)


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
    return _measured(request, asked_criterion(request, name))


def _measured(request: SignedInRequest, criterion: Criterion) -> Breakdowns:
    found: Breakdowns = figures_of(
        request, "evaluation.computations:breakdowns", criterion.study, criterion=criterion.pk
    )
    return found
