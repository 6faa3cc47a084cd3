"""The texts that people of a workshop read for a topic, and find nuggets in."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from django.db.models import Count, Min

from collection.banks.visibility import numbered_reports
from collection.models import (
    Citation,
    NuggetReference,
    Passage,
    RankedPassage,
    Report,
    WorkshopPerson,
    WorkshopTopic,
)

MOST = 200


@dataclass(frozen=True)
class WorkshopText:
    """A passage or a report, without its text. `relevant` is what its reader said, None where they said nothing."""

    key: str
    number: int
    title: str
    is_passage: bool
    relevant: bool | None = None


def texts_to_read(workshop_topic: WorkshopTopic, person: WorkshopPerson) -> list[WorkshopText]:
    """Return the topic's passages that are held here, then its reports, whose systems are not told.

    Passages stand by how many sentences cite them, then those that nuggets refer to, then by the best rank of any run.
    """
    topic = workshop_topic.topic_id
    cited = Citation.objects.filter(sentence__report__topic=topic).values_list("passage_id")
    ranked = RankedPassage.objects.filter(topic=topic).values_list("passage_id")
    names = [docno for docno, _ in cited.annotate(n=Count("pk")).order_by("-n", "passage_id")[:MOST]]
    names += NuggetReference.objects.filter(element__topic=topic).values_list("docno", flat=True)[:MOST]
    names += [docno for docno, _ in ranked.annotate(best=Min("rank")).order_by("best", "passage_id")[:MOST]]
    collection = workshop_topic.workshop.bank.collection_id
    held = {
        one.passage_id: one
        for one in Passage.objects.filter(collection=collection, passage_id__in=set(names), text__isnull=False).only(
            "passage_id", "title"
        )
    }
    said = dict(workshop_topic.relevance.filter(person=person).values_list("passage_id", "relevant"))
    found = [held[name] for name in dict.fromkeys(names) if name in held][:MOST]
    passages = [
        WorkshopText(f"p-{one.pk}", number, one.title or one.passage_id, is_passage=True, relevant=said.get(one.pk))
        for number, one in enumerate(found, start=1)
    ]
    reports = islice(numbered_reports(topic).items(), MOST)
    return passages + [WorkshopText(f"r-{pk}", number, "", is_passage=False) for number, (pk, _) in reports]


def text_named(workshop_topic: WorkshopTopic, key: str) -> Passage | Report | None:
    """Return the passage of the collection, or the report of the topic, of this key."""
    if not key:
        return None
    kind, pk = key.split("-")
    if kind == "r":
        return Report.objects.filter(pk=pk, topic=workshop_topic.topic_id).first()
    collection = workshop_topic.workshop.bank.collection_id
    return Passage.objects.filter(pk=pk, collection=collection, text__isnull=False).first()
