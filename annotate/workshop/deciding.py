"""What the third person does: accepts, words otherwise, merges and refuses proposals, and keeps what was accepted."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext

from annotate.workshop.proposing import (
    check_span,
    locked,
    refuse_what_is_over,
    word,
)
from annotate.workshop.workshops import waits_for
from collection.banks.changes import DoesNotFit, Worded, changed
from collection.banks.keeping import keep_changes
from collection.banks.proposals import as_one, change_of, changes_in_force, proposals_of, standing_nuggets, texts_of
from collection.models import BankVersion, NuggetProposal, User, WorkshopPerson, WorkshopTopic

Kind = NuggetProposal.Kind
State = NuggetProposal.State
Role = WorkshopPerson.Role


class TooEarly(Exception):
    """Not everybody who proposes has handed the topic in, or not everything is decided."""


class NotYours(Exception):
    """Somebody else decides in this workshop."""


def _begin(workshop_topic: WorkshopTopic, person: WorkshopPerson) -> WorkshopTopic:
    """Hold the topic. Raises NotYours, WorkIsOver and TooEarly."""
    held = locked(workshop_topic)
    if person.role != Role.DECIDES or person.workshop_id != held.workshop_id:
        raise NotYours(gettext("Somebody else decides here."))
    refuse_what_is_over(held, person)
    if waits_for(held):
        raise TooEarly(gettext("Not everybody who proposes has handed this topic in."))
    return held


@transaction.atomic
def accept(
    *,
    workshop_topic: WorkshopTopic,
    proposals: Sequence[NuggetProposal],
    person: WorkshopPerson,
    nuggets: Sequence[Worded] | None = None,
    at: datetime,
) -> NuggetProposal:
    """Accept a proposal as it is; or in other words, or several as one. Returns what will be kept.

    Then it is a proposal of the deciding person, with the kind, the nuggets concerned and the source of the first, and
    these are taken into it. Raises NotYours, WorkIsOver, TooEarly and DoesNotFit.
    """
    held = _begin(workshop_topic, person)
    pks = [one.pk for one in proposals]
    waiting = list(proposals_of(held).filter(pk__in=pks, state=State.PROPOSED))
    if not waiting or len(waiting) < len(set(pks)):
        raise DoesNotFit(gettext("Choose proposals that are not decided."))
    said = as_one(waiting, None if nuggets is None else tuple(nuggets)).nuggets
    first = waiting[0]
    decided = {"state": State.ACCEPTED, "decided_by": person.user, "decided_at": at}
    kept = first
    if len(waiting) > 1 or said != change_of(first).nuggets:
        kept = _reworded(first, said, person, at)
    NuggetProposal.objects.filter(pk__in=pks).update(**decided, taken_into=None if kept is first else kept)
    _refuse_what_cannot_be_kept(held)
    return NuggetProposal.objects.get(pk=kept.pk)


def _reworded(first: NuggetProposal, nuggets: Sequence[Worded], person: WorkshopPerson, at: datetime) -> NuggetProposal:
    source = first.passage or first.report
    if first.start is not None:
        check_span(source, first.start, first.end, first.quote)
    kept = NuggetProposal.objects.create(
        workshop_topic=first.workshop_topic,
        person=person,
        kind=first.kind,
        aggregator=first.aggregator,
        passage=first.passage,
        report=first.report,
        start=first.start,
        end=first.end,
        quote=first.quote,
        wording=first.wording,
        made_at=at,
        state=State.ACCEPTED,
        decided_by=person.user,
        decided_at=at,
    )
    kept.elements.set(first.elements.all())
    word(kept, nuggets)
    return kept


def _refuse_what_cannot_be_kept(held: WorkshopTopic) -> None:
    """Raise DoesNotFit unless all that was accepted can be kept together."""
    accepted = changes_in_force(list(proposals_of(held)))
    changed(standing_nuggets(held), accepted, texts=texts_of(held))


@transaction.atomic
def refuse(*, proposal: NuggetProposal, person: WorkshopPerson, at: datetime) -> None:
    """Refuse a proposal. Raises NotYours, WorkIsOver and TooEarly."""
    held = _begin(proposal.workshop_topic, person)
    held.proposals.filter(pk=proposal.pk, state=State.PROPOSED).update(
        state=State.REFUSED, decided_by=person.user, decided_at=at
    )


@transaction.atomic
def reconsider(*, proposal: NuggetProposal, person: WorkshopPerson) -> None:
    """Take a decision back, as long as it is not kept; of a proposal made of others, these are open again.

    Raises NotYours, WorkIsOver and TooEarly, and DoesNotFit where something accepted later builds on it.
    """
    held = _begin(proposal.workshop_topic, person)
    found = held.proposals.select_related("taken_into", "person").get(pk=proposal.pk)
    whole = found.taken_into or found
    again = [found.pk] if whole.person_id != person.pk else list(whole.made_of.values_list("pk", flat=True))
    held.proposals.filter(pk__in=again).update(state=State.PROPOSED, decided_by=None, decided_at=None, taken_into=None)
    if whole.person_id == person.pk:
        held.proposals.filter(pk=whole.pk).update(state=State.WITHDRAWN, decided_by=None, decided_at=None)
    _refuse_what_cannot_be_kept(held)


@transaction.atomic
def keep(*, workshop_topic: WorkshopTopic, person: WorkshopPerson, at: datetime) -> BankVersion | None:
    """Make the bank's next version with what was accepted, and end the topic. Returns None if nothing changes.

    What is decided of the topic stays so. Raises NotYours, WorkIsOver, DoesNotFit, and TooEarly while a proposal is
    open.
    """
    held = _begin(workshop_topic, person)
    proposals = list(proposals_of(held))
    if any(one.state == State.PROPOSED for one in proposals):
        raise TooEarly(gettext("Decide on every proposal first."))
    version = keep_changes(
        bank=held.workshop.bank,
        topic=held.topic,
        changes=changes_in_force(proposals),
        by=_user(person),
        at=at,
        note=f"Workshop: {held.topic.topic_id}"[:500],
    )
    WorkshopTopic.objects.filter(pk=held.pk).update(decided_at=at, version=version)
    return version


def _user(person: WorkshopPerson) -> User:
    return User.objects.get(pk=person.user_id)
