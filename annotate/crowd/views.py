"""The researcher's page of people from outside: entries, pay, sessions, invitations, personal data."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timezone import localtime, now
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate.assignments.kept_work import PlacesGone
from annotate.crowd import mturk, prolific
from annotate.crowd.forms import EntryForm, InvitationForm, StatusesForm
from annotate.crowd.pay_meter import PaidSession, PayMeter, note_top_ups_as_paid, pay_meter
from annotate.crowd.privacy import crowd_ids_of
from annotate.crowd.returns import NotToBeUndone, StatusesRead, return_session, take_statuses, undo_return
from annotate.crowd.session_flags import flags_of_time
from annotate.models import CrowdEntry, CrowdSession
from annotate.sessions.at_work import gates_in_words
from annotate.sessions.offers import announced_minutes
from annotate.studies.views import study_to_set_up
from collection.accounts.views import SignedInRequest
from collection.formats.problems import BrokenFile, InputFile
from collection.importing.uploads import on_disk
from collection.models import Study
from collection.page_tools import download, telling
from stats.csv_files import csv_text

SESSIONS_A_PAGE = 50
TWO_WEEKS = timedelta(days=14)
OWED = "owed-"
TOP_UP_COLUMNS = [
    "pseudonym", "crowd_id", "session_id", "cohort", "active_minutes", "active_capped", "elapsed_minutes",
    "elapsed_capped", "paid", "hourly", "floor", "top_up", "currency",
]  # fmt: skip


@require_safe
@login_required
@never_cache
def crowd(request: SignedInRequest, name: str) -> HttpResponse:
    """Everything about people from outside. htmx asks for the pay meters alone."""
    study = study_to_set_up(request, name)
    if request.htmx:
        return render(request, "annotate/crowd/meters.html", {"study": study, "meters": meters_of(study)})
    return render_crowd(request, study)


def render_crowd(
    request: SignedInRequest,
    study: Study,
    *,
    statuses_form: StatusesForm | None = None,
    broken: BrokenFile | None = None,
    invitation_form: InvitationForm | None = None,
    status: int = 200,
) -> HttpResponse:
    sessions = CrowdSession.objects.filter(entry__study=study).select_related("participant__user", "entry")
    meters = meters_of(study)
    page = Paginator(sessions.order_by("-arrived_at", "-pk"), SESSIONS_A_PAGE).get_page(request.GET.get("page"))
    work = {pk: done for meter in meters for pk, done in meter.work.items()}
    flags = {pk: found for meter in meters for pk, found in flags_of_time(meter).items()}
    context = {
        "study": study,
        "sites": [(site, entry_with_link(request, meters, site)) for site in CrowdEntry.Site],
        "meters": meters,
        "sessions": page,
        "rows": [(session, work[session.pk], flags.get(session.pk, ())) for session in page],
        "has_prolific": any(meter.entry.site == CrowdEntry.Site.PROLIFIC for meter in meters),
        "statuses_form": statuses_form or StatusesForm(),
        "broken": broken,
        "invitations": invitations_of(request, study),
        "invitation_form": invitation_form or InvitationForm(initial={"expires_at": localtime(now() + TWO_WEEKS)}),
        "erasures": study.erasures.select_related("erased_by"),
    }
    return render(request, "annotate/crowd/crowd.html", context, status=status)


def meters_of(study: Study) -> list[PayMeter]:
    """Measure the study's entries, in the order of the sites."""
    entries = {entry.site: entry for entry in study.crowd_entries.select_related("study")}
    return [pay_meter(entries[site]) for site in CrowdEntry.Site if site in entries]


def invitations_of(request: SignedInRequest, study: Study) -> list[dict[str, Any]]:
    invitations = study.invitations.select_related("created_by").prefetch_related("participants__user", "enrolments")
    rows = []
    for invitation in invitations:
        participants, enrolments = list(invitation.participants.all()), list(invitation.enrolments.all())
        over = bool(invitation.revoked_at) or invitation.has_expired(now())
        rows.append(
            {
                "invitation": invitation,
                "url": request.build_absolute_uri(f"/i/{invitation.token}/"),
                "participants": participants,
                "n_used": len(participants) + len(enrolments),
                "is_over": over or len(participants) + len(enrolments) >= invitation.most_uses,
                "has_expired": invitation.has_expired(now()),
            }
        )
    return rows


# --- Entries ------------------------------------------------------------------------------------


def entry_with_link(
    request: SignedInRequest, meters: Iterable[PayMeter], site: CrowdEntry.Site
) -> dict[str, Any] | None:
    """Return the study's entry for the site with what to paste there; None: there is none yet."""
    entry = next((meter.entry for meter in meters if meter.entry.site == site), None)
    if entry is None:
        return None
    if site == CrowdEntry.Site.PROLIFIC:
        url = request.build_absolute_uri(f"/p/{entry.token}/")
        return {"entry": entry, "url": f"{url}?{prolific.query_of_a_link()}"}
    url = request.build_absolute_uri(f"/m/{entry.token}/")
    return {"entry": entry, "url": url, "xml": mturk.external_question(url)}


@require_http_methods(["GET", "POST"])
@login_required
@never_cache
def crowd_entry(request: SignedInRequest, name: str, site: str) -> HttpResponse:
    """Make the entry for a site, or change it."""
    study = study_to_set_up(request, name)
    entry = study.crowd_entries.filter(site=site).first()
    is_new = entry is None
    entry = entry or CrowdEntry(
        study=study,
        site=site,
        created_by=request.user,
        contact=request.user.email,
        signed_links=site == CrowdEntry.Site.PROLIFIC,
    )
    if is_new:
        entry.estimated_minutes = announced_minutes(study)
    if is_new and site == CrowdEntry.Site.MTURK:
        entry.currency = "USD"
    form = EntryForm(request.POST or None, instance=entry)

    if form.is_valid():
        form.save()
        said = f"The entry for {entry.get_site_display()} is {'created' if is_new else 'changed'}."
        messages.success(request, said + ("" if is_new else gates_in_words(study, at=now())))
        return redirect("annotate:crowd", study.name)

    context = {"study": study, "entry": entry, "is_new": is_new, "form": form}
    return render(request, "annotate/crowd/entry.html", context, status=422 if form.errors else 200)


# --- Pay ----------------------------------------------------------------------------------------


@require_safe
@login_required
@never_cache
def crowd_top_ups(request: SignedInRequest, name: str, site: str) -> HttpResponseBase:
    """Who was paid less than the floor, and what each lacks, as CSV. With crowd ids: nobody is paid without."""
    study = study_to_set_up(request, name)
    entry = get_object_or_404(study.crowd_entries, site=site)
    crowd_ids = crowd_ids_of(study)
    rows = [top_up_row(paid, crowd_ids) for paid in pay_meter(entry).everybody.below]
    return download(csv_text([TOP_UP_COLUMNS, *rows]), f"{study.name}-{site}-top-ups.csv")


def top_up_row(paid: PaidSession, crowd_ids: dict[str, str]) -> list[Any]:
    session = paid.session
    return [
        str(session.participant),
        crowd_ids.get(session.participant.user.username, ""),
        session.session_id,
        session.cohort,
        f"{paid.active / 60:.1f}",
        "yes" if paid.claimed else "",
        f"{paid.elapsed / 60:.1f}",
        "yes" if paid.paused else "",
        paid.paid,
        "" if paid.hourly is None else f"{paid.hourly:.2f}",
        session.terms.floor,
        paid.top_up,
        session.terms.currency,
    ]


@require_POST
@login_required
def crowd_top_ups_paid(request: SignedInRequest, name: str, site: str) -> HttpResponse:
    """Count the top-ups that the page listed as paid."""
    study = study_to_set_up(request, name)
    entry = get_object_or_404(study.crowd_entries, site=site)

    n_paid = note_top_ups_as_paid(entry=entry, owed=read_owed(request.POST))

    messages.success(request, f"{n_paid} top-up{'s' if n_paid != 1 else ''} counted as paid.")
    return redirect("annotate:crowd", study.name)


def read_owed(posted: QueryDict) -> dict[int, Decimal]:
    """Return what the form lists as owed, by session. What is no amount is left out."""
    owed = {}
    for field, value in posted.items():
        key = field.removeprefix(OWED)
        try:
            amount = Decimal(str(value))
        except InvalidOperation:
            continue
        if field.startswith(OWED) and key.isdecimal() and len(key) < 19 and amount.is_finite() and amount > 0:
            owed[int(key)] = amount
    return owed


# --- Sessions -----------------------------------------------------------------------------------


@require_POST
@login_required
def crowd_return(request: SignedInRequest, name: str, pk: int) -> HttpResponse:
    """Mark a session as returned: its places are free again."""
    study = study_to_set_up(request, name)
    session = get_object_or_404(CrowdSession.objects.select_related("participant__user"), entry__study=study, pk=pk)

    if return_session(session=session, at=now()):
        messages.success(request, f"The session of {session.participant} is returned; its places are free.")
    else:
        messages.warning(request, f"The session of {session.participant} was already {session.get_state_display()}.")
    return redirect("annotate:crowd", study.name)


@require_POST
@login_required
def crowd_undo_return(request: SignedInRequest, name: str, pk: int) -> HttpResponse:
    """Bring a returned session back with its work, unless others have its places by now."""
    study = study_to_set_up(request, name)
    session = get_object_or_404(CrowdSession.objects.select_related("participant__user"), entry__study=study, pk=pk)

    with telling(request, NotToBeUndone, PlacesGone):
        undo_return(session=session, at=now())
        state = session.get_state_display()
        messages.success(request, f"The session of {session.participant} is {state} again, with its labels.")
    return redirect("annotate:crowd", study.name)


@require_POST
@login_required
def crowd_statuses(request: SignedInRequest, name: str) -> HttpResponse:
    """Read Prolific's export of submissions: how each stands, and whose places are free again."""
    study = study_to_set_up(request, name)
    entry = get_object_or_404(study.crowd_entries, site=CrowdEntry.Site.PROLIFIC)
    form = StatusesForm(request.POST, request.FILES)

    if not form.is_valid():
        return render_crowd(request, study, statuses_form=form, status=422)
    upload = form.cleaned_data["statuses"]
    with on_disk(upload) as path:
        try:
            with InputFile(path, name=upload.name) as file:
                submissions = list(prolific.read_submissions(file))
        except BrokenFile as broken:
            return render_crowd(request, study, broken=broken, status=422)
    messages.success(request, told(take_statuses(entry=entry, submissions=submissions, at=now())))
    return redirect("annotate:crowd", study.name)


def told(read: StatusesRead) -> str:
    said = f"{read.known} submissions are known here: {len(read.returned)} newly returned, "
    said += f"{len(read.timed_out)} newly timed out; their places are free."
    if read.timed_out_but_completed:
        names = ", ".join(session.participant.user.username for session in read.timed_out_but_completed)
        said += f" Timed out there but completed here, so their labels are kept: {names}. You can still pay them."
    if read.unknown:
        said += f" {read.unknown} never arrived here."
    return said
