"""What a person does with a topic of a workshop: judges relevance, proposes, withdraws, hands in."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext

from collection.banks.changes import Change, DoesNotFit, Worded, changed
from collection.banks.proposals import own_changes, standing_nuggets, texts_of
from collection.models import (
    HandedIn,
    NuggetProposal,
    NuggetWording,
    Passage,
    ProposedNugget,
    Report,
    RubricElement,
    WorkshopPerson,
    WorkshopRelevance,
    WorkshopTopic,
)

Kind = NuggetProposal.Kind
State = NuggetProposal.State
Role = WorkshopPerson.Role
MOST_PROPOSALS = 500


class WorkIsOver(Exception):
    """The workshop is closed, or the topic is decided or handed in."""


class SpanDoesNotFit(ValueError):
    """A span that is not in its text with the quote that was sent."""


@transaction.atomic
def propose(
    *,
    workshop_topic: WorkshopTopic,
    person: WorkshopPerson,
    kind: str,
    nuggets: Sequence[Worded] = (),
    elements: Sequence[RubricElement] = (),
    aggregator: str = "",
    source: Passage | Report | None = None,
    start: int | None = None,
    end: int | None = None,
    quote: str = "",
    wording: NuggetWording | None = None,
    at: datetime,
) -> NuggetProposal:
    """Propose a change to the topic's nuggets. Raises WorkIsOver, DoesNotFit and SpanDoesNotFit.

    `start` and `end` count code points of the source's text. The change must be one that can be made to the bank as it
    is now, after what the person proposed before. `wording` is what a judge proposed, where the nugget began with that.
    """
    held = locked(workshop_topic)
    refuse_what_is_over(held, person)
    change = Change(kind, tuple(one.pk for one in elements), tuple(nuggets), aggregator)
    refuse_what_does_not_fit(held, person, change)
    if start is not None or end is not None:
        check_span(source, start, end, quote)
    else:
        source, quote = None, ""
    proposal = NuggetProposal.objects.create(
        workshop_topic=held,
        person=person,
        kind=kind,
        aggregator=aggregator if kind == Kind.MERGE else "",
        passage=source if isinstance(source, Passage) else None,
        report=source if isinstance(source, Report) else None,
        start=start,
        end=end,
        quote=quote,
        wording=wording if len(nuggets) == 1 else None,
        made_at=at,
    )
    proposal.elements.set(elements)
    word(proposal, nuggets)
    return proposal


def word(proposal: NuggetProposal, nuggets: Sequence[Worded]) -> None:
    """Store the nuggets of a proposal just made."""
    ProposedNugget.objects.bulk_create(
        ProposedNugget(
            proposal=proposal, position=position, text=one.text, importance=one.importance, weight=one.weight
        )
        for position, one in enumerate(nuggets)
    )


def locked(workshop_topic: WorkshopTopic) -> WorkshopTopic:
    """Hold the topic's row until the transaction ends."""
    WorkshopTopic.objects.select_for_update().get(pk=workshop_topic.pk)
    return WorkshopTopic.objects.select_related("workshop__bank", "topic").get(pk=workshop_topic.pk)


def refuse_what_is_over(workshop_topic: WorkshopTopic, person: WorkshopPerson) -> None:
    """Raise WorkIsOver unless the person may work on the topic now."""
    if workshop_topic.workshop.closed_at:
        raise WorkIsOver(gettext("The workshop is closed."))
    if workshop_topic.decided_at:
        raise WorkIsOver(gettext("This is decided already."))
    if person.role == Role.PROPOSES and workshop_topic.handed_in.filter(person=person).exists():
        raise WorkIsOver(gettext("You have handed this topic in."))


def refuse_what_does_not_fit(workshop_topic: WorkshopTopic, person: WorkshopPerson, change: Change) -> None:
    """Raise DoesNotFit unless the change can be made after the person's others."""
    before = own_changes(workshop_topic, person)
    if len(before) >= MOST_PROPOSALS:
        raise DoesNotFit(gettext("There are too many proposals."))
    changed(standing_nuggets(workshop_topic), [*before, change], texts=texts_of(workshop_topic))


def check_span(source: Passage | Report | None, start: int | None, end: int | None, quote: str) -> None:
    """Raise SpanDoesNotFit unless the quote stands there in the source's text."""
    text = source.text if source else None
    if text is None or start is None or end is None or not 0 <= start < end <= len(text):
        raise SpanDoesNotFit(gettext("The highlight is not in the text."))
    if text[start:end] != quote:
        raise SpanDoesNotFit(gettext("The highlight is not in the text."))


@transaction.atomic
def withdraw(*, proposal: NuggetProposal, person: WorkshopPerson) -> None:
    """Take one's own proposal back. Raises WorkIsOver, and DoesNotFit where a later one of theirs builds on it."""
    held = locked(proposal.workshop_topic)
    refuse_what_is_over(held, person)
    mine = NuggetProposal.objects.filter(pk=proposal.pk, person=person, state=State.PROPOSED)
    if not mine.update(state=State.WITHDRAWN):
        raise WorkIsOver(gettext("This is decided already."))
    changed(standing_nuggets(held), own_changes(held, person), texts=texts_of(held))


@transaction.atomic
def judge_relevance(
    *, workshop_topic: WorkshopTopic, person: WorkshopPerson, passage: Passage, relevant: bool, at: datetime
) -> None:
    """Say whether a passage is relevant to the topic; the last word counts. Raises WorkIsOver."""
    held = locked(workshop_topic)
    refuse_what_is_over(held, person)
    WorkshopRelevance.objects.update_or_create(
        workshop_topic=held,
        person=person,
        passage=passage,
        defaults={"relevant": relevant, "judged_at": at},
    )


@transaction.atomic
def hand_in(*, workshop_topic: WorkshopTopic, person: WorkshopPerson, at: datetime) -> None:
    """Be done with proposing for the topic. Raises WorkIsOver."""
    held = locked(workshop_topic)
    refuse_what_is_over(held, person)
    if person.role == Role.PROPOSES:
        HandedIn.objects.get_or_create(workshop_topic=held, person=person, defaults={"at": at})
