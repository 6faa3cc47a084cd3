"""What is beside the reports of agreement: everything that was said of one item."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe

from collection.accounts.views import SignedInRequest
from collection.models import Item
from collection.web.pages import my_study
from evaluation.agreement.disputed_items import opinions_of


@require_safe
@login_required
def item(request: SignedInRequest, name: str, pk: int) -> HttpResponse:
    """Everything that was said of one item, side by side."""
    study = my_study(request, name)
    chosen = get_object_or_404(
        Item.objects.filter(study=study).select_related("topic", "element", "passage", "report__run"), pk=pk
    )
    return render(request, "evaluation/item.html", {"study": study, "item": chosen, "said": opinions_of(chosen)})


@require_safe
@login_required
def agreement_file(request: SignedInRequest, name: str, criterion: str, file: str) -> HttpResponse:
    """Lead an address that names its criterion in the path to the file, whose address asks for it."""
    my_study(request, name)
    return redirect(f"../{file}?criterion={criterion}", permanent=True)
