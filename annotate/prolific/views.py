"""The researcher's page of their account at Prolific: what can be asked of it, with its cost, and what was asked."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe

from annotate.crowd.views import told
from annotate.models import CrowdEntry, SiteToken
from annotate.prolific.forms import PlacesForm, SiteTokenForm
from annotate.prolific.plans import Kind, NotAsPlanned, Plan, plan_of, study_at_the_site
from annotate.prolific.requests import AlreadySettled, NotDone, carry_out, fetch_statuses, settle
from annotate.prolific.tokens import NoToken, forget_token, keep_token
from annotate.prolific.unattended import leave_alone, look_after
from annotate.studies.views import study_to_set_up
from collection.accounts.views import SignedInRequest
from collection.models import Study
from collection.page_tools import telling

LAST = 50
LONGEST_KEY = 19


@require_safe
@login_required
@never_cache
def prolific_account(request: SignedInRequest, name: str) -> HttpResponse:
    """What can be asked of Prolific, each with its preview. `places` asks for a preview of more places."""
    study = study_to_set_up(request, name)
    return render_account(request, study, entry_of(study))


@sensitive_post_parameters("token")
@require_POST
@login_required
def prolific_token(request: SignedInRequest, name: str) -> HttpResponse:
    """Keep the researcher's token, or delete it."""
    study = study_to_set_up(request, name)
    entry = entry_of(study)
    if "forget" in request.POST:
        forget_token(user=request.user)
        messages.success(request, "Your token is deleted here. Revoke it on Prolific too if nothing else needs it.")
        return redirect("annotate:prolific_account", study.name)
    form = SiteTokenForm(request.POST)

    if not form.is_valid():
        return render_account(request, study, entry, token_form=form, status=422)
    keep_token(user=request.user, token=form.cleaned_data["token"], at=now())
    messages.success(request, "Your token is stored. It is not shown again.")
    return redirect("annotate:prolific_account", study.name)


@require_POST
@login_required
def prolific_request(request: SignedInRequest, name: str, kind: str) -> HttpResponse:
    """Send what the page showed; `digest` names exactly that."""
    study = study_to_set_up(request, name)
    entry = entry_of(study)
    form = PlacesForm(request.POST)
    places = form.cleaned_data.get("places") if form.is_valid() else None

    with telling(request, NoToken, NotAsPlanned, NotDone):
        if kind == "statuses":
            messages.success(request, told(fetch_statuses(entry=entry, by=request.user, at=now())))
        else:
            digest = request.POST.get("digest", "")
            outcome = carry_out(
                entry=entry,
                kind=kind,
                digest=digest,
                by=request.user,
                at=now(),
                places=places,
                url=url_of(request, entry),
                chosen=chosen_in(request.POST) if kind == Kind.APPROVALS else None,
            )
            messages.success(request, outcome.said)
            for problem in outcome.problems:
                messages.warning(request, problem)
    return redirect("annotate:prolific_account", study.name)


def chosen_in(posted: QueryDict) -> set[int]:
    """Return the sessions that are ticked."""
    return {int(pk) for pk in posted.getlist("session") if pk.isdecimal() and len(pk) < LONGEST_KEY}


@require_POST
@login_required
def prolific_settle(request: SignedInRequest, name: str, pk: int) -> HttpResponse:
    """Say of a payment without an answer whether it was made."""
    study = study_to_set_up(request, name)
    asked = get_object_or_404(entry_of(study).site_requests, pk=pk)

    with telling(request, AlreadySettled):
        was_paid = "paid" in request.POST
        settle(request=asked, was_paid=was_paid, at=now())
        messages.success(request, f"The payment counts as {'paid' if was_paid else 'not paid'}.")
    return redirect("annotate:prolific_account", study.name)


@require_POST
@login_required
def prolific_unattended(request: SignedInRequest, name: str) -> HttpResponse:
    """Let statuses be read and returns be asked for without a click, under this researcher's token; or no longer."""
    study = study_to_set_up(request, name)
    entry = entry_of(study)

    with telling(request, NoToken):
        if "on" in request.POST:
            look_after(entry=entry, by=request.user)
            messages.success(request, "Statuses are read and returns asked for twice an hour, with your token.")
        else:
            leave_alone(entry=entry)
            messages.success(request, "Nothing is asked of Prolific without a click any more.")
    return redirect("annotate:prolific_account", study.name)


def entry_of(study: Study) -> CrowdEntry:
    return get_object_or_404(
        study.crowd_entries.select_related("study", "unattended_by"), site=CrowdEntry.Site.PROLIFIC
    )


def url_of(request: SignedInRequest, entry: CrowdEntry) -> str:
    return request.build_absolute_uri(f"/p/{entry.token}/")


def render_account(
    request: SignedInRequest,
    study: Study,
    entry: CrowdEntry,
    *,
    token_form: SiteTokenForm | None = None,
    status: int = 200,
) -> HttpResponse:
    places_form = PlacesForm(request.GET if "places" in request.GET else None)
    places = places_form.cleaned_data["places"] if places_form.is_bound and places_form.is_valid() else None
    url = url_of(request, entry)
    context = {
        "study": study,
        "entry": entry,
        "token": SiteToken.objects.filter(user=request.user).first(),
        "token_form": token_form or SiteTokenForm(),
        "places_form": places_form,
        "asks_places": places_form.is_bound,
        "site_study": study_at_the_site(entry),
        "plans": {kind.value: shown(plan_of(entry, kind, by=request.user, places=places, url=url)) for kind in Kind},
        "requests": entry.site_requests.select_related("asked_by")[:LAST],
    }
    return render(request, "annotate/prolific/prolific_account.html", context, status=status)


def shown(plan: Plan) -> dict[str, Any]:
    """Return the plan with the lines of its table."""
    lines = [(session, plan.amounts[pk], plan.flags.get(pk, ())) for pk, session in plan.sessions.items()]
    return {"plan": plan, "lines": lines}
