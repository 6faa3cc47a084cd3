"""What a researcher does about single people from outside: invitations, their links, their personal data."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Q
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotate.crowd.entry_views import own_link
from annotate.crowd.forms import InvitationForm
from annotate.crowd.invitations import make_invitation, renew_return_link, revoke_invitation
from annotate.crowd.privacy import crowd_ids_of, erase_person, personal_data_of
from annotate.crowd.views import render_crowd
from annotate.models import Invitation, Participant
from annotate.studies.views import study_to_set_up
from collection.accounts.access import study_of
from collection.accounts.views import SignedInRequest
from collection.exporting.judgments import exported_judgments
from collection.formats.judgments_reader import Format
from collection.models import User
from collection.page_tools import download

# --- Invitations --------------------------------------------------------------------------------


@require_POST
@login_required
def invitation_new(request: SignedInRequest, name: str) -> HttpResponse:
    """Make an invitation link."""
    study = study_to_set_up(request, name)
    form = InvitationForm(request.POST)

    if not form.is_valid():
        return render_crowd(request, study, invitation_form=form, status=422)
    make_invitation(
        study=study,
        note=form.cleaned_data["note"],
        most_uses=form.cleaned_data["most_uses"],
        expires_at=form.cleaned_data["expires_at"],
        by=request.user,
    )
    messages.success(request, "The invitation is created. Its link is below.")
    return redirect("annotate:crowd", study.name)


@require_POST
@login_required
def invitation_revoke(request: SignedInRequest, name: str, pk: int) -> HttpResponse:
    """Let nobody in by this link any more."""
    study = study_to_set_up(request, name)
    invitation = get_object_or_404(Invitation, study=study, pk=pk)

    revoke_invitation(invitation=invitation, at=now())

    messages.success(request, "The invitation is revoked. People who already joined keep access.")
    return redirect("annotate:crowd", study.name)


@require_POST
@login_required
@never_cache
def invitation_link(request: SignedInRequest, name: str, username: str) -> HttpResponse:
    """Give an invited person a new link of their own, shown this once. The old one opens nothing any more."""
    study = study_to_set_up(request, name)
    participant = get_object_or_404(
        Participant, study=study, user__username=username, invitation__isnull=False, user__is_active=True
    )

    token = renew_return_link(participant=participant, at=now())

    context = {"study": study, "participant": participant, "link": own_link(request, token)}
    return render(request, "annotate/crowd/invitation_link.html", context)


# --- Personal data ------------------------------------------------------------------------------


@require_safe
@login_required
@never_cache
def crowd_person(request: SignedInRequest, name: str, username: str) -> HttpResponse:
    """What is kept of one person, and its erasure."""
    study = study_to_set_up(request, name)
    person = get_object_or_404(User, username=username, enrolments__study=study)
    context = {"study": study, "person": person, "data": personal_data_of(study, person, by=request.user)}
    return render(request, "annotate/crowd/person.html", context)


@require_safe
@login_required
def crowd_find(request: SignedInRequest, name: str) -> HttpResponse:
    """Go to a person by what is known of them: their username, or the id that their crowd site knows them by."""
    study = study_to_set_up(request, name)
    sought = request.GET.get("sought", "").strip()
    identity = Q(participant__study=study, participant__identity__crowd_id=sought)
    people = User.objects.filter(Q(username=sought) | identity, enrolments__study=study).distinct()
    person = people.first() if sought else None

    if person is None:
        messages.error(request, f"Nobody in this study has the name or crowd id “{sought}”.")
        return redirect("annotate:crowd", study.name)
    return redirect("annotate:crowd_person", study.name, person.username)


@require_POST
@login_required
def crowd_erase(request: SignedInRequest, name: str, username: str) -> HttpResponse:
    """Erase what is kept of one person, with the words of their comments if asked; labels stay under the pseudonym."""
    study = study_to_set_up(request, name)
    person = get_object_or_404(User, username=username, enrolments__study=study)

    erasure = erase_person(
        study=study, user=person, by=request.user, at=now(), comments=request.POST.get("comments") == "on"
    )
    what = ", ".join(erasure.what) or "nothing was stored"
    messages.success(request, f"Erased of {erasure.pseudonym}: {what}. The labels are kept under this pseudonym.")
    return redirect("annotate:crowd", study.name)


@require_safe
@login_required
def crowd_judgments(request: SignedInRequest, name: str, table: Format) -> HttpResponseBase:
    """The study's judgments with a column of crowd ids, for its researchers, who asked for them here."""
    study = study_of(request.user, name)
    lines = exported_judgments(study, table=table, crowd_ids=crowd_ids_of(study))
    return download(lines, f"{study.name}-judgments-with-crowd-ids.{table}")
