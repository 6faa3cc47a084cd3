"""How people from outside come in, and where they go when they are done."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from csp.decorators import csp_replace
from django.conf import settings
from django.contrib.auth import login, logout
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.timezone import now
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_http_methods, require_safe

from annotate.crowd import mturk, prolific, prolific_signatures
from annotate.crowd.before_work import before_work
from annotate.crowd.forms import InvitedForm
from annotate.crowd.invitations import (
    accept_as_oneself,
    accept_invitation,
    may_accept_as_themselves,
    person_of_link,
    refuse_if_over,
)
from annotate.models import CrowdEntry, CrowdSession, Enrolment, Invitation, Participant, Task
from annotate.participants.arrivals import Arrival, OddLink, signed, unsigned
from annotate.participants.arriving import arrive, refuse_or_recognise, refuse_where_all_is_taken
from annotate.participants.participants import NotLetIn
from annotate.quality.consent import consent_at_the_end
from annotate.quality.screening import screen_out_of
from annotate.sessions.outcomes import code_of
from annotate.sessions.sessions import GOES_ON, has_ended, n_submitted, session_of, share_of
from annotate.work.queue_views import redirect_to_next
from collection.accounts.views import SignedInRequest
from collection.languages.languages import chosen_in_browser, in_readers_language, learn, speak_as
from collection.models import Study, User

SAMPLE_LENGTH = 1_200
SAMPLE_QUESTIONS = 3
State = CrowdSession.State


# --- Prolific -----------------------------------------------------------------------------------


@in_readers_language
@require_http_methods(["GET", "POST"])
@never_cache
def prolific_entry(request: HttpRequest, token: str) -> HttpResponse:
    """Welcome whom Prolific sends; posting signs them in and gives them their work."""
    entry = entry_of(CrowdEntry.Site.PROLIFIC, token)
    speak_as(entry.study, request)
    try:
        if request.method == "POST":
            arrival = unsigned(entry, request.POST.get("arrival", ""))
            refuse_unless_vouched_for(entry, arrival)
            return start(request, entry, arrival)
        arrival = prolific.arrival_of(request.GET)
        if entry.signed_links:
            token = request.GET.get(prolific_signatures.TOKEN, "")
            arrival = prolific_signatures.vouched_for(arrival, token, host=request.get_host())
        return welcome(request, entry, arrival)
    except (OddLink, NotLetIn) as refused:
        return refuse(request, entry, refused)


def refuse_unless_vouched_for(entry: CrowdEntry, arrival: Arrival) -> None:
    """Raise OddLink for whoever opened the link before the entry began to insist on signatures."""
    if entry.signed_links and not arrival.vouched_for:
        raise OddLink(gettext("The page is too old. Please open the link again from Prolific."))


# --- Mechanical Turk ----------------------------------------------------------------------------


@in_readers_language
@require_safe
@never_cache
@xframe_options_exempt
def mturk_entry(request: HttpRequest, token: str) -> HttpResponse:
    """The page in Mechanical Turk's frame: a sample while the worker looks, then the way to the work and back.

    Only this page may be framed, and it takes no cookie: browsers keep them from frames of other sites. The work
    opens in a tab of its own; here the frame asks how far it is, by the signed token in its address.
    """
    with_its_policy = csp_replace(mturk.frame_policy())
    entry = entry_of(CrowdEntry.Site.MTURK, token)
    speak_as(entry.study, request)
    return cast(HttpResponse, with_its_policy(partial(framed, entry))(request))


def framed(entry: CrowdEntry, request: HttpRequest) -> HttpResponse:
    try:
        if mturk.is_preview(request.GET):
            return render(request, "annotate/crowd/mturk_preview.html", {"entry": entry, **sample_of(entry.study)})
        arrival = mturk.arrival_of(request.GET)
    except OddLink as refused:
        return refuse(request, entry, refused)
    return render(request, "annotate/crowd/mturk_frame.html", frame_context(entry, arrival))


@in_readers_language
@require_safe
@never_cache
def mturk_state(request: HttpRequest, token: str) -> HttpResponse:
    """How far the worker is: the part of the frame that is asked for again and again. 204: as far as it was seen."""
    entry = entry_of(CrowdEntry.Site.MTURK, token)
    speak_as(entry.study, request)
    try:
        arrival = unsigned(entry, request.GET.get("arrival", ""))
    except OddLink as refused:
        return refuse(request, entry, refused)
    context = frame_context(entry, arrival)
    if request.GET.get("seen") == context["seen"]:
        return HttpResponse(status=204)
    return render(request, "annotate/crowd/mturk_state.html", context)


@in_readers_language
@require_http_methods(["GET", "POST"])
@never_cache
def mturk_start(request: HttpRequest, token: str) -> HttpResponse:
    """The tab beside the frame: welcome the worker; posting signs them in and gives them their work."""
    entry = entry_of(CrowdEntry.Site.MTURK, token)
    speak_as(entry.study, request)
    sent = request.POST if request.method == "POST" else request.GET
    try:
        arrival = unsigned(entry, sent.get("arrival", ""))
        if request.method == "POST":
            return start(request, entry, arrival)
        return welcome(request, entry, arrival)
    except (OddLink, NotLetIn) as refused:
        return refuse(request, entry, refused)


def frame_context(entry: CrowdEntry, arrival: Arrival) -> dict[str, Any]:
    session = CrowdSession.objects.filter(
        entry=entry, session_id=arrival.session_id, participant__identity__crowd_id=arrival.crowd_id
    ).first()
    return {
        "entry": entry,
        "session": session,
        "seen": session.state if session else "nobody",
        "waits": session is None or session.state in GOES_ON,
        "arrival": signed(entry, arrival),
        "assignment_id": arrival.session_id,
        "submit_url": mturk.submit_url(arrival),
        "code": code_of(session) if session else "",
    }


def sample_of(study: Study) -> dict[str, Any]:
    """Return what a worker sees of the work before they accept it: the beginning of one task."""
    task = Task.objects.filter(study=study).select_related("topic", "report", "passage").order_by("position").first()
    text = (task.report or task.passage) if task else None
    whole = (text.text if text else "") or ""
    items = task.task_items.select_related("item__element")[:SAMPLE_QUESTIONS] if task else []
    return {
        "task": task,
        "text": whole[:SAMPLE_LENGTH],
        "is_cut": len(whole) > SAMPLE_LENGTH,
        "questions": [row.item.element.text for row in items if row.item.element],
        "guideline": study.guidelines.order_by("-version").first(),
    }


# --- Welcome and start --------------------------------------------------------------------------


def entry_of(site: CrowdEntry.Site, token: str) -> CrowdEntry:
    return get_object_or_404(CrowdEntry.objects.select_related("study"), site=site, token=token)


def welcome(request: HttpRequest, entry: CrowdEntry, arrival: Arrival) -> HttpResponse:
    """Say what the study asks and gives, and what is kept of the person. Nothing is kept yet.

    Whoever would not be let in reads so here, before they begin. Raises NotLetIn.
    """
    session, participant = refuse_or_recognise(entry, arrival)
    if participant is None:
        refuse_where_all_is_taken(entry.study, at=now())
    context = {
        "entry": session.terms if session else entry,
        "study": entry.study,
        "arrival": signed(entry, arrival),
        "n_submitted": n_submitted(session) if session else 0,
        "session": session,
        "has_ended": session is not None and has_ended(session),
        "before_work": before_work(entry.study, session),
        "other_user": other_user(request, participant),
    }
    return render(request, "annotate/crowd/welcome.html", context)


def start(request: HttpRequest, entry: CrowdEntry, arrival: Arrival) -> HttpResponse:
    session = arrive(entry=entry, arrival=arrival, at=now())
    sign_in_as(request, session.participant.user)
    return go_on(request, entry.study)


def go_on(request: HttpRequest, study: Study) -> HttpResponse:
    """Send whoever just signed in to their next task, or to what stands before it."""
    return redirect_to_next(cast(SignedInRequest, request), study)


def sign_in_as(request: HttpRequest, user: User) -> None:
    """Sign the person in. Whoever used this browser before is signed out, with all that their session held."""
    if request.user.is_authenticated and request.user.pk != user.pk:
        logout(request)
    login(request, user, backend=settings.AUTHENTICATION_BACKENDS[-1])
    learn(user, chosen_in_browser(request))


def other_user(request: HttpRequest, participant: Participant | None) -> User | None:
    """Return who is signed in here, if it is somebody else."""
    if not isinstance(request.user, User):
        return None
    return None if participant and participant.user_id == request.user.pk else request.user


def refuse(
    request: HttpRequest, entry: CrowdEntry | None, refused: Exception, *, study: Study | None = None
) -> HttpResponse:
    """Tell the person why they do not come in. 400: the link is odd; 403: they may not, or not now."""
    is_odd = isinstance(refused, OddLink)
    context = {"entry": entry, "study": entry.study if entry else study, "refusal": str(refused), "is_odd": is_odd}
    if entry and entry.site == CrowdEntry.Site.PROLIFIC and not is_odd:
        context["return_url"] = prolific.submissions_url()
    status = 400 if is_odd else 403
    return render(request, "annotate/crowd/refused.html", context, status=status)


# --- The end ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class End:
    """What the last page says. Without a code the person returns their place at the site."""

    session: CrowdSession
    code: str

    @property
    def code_url(self) -> str:
        return prolific.completion_url(self.code)

    @property
    def return_url(self) -> str:
        return prolific.submissions_url()


@in_readers_language
@require_safe
@login_required
@never_cache
def crowd_end(request: SignedInRequest, name: str) -> HttpResponse:
    """The end of a session, with its code, or how to go on where it has not ended."""
    study = get_object_or_404(Study, name=name, participants__user=request.user)
    session = session_of(study=study, user=request.user)
    if session is None:
        return redirect("annotate:queue")
    context = {
        "study": study,
        "session": session,
        "entry": session.entry,
        "end": End(session, code_of(session)),
        "out": screen_out_of(study=study, user=session.participant.user),
        "share": share_of(session) if session.state == State.TOO_FEW else None,
    }
    context |= consent_at_the_end(study, request.user)
    return render(request, "annotate/crowd/end.html", context)


# --- Invitations --------------------------------------------------------------------------------


@in_readers_language
@require_http_methods(["GET", "POST"])
@never_cache
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Let an invited assessor in by their name; their own link to come back is shown this once."""
    invitation = get_object_or_404(Invitation.objects.select_related("study", "created_by"), token=token)
    study = invitation.study
    speak_as(study, request)
    if Enrolment.objects.filter(study=study, user=request.user.pk, left_at=None).exists():
        return render(request, "annotate/crowd/invited_already.html", {"study": study})
    themselves = isinstance(request.user, User) and may_accept_as_themselves(request.user)
    form = InvitedForm(None if "as_myself" in request.POST else request.POST or None)

    try:
        refuse_if_over(invitation, at=now())
        if "as_myself" in request.POST and isinstance(request.user, User):
            accept_as_oneself(invitation=invitation, user=request.user, at=now())
            return redirect("annotate:queue")
        if form.is_valid():
            participant, link = accept_invitation(
                invitation=invitation, name=form.cleaned_data["name"], email=form.cleaned_data["email"], at=now()
            )
            sign_in_as(request, participant.user)
            return render(request, "annotate/crowd/invited.html", {"study": study, "link": own_link(request, link)})
    except NotLetIn as refused:
        return refuse(request, None, refused, study=study)

    context = {"study": study, "invitation": invitation, "form": form, "other_user": other_user(request, None)}
    context["themselves"] = themselves
    return render(request, "annotate/crowd/invitation.html", context, status=422 if form.errors else 200)


def own_link(request: HttpRequest, token: str) -> str:
    return request.build_absolute_uri(reverse("annotate:come_back", args=[token]))


@in_readers_language
@require_http_methods(["GET", "POST"])
@never_cache
def come_back(request: HttpRequest, token: str) -> HttpResponse:
    """A person's own link: posting signs them in."""
    try:
        participant = person_of_link(token)
    except NotLetIn as refused:
        return refuse(request, None, refused)
    if participant is None:
        return refuse(
            request, None, OddLink(gettext("This link no longer works. Please ask whoever invited you for a new one."))
        )

    speak_as(participant.study, request)
    if request.method == "POST":
        sign_in_as(request, participant.user)
        return redirect("annotate:queue")
    context = {"participant": participant, "other_user": other_user(request, participant)}
    return render(request, "annotate/crowd/come_back.html", context)
