"""The relevance that people judged in a workshop, to go out: as qrels, and person by person."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from collection.models import NuggetWorkshop, WorkshopRelevance
from stats.csv_files import csv_text
from stats.refusals import Refused
from stats.votes import majority_of


@dataclass(frozen=True)
class Relevance:
    """What one person said of a passage; `person` names nobody."""

    topic_id: str
    docno: str
    person: str
    relevant: bool
    judged_at: datetime


def relevance_of(workshop: NuggetWorkshop) -> list[Relevance]:
    """Return what everybody said, topic by topic. People are numbered in the order in which they were chosen."""
    said = WorkshopRelevance.objects.filter(workshop_topic__workshop=workshop)
    people = workshop.people.order_by("pk").values_list("pk", flat=True)
    numbers = {pk: number for number, pk in enumerate(people, start=1)}
    rows = said.select_related("workshop_topic__topic", "passage").defer("passage__text").order_by(
        "workshop_topic__topic__topic_id", "passage__passage_id", "person"
    )  # fmt: skip
    return [
        Relevance(
            topic_id=row.workshop_topic.topic.topic_id,
            docno=row.passage.passage_id,
            person=f"assessor {numbers[row.person_id]}",
            relevant=row.relevant,
            judged_at=row.judged_at,
        )
        for row in rows
    ]


def relevance_qrels(said: Sequence[Relevance]) -> str:
    """Return one line a passage that anybody judged: 1 where most find it relevant, 0 where not and in a tie.

    Raises Refused for an id that no qrels can hold.
    """
    votes: dict[tuple[str, str], list[float]] = defaultdict(list)
    for one in said:
        votes[one.topic_id, one.docno].append(float(one.relevant))
    return "".join(
        f"{_word(topic)} 0 {_word(docno)} {majority_of(grades) or 0:g}\n" for (topic, docno), grades in votes.items()
    )


def relevance_table(said: Sequence[Relevance]) -> str:
    """Return CSV with a row for each person and passage."""
    return csv_text(_rows(said))


def _rows(said: Sequence[Relevance]) -> Iterator[Sequence[Any]]:
    yield "topic_id", "docno", "rater", "grade", "judged_at"
    for one in said:
        yield one.topic_id, one.docno, one.person, int(one.relevant), one.judged_at.isoformat()


def _word(name: str) -> str:
    if not name or any(character.isspace() for character in name):
        raise Refused(f"The id “{name}” has white space in it, and qrels are read word by word. Take the CSV.")
    return name
