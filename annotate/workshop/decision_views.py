"""A topic of a workshop for the third person: what all propose, side by side and without names, and the decision."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timezone import now
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotate.studies.lifecycle import WrongState, open_study
from annotate.task_types import NothingToJudge
from annotate.workshop.deciding import NotYours, TooEarly, accept, keep, reconsider, refuse
from annotate.workshop.listing import listed
from annotate.workshop.proposing import SpanDoesNotFit, WorkIsOver
from annotate.workshop.workshops import waits_for, workshops_seen_by
from collection.accounts.views import SignedInRequest
from collection.banks.changes import DoesNotFit
from collection.banks.forms import WordingForm
from collection.banks.proposals import proposals_of, standing_nuggets
from collection.banks.visibility import Role, Seen, numbered_people, part_of, researches, seen_by
from collection.languages.languages import in_readers_language
from collection.models import NuggetProposal, Study, WorkshopPerson, WorkshopTopic

REFUSALS = (NotYours, TooEarly, WorkIsOver, DoesNotFit, SpanDoesNotFit)


@dataclass(frozen=True)
class Voice:
    """What one person proposes. `name` is empty where it is not told."""

    number: int
    name: str
    proposals: list[NuggetProposal]


def _seen(request: SignedInRequest, pk: int, topic: int) -> tuple[WorkshopTopic, WorkshopPerson | None, Seen]:
    """Return the topic, and the deciding person if that is who asks. 404 for those who see their own work alone."""
    workshop = get_object_or_404(workshops_seen_by(request.user), pk=pk)
    held = get_object_or_404(workshop.topics.select_related("topic", "version"), topic=topic)
    held.workshop = workshop
    seen = seen_by(request.user, workshop)[held.pk]
    if seen == Seen.OWN:
        raise Http404
    person = part_of(request.user, workshop)
    return held, person if person is not None and person.role == Role.DECIDES else None, seen


@in_readers_language
@require_http_methods(["GET", "POST"])
@login_required
@never_cache
def workshop_decision(request: SignedInRequest, pk: int, topic: int) -> HttpResponse:
    """All proposals of a topic; posting accepts, refuses or reopens those that are chosen."""
    held, person, seen = _seen(request, pk, topic)
    form = WordingForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and person is None:
        raise Http404
    if person is not None and form.is_valid():
        try:
            _decide(request, held, person, form)
        except REFUSALS as refused:
            form.add_error(None, str(refused))
        else:
            return redirect("annotate:workshop_decision", pk, topic)
    return _page(request, held, person, form, seen)


def _page(
    request: SignedInRequest, held: WorkshopTopic, person: WorkshopPerson | None, form: WordingForm, seen: Seen
) -> HttpResponse:
    waiting = waits_for(held)
    voices = voices_of(held, seen)
    context = {
        "held": held,
        "topic": held.topic,
        "person": person,
        "waiting": waiting,
        "voices": voices,
        "decided": list(proposals_of(held).filter(person=person)) if person else [],
        "nuggets": listed(standing_nuggets(held)),
        "n_open": sum(one.state == "proposed" for voice in voices for one in voice.proposals),
        "form": form,
        "aligns": held.decided_at and held.workshop.study_id and researches(request.user, held.workshop),
        "may_decide": person is not None and not waiting and not held.decided_at and not held.workshop.closed_at,
    }
    return render(request, "annotate/workshop/workshop_decision.html", context, status=422 if form.errors else 200)


def voices_of(held: WorkshopTopic, seen: Seen) -> list[Voice]:
    """Return what each who proposes proposed, as far as it is seen."""
    if seen not in (Seen.UNNAMED, Seen.ALL):
        return []
    proposals = list(proposals_of(held))
    return [
        Voice(
            number,
            one.user.get_username() if seen == Seen.ALL else "",
            [proposal for proposal in proposals if proposal.person_id == one.pk],
        )
        for number, one in numbered_people(held).items()
    ]


@transaction.atomic
def _decide(request: SignedInRequest, held: WorkshopTopic, person: WorkshopPerson, form: WordingForm) -> None:
    asked = [int(one) for one in request.POST.getlist("proposal") if one.isdecimal() and len(one) < 10]
    chosen = list(held.proposals.filter(pk__in=asked))
    if not chosen:
        raise DoesNotFit(gettext("Choose proposals that are not decided."))
    match request.POST.get("do"):
        case "accept":
            is_split = chosen[0].kind == NuggetProposal.Kind.SPLIT
            said = form.nuggets(one_a_line=is_split) or None
            accept(workshop_topic=held, proposals=chosen, person=person, nuggets=said, at=now())
        case "refuse":
            for one in chosen:
                refuse(proposal=one, person=person, at=now())
        case "reconsider":
            for one in chosen:
                reconsider(proposal=one, person=person)
        case _:
            raise Http404


@in_readers_language
@require_POST
@login_required
def workshop_keep(request: SignedInRequest, pk: int, topic: int) -> HttpResponse:
    """Make the bank's next version of what was accepted."""
    held, person, _ = _seen(request, pk, topic)
    if person is None:
        raise Http404
    try:
        keep(workshop_topic=held, person=person, at=now())
    except REFUSALS as refused:
        messages.error(request, str(refused))
    return redirect("annotate:workshop_decision", pk, topic)


@in_readers_language
@require_POST
@login_required
def workshop_align(request: SignedInRequest, pk: int, topic: int) -> HttpResponse:
    """Add the new nuggets to the study, as its researcher: people and judges then say what answers them."""
    held, *_ = _seen(request, pk, topic)
    study = get_object_or_404(Study.objects.of(request.user), pk=held.workshop.study_id)
    try:
        made = open_study(study=study, at=now())
    except (WrongState, NothingToJudge) as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, f"{made} new {'task' if made == 1 else 'tasks'}.")
    return redirect("annotate:workshop_decision", pk, topic)
