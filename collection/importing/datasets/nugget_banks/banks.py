"""The elements and the entries of a nugget bank on their way in."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from collection.banks.versions import NewEntry, entries_of, make_version
from collection.formats.jsonl import TopicLine
from collection.formats.nugget_banks import MOST_ID, OURS, AssignedAnswer, BankTopic, Nugget, parts_of
from collection.formats.problems import BrokenLine, InputFile
from collection.importing.collections import CollectionRows
from collection.importing.datasets.nugget_banks.contents import add_content, hash_of, in_code_points
from collection.importing.rows import Imported
from collection.importing.trec import Topics
from collection.models import Collection, NuggetBank, Passage, RubricElement, User

NAMED_AFTER = re.compile(r"^nuggets?[-_.]", re.IGNORECASE)


@dataclass
class _Known:
    """The elements of a topic: by text, oldest first; and which ids and positions are taken."""

    by_text: dict[tuple[str, str], list[RubricElement]] = field(default_factory=lambda: defaultdict(list))
    ids: set[tuple[str, str]] = field(default_factory=set)
    next: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    def note(self, element: RubricElement) -> None:
        self.by_text[element.kind, element.text].append(element)
        self.ids.add((element.kind, element.element_id))
        self.next[element.kind] = max(self.next[element.kind], element.position + 1)


class Banks:
    """The elements and entries that a file brings."""

    def __init__(
        self,
        collection: Collection,
        *,
        file: InputFile,
        imported: Imported,
        bank: str,
        topic: str,
        with_topics: bool,
    ) -> None:
        self.collection = collection
        self.file = file
        self.imported = imported
        self.name = bank
        self.topic = topic
        self.rows = CollectionRows(collection, file=file, imported=imported)
        self.topics = Topics(self.rows, made=with_topics)
        self.bank = NuggetBank.objects.filter(collection=collection, name=bank).first()
        newest = self.bank.versions.order_by("number").last() if self.bank else None
        self.before = entries_of(newest) if newest else {}
        self.entries: dict[int, list[NewEntry]] = {}
        self.said: dict[str, Any] = {}
        self.elements: dict[int, _Known] = {}
        self.held: dict[str, str] = {}
        self.lines: dict[int, int] = {}

    def known(
        self, batch: Sequence[tuple[int, BankTopic | AssignedAnswer]]
    ) -> list[tuple[int, BankTopic | AssignedAnswer]]:
        """Return those whose topic is here; the others are noted, or their topic is made."""
        found: list[tuple[int, BankTopic | AssignedAnswer]] = []
        for number, one in batch:
            with self.file.line(number):
                topic = one.topic if isinstance(one, AssignedAnswer) else one
                if isinstance(one, BankTopic) and not topic.topic_id:
                    topic = one = replace(one, topic_id=self.topic or topic_of_file(self.file.name))
                if self.topics.made and (topic.topic_id,) not in self.rows.topics.pks:
                    self.rows.add(number, TopicLine(topic.topic_id, topic.request, topic.title))
                    self.rows.topics.flush()
                if self.topics.has(number, topic.topic_id):
                    found.append((number, one))
        return found

    def look_up(self, batch: Sequence[tuple[int, BankTopic | AssignedAnswer]]) -> None:
        """Read the elements of the batch's topics, and the texts that its nuggets refer to."""
        topics = [one.topic if isinstance(one, AssignedAnswer) else one for _, one in batch]
        wanted = {self.rows.topic_pk(topic.topic_id) for topic in topics} - self.elements.keys()
        self.elements |= {pk: _Known() for pk in wanted}
        elements = RubricElement.objects.filter(topic__in=wanted, masked=False)
        for element in elements.order_by("pk"):
            self.elements[element.topic_id].note(element)
        docnos = {
            reference.docno
            for topic in topics
            for nugget, _ in parts_of(topic.nuggets)
            for reference in (*nugget.references, *(ref for answer in nugget.answers for ref in answer.references))
            if reference.start is not None
        }
        passages = Passage.objects.filter(collection=self.collection, passage_id__in=docnos, text__isnull=False)
        self.held = {docno: text or "" for docno, text in passages.values_list("passage_id", "text")}

    def add(self, number: int, topic: BankTopic) -> None:
        """Take the nuggets of a topic. Raises BrokenLine."""
        pk = self.rows.topic_pk(topic.topic_id)
        if pk in self.lines:
            raise BrokenLine(
                f"The topic “{topic.topic_id}” stands in line {self.lines[pk]} already.", "Put its nuggets together."
            )
        self.lines[pk] = number
        self.entries[pk] = self._entries(pk, topic.nuggets)
        self.said[topic.topic_id] = {"form": topic.form, **({"says": topic.attributes} if topic.attributes else {})}

    def _entries(self, topic: int, nuggets: Sequence[Nugget]) -> list[NewEntry]:
        taken: set[int] = set()
        entries = []
        for nugget, parent in parts_of(nuggets):
            known = self.element_of(topic, nugget, taken)
            self.imported.known["rubric elements"] += known is not None
            element = known or self._new_element(topic, nugget)
            taken.add(element.pk)
            ours: dict[str, Any] = {}
            if nugget.group != element.group:
                ours[f"{OURS}group"] = nugget.group
            if nugget.element_id != element.element_id:
                ours[f"{OURS}name"] = nugget.element_id
            entry = NewEntry(element.pk, nugget.importance, nugget.weight, parent, nugget.attributes | ours)
            entries.append(entry)
        return entries

    def element_of(self, topic: int, nugget: Nugget, taken: set[int]) -> RubricElement | None:
        """Return the element that is here with the nugget's text and content, and not taken; the bank's own first."""
        content = "" if nugget.is_plain else hash_of(nugget)
        same = (
            one
            for one in self.elements[topic].by_text[nugget.kind, nugget.text]
            if one.pk not in taken and (nugget.is_plain or one.attributes.get("content") == content)
        )
        return min(same, key=lambda one: (one.pk not in self._in_bank(topic), one.pk), default=None)

    def _in_bank(self, topic: int) -> set[int]:
        return {entry.element_id for entry in self.before.get(topic, ())}

    def _new_element(self, topic: int, nugget: Nugget) -> RubricElement:
        """Make the element that a nugget is. It replaces the one with its text that was in the bank."""
        known, here = self.elements[topic], self._in_bank(topic)
        former = next((one for one in known.by_text[nugget.kind, nugget.text] if one.pk in here), None)
        name, number = nugget.name[: MOST_ID - 10], 1
        while (nugget.kind, element_id := name if number == 1 else f"{name}-{number}") in known.ids:
            number += 1
        element = RubricElement.objects.create(
            topic_id=topic,
            kind=nugget.kind,
            element_id=element_id,
            position=known.next[nugget.kind],
            text=nugget.text,
            importance=nugget.importance,
            weight=nugget.weight,
            aggregator=nugget.aggregator,
            group=nugget.group,
            replaces=former,
            attributes={} if nugget.is_plain else {"content": hash_of(nugget)},
        )
        known.note(element)
        self.imported.new["rubric elements"] += 1
        add_content(element, in_code_points(nugget, self.held, self.imported), self.imported)
        return element

    def store(self, *, by: User | None, note: str, at: datetime) -> None:
        """Make the version, if the file changes anything."""
        if not self.entries:
            return
        if self.bank is None:
            self.bank = NuggetBank.objects.create(collection=self.collection, name=self.name)
            self.imported.new["nugget banks"] += 1
        else:
            self.imported.known["nugget banks"] += 1
        version = make_version(bank=self.bank, topics=self.entries, said=self.said, by=by, note=note, at=at)
        n = sum(map(len, self.entries.values()))
        if version is None:
            self.imported.known["bank entries"] += n
        else:
            self.imported.new["bank versions"] += 1
            self.imported.new["bank entries"] += n
            self.imported.remarks.append(f"The nuggets are version {version.number} of the bank “{self.bank}”.")


def topic_of_file(name: str) -> str:
    """Return the topic that a file in the short form is about, by the file's name: nuggets_12.json is about 12."""
    return NAMED_AFTER.sub("", name.rsplit("/", 1)[-1].split(".", 1)[0])
