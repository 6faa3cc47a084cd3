"""The researcher's pages about people: all of a study with their flags, and one with the evidence."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotate.quality.people import ORDERS, detail_of, in_order, people_of
from annotate.quality.screening import readmit
from annotate.studies.views import exclude_person, include_person, person_of
from collection.accounts.access import study_of
from collection.accounts.views import SignedInRequest
from stats.overviews_in_words import assessors_differ


@require_safe
@login_required
@never_cache
def people(request: SignedInRequest, name: str) -> HttpResponse:
    """Everybody who is or was in the study, those with most flags first."""
    study = study_of(request.user, name)
    order = request.GET.get("order", "flags")
    order = order if order in ORDERS else "flags"
    everybody = in_order(people_of(study), order)
    n_flagged = sum(1 for person in everybody if person.flags)
    agreements = {str(one.user): (one.agreement.value, one.agreement.n) for one in everybody if one.agreement}
    context = {
        "study": study,
        "people": everybody,
        "order": order,
        "orders": ORDERS,
        "answer": assessors_differ(agreements, n_flagged, len(everybody)),
    }
    return render(request, "annotate/quality/people.html", context)


@require_safe
@login_required
@never_cache
def person(request: SignedInRequest, name: str, username: str) -> HttpResponse:
    """One assessor: where they stand, how they work, and what deserves a look."""
    study = study_of(request.user, name)
    user = person_of(study, username)
    return render(request, "annotate/quality/person.html", {"study": study, "detail": detail_of(study, user)})


@require_POST
@login_required
def person_exclude(request: SignedInRequest, name: str, username: str) -> HttpResponse:
    """Leave the person out of the statistics, for a reason. Labels stay."""
    study = study_of(request.user, name)
    exclude_person(request, study, person_of(study, username))
    return redirect("annotate:person", study.name, username)


@require_POST
@login_required
def person_include(request: SignedInRequest, name: str, username: str) -> HttpResponse:
    """Count the person in the statistics again."""
    study = study_of(request.user, name)
    include_person(request, study, person_of(study, username))
    return redirect("annotate:person", study.name, username)


@require_POST
@login_required
def person_readmit(request: SignedInRequest, name: str, username: str) -> HttpResponse:
    """Let a screened-out person back in."""
    study = study_of(request.user, name)
    user = person_of(study, username)

    if readmit(study=study, user=user, at=now()):
        messages.success(request, f"{user} is readmitted, and starts the training again if there is one.")
    return redirect("annotate:person", study.name, user.username)
