"""Nugget banks on their way in, from the lines of Assize JSONL."""

from __future__ import annotations

from django.core.validators import slug_re
from django.db.models import Q

from collection.formats.jsonl import BankEntryLine, BankVersionLine, NuggetAnswerLine, NuggetReferenceLine
from collection.formats.problems import BrokenLine, InputFile
from collection.formats.values import read_moment
from collection.importing.rows import BATCH, Imported, Rows
from collection.models import (
    BankEntry,
    BankVersion,
    Collection,
    NuggetAnswer,
    NuggetBank,
    NuggetReference,
    Passage,
    User,
)


class BankRows:
    """What one file says of banks. A line may refer to what was added before it or is stored; call `flush` last."""

    def __init__(self, collection: Collection, *, file: InputFile, imported: Imported) -> None:
        self.collection = collection
        self.file = file
        mine = NuggetAnswer.objects.filter(element__topic__collection=collection)
        self.answers = Rows(mine, ("element_id", "position"), file=file, imported=imported)
        references = NuggetReference.objects.filter(element__topic__collection=collection)
        self.references = Rows(references, ("element_id", "position"), file=file, imported=imported)
        self.waiting: list[tuple[int, NuggetReferenceLine, int]] = []
        banks = NuggetBank.objects.filter(collection=collection)
        self.banks = Rows(banks, ("name",), file=file, imported=imported, remember=True)
        self.versions = Rows(
            BankVersion.objects.filter(bank__collection=collection),
            ("bank_id", "number"),
            file=file,
            imported=imported,
            remember=True,
            decided=lambda stored: ("made_by_id", "attributes") if stored.made_by_id else (),
        )
        entries = BankEntry.objects.filter(version__bank__collection=collection)
        self.entries = Rows(entries, ("version_id", "element_id"), file=file, imported=imported)
        self.places: dict[tuple[int, int, int], int] = {}
        self.makers: dict[str, int | None] = {}

    def add_answer(self, number: int, line: NuggetAnswerLine, element_pk: int) -> None:
        """Take an answer. Raises BrokenLine."""
        names = ("position", "text", "importance", "right", "creator", "attributes")
        self.answers.add(number, NuggetAnswer(element_id=element_pk, **{name: getattr(line, name) for name in names}))

    def add_reference(self, number: int, line: NuggetReferenceLine, element_pk: int) -> None:
        """Take a reference. It is checked against its text with others."""
        self.waiting.append((number, line, element_pk))
        if len(self.waiting) >= BATCH:
            self._flush_references()

    def add_version(self, number: int, line: BankVersionLine) -> None:
        """Take a version. Raises BrokenLine."""
        if not slug_re.fullmatch(line.bank):
            raise BrokenLine(f"“{line.bank}” cannot be the name of a bank.", "Use letters, digits, - and _.")
        self.banks.add(number, NuggetBank(collection=self.collection, name=line.bank))
        maker, attributes = self._maker(line.made_by), line.attributes
        if line.made_by and maker is None:
            attributes = attributes | {"made_by": line.made_by}
        version = BankVersion(
            bank_id=self.banks.pk(line.bank, what=f"nugget bank “{line.bank}”"),
            number=line.number,
            made_at=read_moment(line.made_at),
            made_by_id=maker,
            note=line.note,
            attributes=attributes,
        )
        self.versions.add(number, version)

    def add_entry(self, number: int, line: BankEntryLine, element_pk: int, topic_pk: int) -> None:
        """Take an entry. Raises BrokenLine if its version or its parent is unknown."""
        bank = self.banks.pk(line.bank, what=f"nugget bank “{line.bank}”")
        version = self.versions.pk(bank, line.version, what=f"version {line.version} of the bank “{line.bank}”")
        entry = BankEntry(
            version_id=version,
            element_id=element_pk,
            parent_id=None if line.parent is None else self._parent(version, topic_pk, line),
            position=line.position,
            importance=line.importance,
            weight=line.weight,
            attributes=line.attributes,
        )
        self.entries.add(number, entry)

    def flush(self) -> None:
        """Store what is still waiting."""
        self._flush_references()
        self.answers.flush()
        self.banks.flush()
        self.versions.flush()
        self.entries.flush()

    def _parent(self, version: int, topic: int, line: BankEntryLine) -> int:
        key = version, topic, line.parent or 0
        if key not in self.places:
            self.entries.flush()
            rows = BankEntry.objects.filter(version=version).values_list("element__topic__pk", "position", "pk")
            self.places |= {(version, of_topic, position): pk for of_topic, position, pk in rows}
        if key not in self.places:
            raise BrokenLine(
                f"There is no nugget at position {line.parent} above this line.", "Put the parent above its parts."
            )
        return self.places[key]

    def _maker(self, username: str) -> int | None:
        """Return the user of this name, if they are one of the collection's researchers."""
        if username and username not in self.makers:
            theirs = Q(pk=self.collection.owner_id) | Q(shared_collections=self.collection)
            self.makers[username] = User.objects.filter(theirs, username=username).values_list("pk", flat=True).first()
        return self.makers.get(username)

    def _flush_references(self) -> None:
        waiting, self.waiting = self.waiting, []
        if not waiting:
            return
        self.answers.flush()
        wanted = {line.docno for _, line, _ in waiting}
        held = Passage.objects.filter(collection=self.collection, passage_id__in=wanted, text__isnull=False)
        texts = dict(held.values_list("passage_id", "text"))
        answers = NuggetAnswer.objects.filter(element__in={element for _, _, element in waiting})
        pks = {
            (element, position): pk for element, position, pk in answers.values_list("element__pk", "position", "pk")
        }
        for number, line, element in waiting:
            with self.file.line(number):
                self.references.add(number, _reference(line, element, pks, texts.get(line.docno)))
        self.references.flush()


def _reference(
    line: NuggetReferenceLine, element: int, answers: dict[tuple[int, int], int], text: str | None
) -> NuggetReference:
    """Return a reference whose quote stands in its text. Raises BrokenLine."""
    if line.answer is not None and (element, line.answer) not in answers:
        raise BrokenLine(f"The nugget has no answer at position {line.answer}.", "Put its line above this one.")
    check_reference(line.docno, line.start, line.end, line.quote, text)
    names = ("position", "docno", "start", "end", "quote", "encoding", "quality", "creator", "attributes")
    return NuggetReference(
        element_id=element,
        answer_id=None if line.answer is None else answers[element, line.answer],
        **{name: getattr(line, name) for name in names},
    )


def check_reference(docno: str, start: int | None, end: int | None, quote: str, text: str | None) -> None:
    """Raise BrokenLine unless the quote stands at its place; where the text is not held, unless the place is one."""
    if (start is None) != (end is None):
        raise BrokenLine("Only one of “start” and “end” is given.", "Give both, or neither.")
    if start is None or end is None:
        return
    if start > end or (text is not None and (end > len(text) or (quote and text[start:end] != quote))):
        raise BrokenLine(
            f"The quote is not at {start} to {end} of “{docno}”.",
            "Count Unicode code points from 0, the end exclusive, or leave out start and end.",
        )
