"""What a person may see of a nugget workshop now: every page, route and file that shows some of it asks here.

People propose, and judge relevance, each without seeing the others; who decides does not know who said what. That
holds for researchers who take part too, until the work is over.
"""

from __future__ import annotations

from enum import StrEnum

from django.db.models import Count, Q

from collection.hidden_order import hidden_order
from collection.models import Collection, NuggetWorkshop, Report, User, WorkshopPerson, WorkshopTopic

Role = WorkshopPerson.Role


class Seen(StrEnum):
    """What somebody may see of what people propose and judge in a topic of a workshop."""

    NOTHING = "nothing"
    OWN = "own"
    UNNAMED = "all without names"
    ALL = "all"


def seen_by(user: User | None, workshop: NuggetWorkshop) -> dict[int, Seen]:
    """Return what the person may see now of each of the workshop's topics, by primary key of WorkshopTopic.

    Who proposes sees their own; who decides sees a topic without names once all who propose have handed it in, and
    nothing before. When the work is over, those who research the collection see all, as other researchers do all the
    time. Nobody (None) is the site's operator, who asks by command.
    """
    counted = Count("handed_in", filter=Q(handed_in__person__role=Role.PROPOSES), distinct=True)
    handed_in = dict(workshop.topics.annotate(n_in=counted).values_list("pk", "n_in"))
    person = part_of(user, workshop) if user else None
    if user is None or (researches(user, workshop) and (person is None or is_over(workshop))):
        return dict.fromkeys(handed_in, Seen.ALL)
    if person is None:
        return dict.fromkeys(handed_in, Seen.NOTHING)
    if person.role == Role.PROPOSES:
        return dict.fromkeys(handed_in, Seen.OWN)
    n_people = workshop.people.filter(role=Role.PROPOSES).count()
    return {topic: Seen.UNNAMED if n_in >= n_people else Seen.NOTHING for topic, n_in in handed_in.items()}


def sees_all(user: User | None, workshop: NuggetWorkshop) -> bool:
    """Whether the person may see who proposed and judged what in every topic."""
    return set(seen_by(user, workshop).values()) == {Seen.ALL}


def is_over(workshop: NuggetWorkshop) -> bool:
    """Whether nobody can propose, judge or decide in it any more: it is closed, or every topic is decided."""
    return workshop.closed_at is not None or not workshop.topics.filter(decided_at=None).exists()


def part_of(user: User, workshop: NuggetWorkshop) -> WorkshopPerson | None:
    """Return whom the user is in the workshop; None for a researcher who takes no part in it."""
    return workshop.people.filter(user=user).first()


def researches(user: User, workshop: NuggetWorkshop) -> bool:
    """Whether the workshop's bank is of one of the person's collections."""
    return Collection.objects.of(user).filter(pk=workshop.bank.collection_id).exists()


def numbered_people(held: WorkshopTopic) -> dict[int, WorkshopPerson]:
    """Return those who propose by numbers from 1, which do not say who they are and differ from topic to topic."""
    people = held.workshop.people.filter(role=Role.PROPOSES).select_related("user")
    shuffled = sorted(people, key=lambda one: hidden_order("workshop", held.pk, one.pk))
    return dict(enumerate(shuffled, start=1))


def numbered_reports(topic: int) -> dict[int, tuple[int, str]]:
    """Return the topic's reports, as (primary key, run), by numbers from 1, which do not say whose they are."""
    reports = Report.objects.filter(topic=topic).values_list("pk", "run__name")
    return dict(enumerate(sorted(reports, key=lambda one: hidden_order("report", one[0])), start=1))
