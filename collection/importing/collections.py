"""A collection's texts and rankings, from lines that any format is translated into."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.db.models.functions import Length

from collection.formats.jsonl import (
    BankEntryLine,
    BankVersionLine,
    CitationLine,
    CollectionLine,
    ElementSpanLine,
    Line,
    NuggetAnswerLine,
    NuggetReferenceLine,
    PassageLine,
    RankingLine,
    ReportLine,
    RubricElementLine,
    RunLine,
    SentenceLine,
    SystemLine,
    TopicLine,
    read_collection,
)
from collection.formats.problems import BrokenLine, InputFile
from collection.importing.datasets.bank_rows import BankRows
from collection.importing.rows import BATCH, Imported, Rows
from collection.models import (
    Citation,
    Collection,
    ElementSpan,
    Passage,
    RankedPassage,
    Report,
    ReportSentence,
    RubricElement,
    Run,
    System,
    Topic,
)
from collection.models.texts import text_hash
from collection.rankings import contradicted_ranks


def import_collection(*, file: InputFile, collection: Collection) -> Imported:
    """Bring an Assize JSONL file into the collection. Raises BrokenFile, and has then changed nothing."""
    with collection_rows(collection, file) as rows:
        for number, line in read_collection(file):
            with file.line(number):
                rows.add(number, line)
    return rows.imported


@contextmanager
def collection_rows(collection: Collection, file: InputFile) -> Iterator[CollectionRows]:
    """Give the rows of what a file brings, all or nothing; what still waits at the end is stored. Raises BrokenFile."""
    with transaction.atomic(), file:
        rows = CollectionRows(collection, file=file, imported=Imported())
        yield rows
        rows.flush()


class CollectionRows:
    """What one file brings into a collection.

    A line may refer to what was added before it or is stored. Call `flush` at the end.
    """

    def __init__(self, collection: Collection, *, file: InputFile, imported: Imported) -> None:
        self.collection = collection
        self.file = file
        self.imported = imported
        topics = Topic.objects.filter(collection=collection)
        elements = RubricElement.objects.filter(topic__collection=collection)
        self.topics = Rows(
            topics,
            ("topic_id",),
            file=file,
            imported=imported,
            remember=True,
            fills=lambda stored, row: bool(row.request and not stored.request),
        )
        self.elements = Rows(
            elements,
            ("topic_id", "kind", "element_id"),
            file=file,
            imported=imported,
            remember=True,
            fills=lambda stored, row: (
                stored.text == stored.element_id and row.text not in ("", stored.text) and not stored.masking_id
            ),
            decided=lambda stored: ("masked", "masking_id") if stored.masking_id else (),
        )
        self.passages = Rows(
            Passage.objects.filter(collection=collection),
            ("passage_id",),
            file=file,
            imported=imported,
            fills=_fills_a_passage,
            unsaid=("translation",),
            decided=lambda stored: () if stored.document_id else ("document_id",),
        )
        self.spans = _Spans(self)
        self.systems = Rows(
            System.objects.filter(collection=collection), ("name",), file=file, imported=imported, remember=True
        )
        self.runs = self._runs()
        self.reports = Rows(
            Report.objects.filter(run__collection=collection),
            ("run_id", "topic_id"),
            file=file,
            imported=imported,
            remember=True,
            fills=lambda stored, row: (
                bool(row.attributes and not stored.attributes) and row.text_sha256 == stored.text_sha256
            ),
        )
        self.sentences = _Sentences(self)
        self.banks = BankRows(collection, file=file, imported=imported)
        self.ranking = Rows(
            RankedPassage.objects.filter(run__collection=collection),
            ("run_id", "topic_id", "passage_id"),
            file=file,
            imported=imported,
        )
        self.positions = _Positions(elements)
        self.ranking_runs: set[int] = set()
        self.named_runs: set[str] = set()

    def _runs(self) -> Rows[Run]:
        """Return the rows of runs; a file may leave out what a run is made from, or fill it in."""
        return Rows(
            Run.objects.filter(collection=self.collection),
            ("name",),
            file=self.file,
            imported=self.imported,
            remember=True,
            fills=lambda stored, row: (
                bool(row.made_from_id and not stored.made_from_id)
                and (row.system_id, row.attributes) == (stored.system_id, stored.attributes)
            ),
            unsaid=("made_from_id",),
        )

    def flush(self) -> None:
        """Store what is still waiting."""
        for rows in (self.topics, self.elements, self.passages, self.spans, self.systems, self.runs):
            rows.flush()
        self.reports.flush()
        self.sentences.flush()
        self.ranking.flush()
        self.banks.flush()
        self._note_contradicted_ranks()

    def _note_contradicted_ranks(self) -> None:
        """Note where a run's ranks are not the order by score, in which its passages stand everywhere."""
        runs, self.ranking_runs = self.ranking_runs, set()
        names = dict(Run.objects.filter(pk__in=runs).values_list("pk", "name"))
        topics = {pk: topic_id for (topic_id,), pk in self.topics.pks.items()}
        for what, run, topic in contradicted_ranks(runs):
            self.imported.flaw(what, f"run “{names[run]}”, topic “{topics[topic]}”")

    def add(self, number: int, line: Line) -> None:
        """Take what the line says. Raises BrokenLine."""
        match line:
            case PassageLine():
                self._note_id(line.passage_id)
                if line.text is not None and not line.text.strip():
                    self.imported.flaw("passage whose text is empty", line.passage_id)
                self.passages.add(number, self._passage(line))
            case SentenceLine():
                self.sentences.add(number, line)
            case CitationLine():
                self.sentences.cite(number, line)
            case RankingLine():
                self.ranking.add(number, self._ranked_passage(line))
            case TopicLine():
                self._note_id(line.topic_id)
                self.topics.add(number, Topic(collection=self.collection, **vars(line)))
            case RubricElementLine():
                self.elements.add(number, self._rubric_element(line))
            case ElementSpanLine():
                self.spans.add(number, line)
            case SystemLine():
                self.systems.add(number, System(collection=self.collection, **vars(line)))
            case RunLine():
                self._note_id(line.name)
                self.runs.add(number, self._run(line))
            case ReportLine():
                self.reports.add(number, self._report(line))
            case NuggetAnswerLine():
                self.banks.add_answer(number, line, self.element_pk(line.topic_id, line.kind, line.element_id))
            case NuggetReferenceLine():
                self.passages.flush()
                self.banks.add_reference(number, line, self.element_pk(line.topic_id, line.kind, line.element_id))
            case BankVersionLine():
                self.banks.add_version(number, line)
            case BankEntryLine():
                element, topic = (
                    self.element_pk(line.topic_id, line.kind, line.element_id),
                    self.topic_pk(line.topic_id),
                )
                self.banks.add_entry(number, line, element, topic)
            case CollectionLine():
                self._describe(line)

    def add_run(self, number: int, name: str, *, made_from: str = "") -> None:
        """Take a run whose system has its name, and count both once, however many lines name it."""
        if name not in self.named_runs:
            self.named_runs.add(name)
            self.add(number, SystemLine(name))
            self.add(number, RunLine(name, name, made_from=made_from))

    def _note_id(self, name: str) -> None:
        if any(map(str.isspace, name)):
            self.imported.flaw("id with a blank, which runs and qrels cannot contain", f"“{name}”")

    def topic_pk(self, topic_id: str) -> int:
        """Return the primary key of this topic. Raises BrokenLine."""
        return self.topics.pk(topic_id, what=f"topic “{topic_id}”")

    def run_pk(self, name: str) -> int:
        """Return the primary key of this run. Raises BrokenLine."""
        return self.runs.pk(name, what=f"run “{name}”")

    def element_pk(self, topic_id: str, kind: str, element_id: str) -> int:
        """Return the primary key of this rubric element. Raises BrokenLine."""
        what = f"{kind} “{element_id}” of the topic “{topic_id}”"
        return self.elements.pk(self.topic_pk(topic_id), kind, element_id, what=what)

    def _describe(self, line: CollectionLine) -> None:
        """Fill what is still blank in the description of the collection."""
        fresh = {
            name: getattr(line, name)
            for name in ("title", "description", "licence", "attributes")
            if getattr(line, name) and not getattr(self.collection, name)
        }
        if fresh:
            for name, value in fresh.items():
                setattr(self.collection, name, value)
            try:
                self.collection.full_clean()
            except ValidationError as error:
                raise BrokenLine(" ".join(error.messages)) from error
            self.collection.save(update_fields=list(fresh))
            self.imported.new["descriptions"] += 1

    def _passage(self, line: PassageLine) -> Passage:
        sha256 = "" if line.text is None else text_hash(line.text)
        return Passage(collection_id=self.collection.pk, text_sha256=sha256, **vars(line))

    def _rubric_element(self, line: RubricElementLine) -> RubricElement:
        topic_pk = self.topic_pk(line.topic_id)
        found = vars(line) | {"topic_id": topic_pk, "position": self.positions.of(line, topic_pk)}
        former = found.pop("replaces")
        replaces_pk = self.element_pk(line.topic_id, line.kind, former) if former else None
        return RubricElement(**found, replaces_id=replaces_pk)

    def _run(self, line: RunLine) -> Run:
        system_pk = self.systems.pk(line.system, what=f"system “{line.system}”")
        found = {"name": line.name, "system_id": system_pk, "attributes": line.attributes}
        made_from_pk = self.run_pk(line.made_from) if line.made_from else None
        return Run(collection=self.collection, made_from_id=made_from_pk, **found)

    def _report(self, line: ReportLine) -> Report:
        return Report(
            run_id=self.run_pk(line.run),
            topic_id=self.topic_pk(line.topic_id),
            text=line.text,
            text_sha256=text_hash(line.text),
            attributes=line.attributes,
        )

    def _ranked_passage(self, line: RankingLine) -> RankedPassage:
        run_pk = self.run_pk(line.run)
        self.ranking_runs.add(run_pk)
        return RankedPassage(
            run_id=run_pk,
            topic_id=self.topic_pk(line.topic_id),
            passage_id=line.passage_id,
            rank=line.rank,
            score=line.score,
        )


def _fills_a_passage(stored: Passage, row: Passage) -> bool:
    """Whether the row has the text that the stored one lacks, or a translation of the same text."""
    if not stored.text_sha256:
        return row.text is not None
    same = all(getattr(stored, name) == getattr(row, name) for name in ("text_sha256", "title", "attributes"))
    return bool(row.translation and not stored.translation) and same and stored.document_id == row.document_id


class _Sentences:
    """Sentences of reports, which must stand in their texts, and what they cite."""

    def __init__(self, parent: CollectionRows) -> None:
        self.parent = parent
        collection = parent.collection
        self.lengths: dict[int, int] = {}
        self.rows = Rows(
            ReportSentence.objects.filter(report__run__collection=collection),
            ("report_id", "position"),
            file=parent.file,
            imported=parent.imported,
            remember=True,
        )
        self.citations = Rows(
            Citation.objects.filter(sentence__report__run__collection=collection),
            ("sentence_id", "passage_id"),
            file=parent.file,
            imported=parent.imported,
        )

    def add(self, number: int, line: SentenceLine) -> None:
        """Take a sentence. Raises BrokenLine if its report is unknown, or shorter."""
        report = self._report(line)
        if report not in self.lengths:
            self.lengths[report] = Report.objects.values_list(Length("text"), flat=True).get(pk=report)
        if not line.start <= line.end <= self.lengths[report]:
            raise BrokenLine(
                f"The sentence is said to stand at {line.start} to {line.end} of a report of "
                f"{self.lengths[report]} characters.",
                "Count Unicode code points from 0, the end exclusive.",
            )
        found = {name: getattr(line, name) for name in ("position", "start", "end", "splitter", "attributes")}
        self.rows.add(number, ReportSentence(report_id=report, **found))

    def cite(self, number: int, line: CitationLine) -> None:
        """Take a citation. Raises BrokenLine if its sentence is unknown."""
        what = f"sentence at position {line.sentence} of the report of “{line.run}” on “{line.topic_id}”"
        sentence = self.rows.pk(self._report(line), line.sentence, what=what)
        found = {name: getattr(line, name) for name in ("position", "passage_id", "weight", "place")}
        self.citations.add(number, Citation(sentence_id=sentence, **found))

    def flush(self) -> None:
        """Store the sentences taken so far, then what they cite."""
        self.rows.flush()
        self.citations.flush()

    def _report(self, line: SentenceLine | CitationLine) -> int:
        run, topic = self.parent.run_pk(line.run), self.parent.topic_pk(line.topic_id)
        return self.parent.reports.pk(run, topic, what=f"report of “{line.run}” on “{line.topic_id}”")


class _Positions:
    """Numbers the elements whose line gives no position: as stored, or after the last of topic and kind."""

    def __init__(self, elements: models.QuerySet[RubricElement]) -> None:
        self.stored: dict[tuple[int, str, str], int] = {}
        self.next: dict[tuple[int, str], int] = {}
        for topic, kind, element, position in elements.values_list("topic_id", "kind", "element_id", "position"):
            self.stored[topic, kind, element] = position
            self.next[topic, kind] = max(self.next.get((topic, kind), 0), position + 1)

    def of(self, line: RubricElementLine, topic_pk: int) -> int:
        """Return the position of this line's element."""
        own, shared = (topic_pk, line.kind, line.element_id), (topic_pk, line.kind)
        position = line.position
        if position is None:
            position = self.stored.get(own, self.next.get(shared, 0))
        self.stored[own] = position
        self.next[shared] = max(self.next.get(shared, 0), position + 1)
        return position


@dataclass
class _Spans:
    """Element spans, whose offsets are checked against the passages' texts, or found there."""

    parent: CollectionRows

    def __post_init__(self) -> None:
        self.pending: list[tuple[int, ElementSpanLine, int]] = []
        self.rows = Rows(
            ElementSpan.objects.filter(element__topic__collection=self.parent.collection),
            ("element_id", "passage_id", "start", "end"),
            file=self.parent.file,
            imported=self.parent.imported,
        )

    def add(self, number: int, line: ElementSpanLine) -> None:
        """Take a span. Raises BrokenLine if its element is unknown."""
        self.pending.append((number, line, self.parent.element_pk(line.topic_id, line.kind, line.element_id)))
        if len(self.pending) >= BATCH:
            self.flush()

    def flush(self) -> None:
        """Store the spans taken so far, with the passages they stand in."""
        pending, self.pending = self.pending, []
        if not pending:
            return
        self.parent.passages.flush()
        wanted = {line.passage_id for _, line, _ in pending}
        passages = {
            passage.passage_id: passage
            for passage in Passage.objects.filter(collection=self.parent.collection, passage_id__in=wanted)
        }
        for number, line, element_pk in pending:
            with self.parent.file.line(number):
                passage = passages.get(line.passage_id)
                if passage is None or passage.text is None:
                    raise BrokenLine(
                        f"There is no passage “{line.passage_id}” with a text.", "Put its line above this one."
                    )
                start, end = located(line, passage.text)
                self.rows.add(
                    number,
                    ElementSpan(element_id=element_pk, passage_id=passage.pk, start=start, end=end, quote=line.quote),
                )
        self.rows.flush()


def located(line: ElementSpanLine, text: str) -> tuple[int, int]:
    """Return where the quote stands in the text. Raises BrokenLine unless that is certain."""
    if line.start is not None and line.end is not None:
        if line.end > len(text) or text[line.start : line.end] != line.quote:
            raise BrokenLine(
                f"The quote is not at {line.start} to {line.end} of the passage “{line.passage_id}”.",
                "Count Unicode code points from 0, the end exclusive, or leave out start and end.",
            )
        return line.start, line.end
    start = text.find(line.quote)
    if start < 0:
        raise BrokenLine(f"The quote is not in the passage “{line.passage_id}”.", "Quote it exactly.")
    if text.find(line.quote, start + 1) >= 0:
        raise BrokenLine(f"The quote occurs several times in the passage “{line.passage_id}”.", "Give start and end.")
    return start, start + len(line.quote)
