"""A bank of three nuggets, and a workshop of it in which Ada and Ben propose and Dan decides."""

from __future__ import annotations

from collections.abc import Sequence

from annotate.workshop.proposing import hand_in, propose
from annotate.workshop.workshops import make_workshop
from collection.banks.changes import Worded
from collection.banks.versions import NewEntry, make_version
from collection.models import (
    BankVersion,
    Collection,
    NuggetBank,
    NuggetProposal,
    NuggetWorkshop,
    RubricElement,
    Study,
    Topic,
    User,
    WorkshopPerson,
    WorkshopTopic,
)
from tests.annotate.factories import NOON

NUGGETS = ("It was built of oak.", "It cost nine hundred florins.", "A flood took it in 1604.")


def a_bank(topic: Topic, *texts: str, name: str = "spring") -> NuggetBank:
    bank = NuggetBank.objects.create(collection=topic.collection, name=name)
    elements = [
        RubricElement.objects.create(topic=topic, kind="nugget", element_id=f"n-{place}", position=place, text=text)
        for place, text in enumerate(texts or NUGGETS)
    ]
    entries = [NewEntry(one.pk, "vital", 1.0) for one in elements]
    make_version(bank=bank, topics={topic.pk: entries}, by=None, at=NOON)
    return bank


def a_workshop(
    collection: Collection,
    proposers: Sequence[User],
    decider: User,
    *,
    study: Study | None = None,
    texts: Sequence[str] = NUGGETS,
) -> NuggetWorkshop:
    topic = collection.topics.order_by("pk")[0]
    return make_workshop(
        bank=a_bank(topic, *texts),
        proposers=proposers,
        decider=decider,
        topics=[topic],
        study=study,
        by=collection.owner,
        at=NOON,
    )


def the_topic(workshop: NuggetWorkshop) -> WorkshopTopic:
    return workshop.topics.select_related("workshop", "topic").get()


def person(workshop: NuggetWorkshop, user: User) -> WorkshopPerson:
    return workshop.people.select_related("user").get(user=user)


def proposes(workshop: NuggetWorkshop, user: User, text: str, importance: str = "okay") -> NuggetProposal:
    """Have the person propose a new nugget."""
    return propose(
        workshop_topic=the_topic(workshop),
        person=person(workshop, user),
        kind="new",
        nuggets=[Worded(text, importance)],
        at=NOON,
    )


def all_hand_in(workshop: NuggetWorkshop, *, but: User | None = None) -> None:
    for one in workshop.people.filter(role="proposes").exclude(user=but):
        hand_in(workshop_topic=the_topic(workshop), person=one, at=NOON)


def texts_in(version: BankVersion | None) -> list[str]:
    assert version is not None
    return [entry.element.text for entry in version.entries.select_related("element").order_by("position")]


def element(workshop: NuggetWorkshop, place: int) -> RubricElement:
    return RubricElement.objects.get(topic=the_topic(workshop).topic, element_id=f"n-{place}")
