"""The seed questions of a collection: the best of each category, looked at before they are taken."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timezone import now
from django.views.decorators.http import require_http_methods

from collection.accounts.views import SignedInRequest
from collection.models import Collection
from judging.building.seeds.forms import SeedsForm
from stats.plurals import counted


@require_http_methods(["GET", "POST"])
@login_required
def seeds(request: SignedInRequest, name: str) -> HttpResponse:
    """Choose seed questions; posting shows which they would be, and takes them once they were seen."""
    collection = get_object_or_404(Collection.objects.of(request.user), name=name)
    form = SeedsForm(request.POST or None, collection=collection)
    if form.is_valid() and "take" in request.POST:
        taken = form.take(by=request.user, at=now())
        messages.success(request, f"New questions are made of {counted(taken, 'seed questions')} from now on.")
        return redirect("judging:builds", collection.name)
    context = {"collection": collection, "form": form}
    return render(request, "judging/seeds.html", context, status=422 if form.errors else 200)
