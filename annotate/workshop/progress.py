"""How far each topic of a workshop is, as one person may see it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q

from annotate.workshop.workshops import Role
from collection.models import HandedIn, NuggetProposal, NuggetWorkshop, WorkshopPerson, WorkshopTopic


@dataclass(frozen=True)
class TopicProgress:
    """A topic of a workshop: the person's own proposals, those of all for who may see them, and what is to do."""

    workshop_topic: WorkshopTopic
    proposals: int
    waits_for: int
    mine: bool

    @property
    def decided(self) -> bool:
        return self.workshop_topic.decided_at is not None


def topics_with_progress(workshop: NuggetWorkshop, person: WorkshopPerson | None) -> list[TopicProgress]:
    """Return the workshop's topics. `mine`: whether the person has something to do there now."""
    own = HandedIn.objects.filter(workshop_topic=OuterRef("pk"), person=person)
    rows = workshop.topics.select_related("topic", "version").annotate(
        n_in=Count("handed_in", distinct=True), handed=Exists(own)
    )
    seen = Q() if person is None or person.role == Role.DECIDES else Q(person=person)
    stand = NuggetProposal.objects.filter(seen, workshop_topic__workshop=workshop).exclude(state="withdrawn")
    n_proposals = Counter(stand.values_list("workshop_topic", flat=True))
    n_people = workshop.people.filter(role=Role.PROPOSES).count()
    found = []
    for row in rows:
        waiting = n_people - row.n_in
        open_for = not row.decided_at and not workshop.closed_at and person is not None
        to_do = waiting == 0 if person and person.role == Role.DECIDES else not row.handed
        found.append(TopicProgress(row, n_proposals[row.pk], waiting, mine=bool(open_for and to_do)))
    return found
