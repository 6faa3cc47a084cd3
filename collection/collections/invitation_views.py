"""Invitations to research a collection: withdrawn by who sent them, answered by who got them."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.timezone import now
from django.views.decorators.http import require_POST

from collection.accounts.views import SignedInRequest
from collection.collections.sharing import NoInvitation, accept_collection, decline_collection, withdraw_invitation
from collection.models import Collection


@require_POST
@login_required
def invitation_withdraw(request: SignedInRequest, name: str, pk: int) -> HttpResponse:
    """Take an invitation back that was not accepted."""
    collection = get_object_or_404(Collection.objects.of(request.user), name=name)

    try:
        withdraw_invitation(collection=collection, pk=pk)
    except NoInvitation as gone:
        raise Http404 from gone

    messages.success(request, "The invitation is withdrawn.")
    return redirect("collection:collection", collection.name)


@require_POST
@login_required
def invitation_answer(request: SignedInRequest, pk: int, answer: str) -> HttpResponse:
    """Accept a collection that somebody shares, or decline it."""
    try:
        match answer:
            case "accept":
                accepted = accept_collection(pk=pk, by=request.user, at=now())
                return redirect("collection:collection", accepted.name)
            case "decline":
                decline_collection(pk=pk, by=request.user, at=now())
                messages.success(request, "The invitation is declined. The sender is not notified.")
                return redirect("collection:collections")
    except NoInvitation as gone:
        raise Http404 from gone
    raise Http404
