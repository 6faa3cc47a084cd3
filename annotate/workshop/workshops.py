"""Opening a nugget workshop, and whose it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Q, QuerySet

from collection.models import (
    Collection,
    HandedIn,
    NuggetBank,
    NuggetWorkshop,
    Rater,
    Study,
    Topic,
    User,
    WorkshopPerson,
    WorkshopTopic,
)

Role = WorkshopPerson.Role
LEAST_PROPOSERS = 2


class WrongPeople(ValueError):
    """A workshop needs two people at least who propose, and another one who decides."""


class NothingToWorkOn(ValueError):
    """The workshop has no topic."""


@transaction.atomic
def make_workshop(
    *,
    bank: NuggetBank,
    proposers: Iterable[User],
    decider: User,
    topics: Sequence[Topic] = (),
    study: Study | None = None,
    judge: Rater | None = None,
    by: User,
    at: datetime,
) -> NuggetWorkshop:
    """Open a workshop of the bank for these topics; all of the collection's where none is named.

    A judge words nuggets for those who propose, if they ask it to.

    Raises WrongPeople, and NothingToWorkOn.
    """
    people = list(dict.fromkeys(proposers))
    if len(people) < LEAST_PROPOSERS:
        raise WrongPeople("Choose at least two people who propose nuggets.")
    if decider in people:
        raise WrongPeople("The person who decides cannot be one of those who propose.")
    worked_on = list(topics) or list(bank.collection.topics.all())
    if not worked_on:
        raise NothingToWorkOn("The collection has no topic.")
    workshop = NuggetWorkshop.objects.create(bank=bank, study=study, judge=judge, made_by=by, made_at=at)
    roles = [*((user, Role.PROPOSES) for user in people), (decider, Role.DECIDES)]
    WorkshopPerson.objects.bulk_create(WorkshopPerson(workshop=workshop, user=user, role=role) for user, role in roles)
    WorkshopTopic.objects.bulk_create(WorkshopTopic(workshop=workshop, topic=topic) for topic in worked_on)
    return workshop


def close_workshop(*, workshop: NuggetWorkshop, at: datetime) -> None:
    """End the work. What was proposed and decided stays."""
    NuggetWorkshop.objects.filter(pk=workshop.pk, closed_at=None).update(closed_at=at)
    workshop.refresh_from_db(fields=["closed_at"])


def workshops_seen_by(user: User) -> QuerySet[NuggetWorkshop]:
    """Return the workshops of the person's collections, and those in which they take part."""
    mine = Q(pk__in=NuggetWorkshop.objects.of(user)) | Q(bank__collection__in=Collection.objects.of(user))
    return NuggetWorkshop.objects.filter(mine).select_related("bank__collection", "study", "judge")


def waits_for(workshop_topic: WorkshopTopic) -> int:
    """Return how many of those who propose have not handed the topic in."""
    done = HandedIn.objects.filter(workshop_topic=workshop_topic).values("person")
    return workshop_topic.workshop.people.filter(role=Role.PROPOSES).exclude(pk__in=done).count()
