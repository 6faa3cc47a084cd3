"""Which items of a study the pairs of a file are; a pair that is none is left out and counted, or becomes one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from collection.formats.jsonl import PassageLine
from collection.formats.problems import BrokenLine, InputFile
from collection.importing.collections import CollectionRows
from collection.importing.rows import Imported
from collection.importing.studies import ItemRows, topic_pks
from collection.models import Item, Passage, Report, RubricElement, Study
from collection.models.studies import TaskType
from judging.imported.rows import FileGrade

Key = tuple[str, int, int | None, int | None, int | None]
EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class MatchedPair:
    """What a pair is about, by primary keys; an item of the study if `item` is one."""

    told: FileGrade
    task_type: str
    topic: int
    element: RubricElement | None
    passage: int | None
    report: int | None
    item: int | None = None

    @property
    def key(self) -> Key:
        element = self.element.pk if self.element else None
        return self.task_type, self.topic, element, self.passage, self.report


@dataclass
class Outside:
    """Pairs that are no items of the study, by why, with the first lines of each."""

    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)

    def add(self, why: str, told: FileGrade) -> None:
        """Count a pair."""
        self.counts[why] += 1
        shown = self.examples.setdefault(why, [])
        if len(shown) < EXAMPLES:
            about = f", {told.element}" if told.element is not None else ""
            shown.append(f"line {told.number}: {told.topic_id}, {told.text_id}{about}")

    @property
    def total(self) -> int:
        return self.counts.total()

    def rows(self) -> list[tuple[str, int, list[str]]]:
        """Return why pairs were left out, how many, and the first of them."""
        return [(why, count, self.examples[why]) for why, count in self.counts.items()]


NO_ITEM = "texts of the collection that are not items of the study"
NO_TOPIC = "topics that are not in the collection"
NO_TEXT = "texts that are not in the collection"
NO_ELEMENT = "questions that are not in the collection"


class NotHere(Exception):
    """The collection lacks what a pair is about."""

    def __init__(self, why: str, broken: BrokenLine) -> None:
        super().__init__(broken.reason)
        self.why = why
        self.broken = broken


class Places:
    """Finds the items that a file tells of, many at a time.

    With `add`, pairs whose texts are in the collection become items, and a line about what the collection lacks
    is refused; without it all of these are left out and counted in `outside`. With `add_passages`, passages that
    the collection lacks are made, by their ids alone.
    """

    def __init__(
        self, study: Study, *, file: InputFile, imported: Imported, add: bool, add_passages: bool = False
    ) -> None:
        self.study = study
        self.file = file
        self.add = add or add_passages
        self.outside = Outside()
        self.masked = 0
        self.topics = topic_pks(study.collection)
        self.reports = {
            (run, topic): pk
            for pk, run, topic in Report.objects.filter(run__collection=study.collection_id).values_list(
                "pk", "run__name", "topic_id"
            )
        }
        self.by_number: dict[int, list[RubricElement]] = {}
        self.by_id: dict[tuple[int, str], RubricElement] = {}
        kinds = [RubricElement.Kind.NUGGET, RubricElement.Kind.SUB_QUESTION]
        elements = RubricElement.objects.filter(topic__collection=study.collection_id, kind__in=kinds).defer("text")
        # Nuggets first: where a question has the same id, the question is meant.
        for element in elements.order_by("kind", "topic_id", "position"):
            self.by_id[element.topic_id, element.element_id] = element
            if element.kind == RubricElement.Kind.SUB_QUESTION:
                self.by_number.setdefault(element.topic_id, []).append(element)
        self.rows = ItemRows(study, file=file, imported=imported) if self.add else None
        self.passage_rows = CollectionRows(study.collection, file=file, imported=imported) if add_passages else None

    def of(self, batch: Sequence[FileGrade]) -> list[MatchedPair]:
        """Return where each pair belongs that is an item of the study, or became one."""
        passages = self._passages(batch)
        if self.passage_rows is not None and self._make_passages(batch, passages, self.passage_rows):
            passages = self._passages(batch)
        found: list[MatchedPair] = []
        refused: set[int] = set()
        for told in batch:
            if told.number in refused:
                continue
            try:
                place = self._place(told, passages)
            except NotHere as lack:
                if self.add:
                    self.file.refuse(told.number, lack.broken)
                    refused.add(told.number)
                else:
                    self.outside.add(lack.why, told)
                continue
            if place.element is not None and place.element.masked:
                self.masked += 1
            else:
                found.append(place)
        items = self._items(found)
        if self.rows is not None:
            items |= self._added([place for place in found if place.key not in items], self.rows)
        taken = []
        for place in found:
            if place.key in items:
                taken.append(replace(place, item=items[place.key]))
            else:
                self.outside.add(NO_ITEM, place.told)
        return taken

    def _passages(self, batch: Sequence[FileGrade]) -> dict[str, int]:
        names = {told.text_id for told in batch}
        rows = Passage.objects.filter(collection=self.study.collection_id, passage_id__in=names)
        return dict(rows.values_list("passage_id", "pk"))

    def _make_passages(self, batch: Sequence[FileGrade], passages: dict[str, int], rows: CollectionRows) -> bool:
        """Make the passages of qrels that the collection lacks. Returns whether there are any."""
        lacking = [told for told in batch if told.element is None and told.text_id not in passages]
        for told in lacking:
            with self.file.line(told.number):
                rows.add(told.number, PassageLine(told.text_id, text=None))
        rows.flush()
        return bool(lacking)

    def _place(self, told: FileGrade, passages: dict[str, int]) -> MatchedPair:
        topic = self.topics.get(told.topic_id)
        if topic is None:
            raise NotHere(
                NO_TOPIC,
                BrokenLine(
                    f"There is no topic “{told.topic_id}” in the collection.", "Import the topic, or correct the id."
                ),
            )
        passage = passages.get(told.text_id)
        report = None if passage else self.reports.get((told.text_id, topic))
        if passage is None and (told.element is None or report is None):
            asked = "not a passage" if told.element is None else "neither a passage nor a run with a report"
            raise NotHere(
                NO_TEXT,
                BrokenLine(
                    f"“{told.text_id}” is {asked} on “{told.topic_id}” in the collection.",
                    "Import its text first, or leave out pairs that are not in the study.",
                ),
            )
        element = None if told.element is None else self._element(told, topic)
        task_type = TaskType.RELEVANCE
        if element is not None:
            task_type = TaskType.RATING if passage else TaskType.ANSWERABILITY
        return MatchedPair(told, task_type, topic, element, passage, report)

    def _element(self, told: FileGrade, topic: int) -> RubricElement:
        if isinstance(told.element, str):
            element = self.by_id.get((topic, told.element))
            if element is None:
                raise NotHere(
                    NO_ELEMENT,
                    BrokenLine(
                        f"There is no question or nugget “{told.element}” on “{told.topic_id}” in the collection.",
                        "Import the question bank first, or leave out pairs that are not in the study.",
                    ),
                )
            return element
        questions = self.by_number.get(topic, [])
        assert told.element is not None  # the caller has looked
        if (told.of_elements is not None and told.of_elements != len(questions)) or told.element >= len(questions):
            rated = "gives question number" if told.of_elements is None else "rates"
            raise NotHere(
                NO_ELEMENT,
                BrokenLine(
                    f"The topic “{told.topic_id}” has {len(questions)} sub-questions; the line {rated} "
                    f"{told.element if told.of_elements is None else told.of_elements}.",
                    "There must be one rating for each, counted from 0, including masked ones.",
                ),
            )
        return questions[told.element]

    def _items(self, places: Sequence[MatchedPair]) -> dict[Key, int]:
        """Return the study's items among these places."""
        stored = Item.objects.filter(
            study=self.study,
            task_type__in={place.task_type for place in places},
            topic__in={place.topic for place in places},
            other_report=None,
        )
        passages = {place.passage for place in places if place.passage}
        reports = {place.report for place in places if place.report}
        found: dict[Key, int] = {}
        of_passages = stored.filter(passage__in=passages, report=None)
        of_reports = stored.filter(report__in=reports, passage=None)
        for chosen in (of_passages, of_reports):
            rows = chosen.values_list("pk", "task_type", "topic_id", "element_id", "passage_id", "report_id")
            for pk, task_type, topic, element, passage, report in rows:
                found.setdefault((task_type, topic, element, passage, report), pk)
        return found

    def _added(self, places: Sequence[MatchedPair], rows: ItemRows) -> dict[Key, int]:
        """Make items of the places that are none yet."""
        names = {}
        for place in places:
            with self.file.line(place.told.number):
                names[place.key] = rows.add(
                    place.told.number,
                    place.task_type,
                    topic=(place.topic, place.told.topic_id),
                    text=place.told.text_id,
                    element=(place.element.pk, place.element.element_id) if place.element else None,
                    passage_pk=place.passage,
                    report_pk=place.report,
                )
        rows.flush()
        return {key: rows.pk(name) for key, name in names.items()}
