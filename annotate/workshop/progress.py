"""How far each topic of a workshop is, as one person may see it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q

from collection.banks.visibility import Role, Seen, part_of, seen_by
from collection.models import HandedIn, NuggetProposal, NuggetWorkshop, User, WorkshopTopic


@dataclass(frozen=True)
class TopicProgress:
    """A topic of a workshop: how many proposals the person sees (None: nothing yet), and what is to do."""

    workshop_topic: WorkshopTopic
    proposals: int | None
    waits_for: int
    mine: bool

    @property
    def decided(self) -> bool:
        return self.workshop_topic.decided_at is not None


def topics_with_progress(workshop: NuggetWorkshop, user: User | None) -> list[TopicProgress]:
    """Return the workshop's topics as `seen_by` says. `mine`: whether the person has something to do there now."""
    person = part_of(user, workshop) if user else None
    seen = seen_by(user, workshop)
    own = HandedIn.objects.filter(workshop_topic=OuterRef("pk"), person=person)
    rows = workshop.topics.select_related("topic", "version").annotate(
        n_in=Count("handed_in", distinct=True), handed=Exists(own)
    )
    own_alone = [topic for topic, what in seen.items() if what == Seen.OWN]
    shown = ~Q(workshop_topic__in=own_alone) | Q(person=person)
    stand = NuggetProposal.objects.filter(shown, workshop_topic__workshop=workshop).exclude(state="withdrawn")
    n_proposals = Counter(stand.values_list("workshop_topic", flat=True))
    n_people = workshop.people.filter(role=Role.PROPOSES).count()
    found = []
    for row in rows:
        waiting = n_people - row.n_in
        open_for = not row.decided_at and not workshop.closed_at and person is not None
        to_do = waiting == 0 if person and person.role == Role.DECIDES else not row.handed
        shown_of = None if seen[row.pk] == Seen.NOTHING else n_proposals[row.pk]
        found.append(TopicProgress(row, shown_of, waiting, mine=bool(open_for and to_do)))
    return found
