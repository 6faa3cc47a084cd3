"""A topic of a workshop, for those who propose: read, judge relevance, propose, withdraw, hand in."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotate.workshop.forms import ProposalForm
from annotate.workshop.listing import Listed, listed
from annotate.workshop.proposing import (
    SpanDoesNotFit,
    WorkIsOver,
    hand_in,
    judge_relevance,
    propose,
    refuse_what_is_over,
    withdraw,
)
from annotate.workshop.texts import WorkshopText, text_named, texts_to_read
from annotate.workshop.workshops import Role
from collection.accounts.views import SignedInRequest
from collection.banks.changes import DoesNotFit
from collection.banks.proposals import proposals_of, standing_nuggets
from collection.languages.languages import in_readers_language
from collection.models import NuggetProposal, NuggetWording, Passage, WorkshopPerson, WorkshopTopic
from collection.texts.lines import lines_of

Own = tuple[WorkshopTopic, WorkshopPerson]


@in_readers_language
@require_http_methods(["GET", "POST"])
@login_required
@never_cache
def workshop_topic(request: SignedInRequest, pk: int, topic: int) -> HttpResponse:
    """The topic's texts and nuggets; posting proposes a change."""
    held, person = own_topic(request, pk, topic)
    if person.role == Role.DECIDES:
        return redirect("annotate:workshop_decision", pk, topic)
    nuggets = listed(standing_nuggets(held))
    sent = request.POST if request.method == "POST" else None
    form = ProposalForm(sent, elements=[one.key for one in nuggets], initial=_begun(request, nuggets))
    if form.is_valid():
        source = text_named(held, form.cleaned_data["source"])
        try:
            propose(
                workshop_topic=held,
                person=person,
                kind=form.change.kind,
                nuggets=form.change.nuggets,
                elements=form.cleaned_data["elements"],
                aggregator=form.change.aggregator,
                source=source,
                **form.span_in(source.text if source else None),
                wording=_taken(held, person, form.cleaned_data["wording"]),
                at=now(),
            )
        except (WorkIsOver, DoesNotFit, SpanDoesNotFit) as refused:
            form.add_error(None, str(refused))
        else:
            return redirect(_address(held, form.cleaned_data["source"], "proposals"))
    context = _context(request, held, person) | _form_context(form, nuggets)
    return render(request, "annotate/workshop/workshop_topic.html", context, status=422 if form.errors else 200)


def own_topic(request: SignedInRequest, pk: int, topic: int) -> Own:
    """Return the topic and whom the user is in its workshop. Answers 404 to everybody else."""
    people = WorkshopPerson.objects.select_related("user", "workshop__bank__collection", "workshop__study")
    person = get_object_or_404(people, workshop=pk, user=request.user)
    held = get_object_or_404(person.workshop.topics.select_related("topic", "version"), topic=topic)
    held.workshop = person.workshop
    return held, person


def _taken(held: WorkshopTopic, person: WorkshopPerson, pk: int | None) -> NuggetWording | None:
    """Return the judge's words that the person began with; none where there are none of theirs."""
    return held.wordings.filter(pk=pk, person=person, state=NuggetWording.State.DONE).first() if pk else None


def _begun(request: SignedInRequest, nuggets: list[Listed]) -> dict[str, Any]:
    """Return what the form begins with: a new nugget, or a change to the one that is asked for."""
    chosen = next((one for one in nuggets if str(one.key) == request.GET.get("change", "")), None)
    if chosen is None:
        return {"kind": NuggetProposal.Kind.NEW}
    said = {"text": chosen.text, "importance": chosen.importance, "weight": chosen.weight}
    return {"kind": NuggetProposal.Kind.REVISE, "elements": [chosen.key], **said}


def _form_context(form: ProposalForm, nuggets: list[Listed]) -> dict[str, Any]:
    chosen = {str(key) for key in form["elements"].value() or ()}
    return {"form": form, "nuggets": nuggets, "chosen": [one.key for one in nuggets if str(one.key) in chosen]}


def _context(request: SignedInRequest, held: WorkshopTopic, person: WorkshopPerson) -> dict[str, Any]:
    texts = texts_to_read(held, person)
    asked = request.POST.get("source") or request.GET.get("text", "")
    shown = next((one for one in texts if one.key == asked), texts[0] if texts else None)
    place = texts.index(shown) if shown else 0
    text = text_named(held, shown.key) if shown else None
    try:
        refuse_what_is_over(held, person)
        over = ""
    except WorkIsOver as why:
        over = str(why)
    return {
        "held": held,
        "topic": held.topic,
        "person": person,
        "texts": texts,
        "shown": shown,
        "previous": texts[place - 1] if place else None,
        "next": texts[place + 1] if place + 1 < len(texts) else None,
        "n_judged": sum(one.relevant is not None for one in texts),
        "n_passages": sum(one.is_passage for one in texts),
        "paragraphs": lines_of(text.text or "") if text else [],
        "proposals": proposals_of(held).filter(person=person),
        "over": over,
    }


def _address(held: WorkshopTopic, source: str = "", part: str = "") -> str:
    at = reverse("annotate:workshop_topic", args=[held.workshop_id, held.topic_id])
    return f"{at}{f'?text={source}' if source else ''}{f'#{part}' if part else ''}"


@in_readers_language
@require_POST
@login_required
def workshop_relevance(request: SignedInRequest, pk: int, topic: int) -> HttpResponse:
    """Keep whether a passage is relevant, and go on to the next that is not judged."""
    held, person = own_topic(request, pk, topic)
    texts = texts_to_read(held, person)
    shown = next((one for one in texts if one.key == request.POST.get("source") and one.is_passage), None)
    passage = text_named(held, shown.key) if shown else None
    if not isinstance(passage, Passage) or request.POST.get("relevant") not in ("yes", "no"):
        raise Http404
    relevant = request.POST["relevant"] == "yes"
    try:
        judge_relevance(workshop_topic=held, person=person, passage=passage, relevant=relevant, at=now())
    except WorkIsOver:
        return redirect(_address(held, f"p-{passage.pk}"))
    return redirect(_address(held, f"p-{passage.pk}" if relevant else _next_open(texts, f"p-{passage.pk}")))


def _next_open(texts: list[WorkshopText], key: str) -> str:
    """Return the passage behind this one that is not judged; this one where all are."""
    place = next(number for number, one in enumerate(texts) if one.key == key)
    later = texts[place + 1 :] + texts[:place]
    return next((one.key for one in later if one.is_passage and one.relevant is None), key)


@in_readers_language
@require_POST
@login_required
def workshop_withdrawn(request: SignedInRequest, pk: int, topic: int) -> HttpResponse:
    """Take one's own proposal back."""
    held, person = own_topic(request, pk, topic)
    asked = request.POST.get("proposal", "")
    mine = held.proposals.filter(person=person)
    proposal = get_object_or_404(mine, pk=int(asked) if asked.isdecimal() and len(asked) < 10 else 0)
    try:
        withdraw(proposal=proposal, person=person)
    except (WorkIsOver, DoesNotFit) as refused:
        context = _context(request, held, person) | {"refusal": str(refused)}
        nuggets = listed(standing_nuggets(held))
        form = ProposalForm(elements=[one.key for one in nuggets], initial=_begun(request, nuggets))
        context |= _form_context(form, nuggets)
        return render(request, "annotate/workshop/workshop_topic.html", context, status=422)
    return redirect(_address(held, request.POST.get("source", "")[:20], "proposals"))


@in_readers_language
@require_POST
@login_required
def workshop_hand_in(request: SignedInRequest, pk: int, topic: int) -> HttpResponse:
    """Be done with the topic."""
    held, person = own_topic(request, pk, topic)
    with suppress(WorkIsOver):  # who sends it twice has handed it in
        hand_in(workshop_topic=held, person=person, at=now())
    return redirect("annotate:workshop", pk)
