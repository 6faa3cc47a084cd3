"""The long judgments table becomes judgments of a study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

from django.db import transaction
from django.db.models import QuerySet

from collection.formats.judgments_reader import HighlightLine, JudgmentLine, OrderLine, read_judgments
from collection.formats.problems import BrokenLine, InputFile
from collection.importing.draws import DrawRows
from collection.importing.judgments import JudgmentRows, Key, key_of
from collection.importing.rows import BATCH, Imported
from collection.importing.written_answers import Revisions, WrittenAnswers, batched
from collection.judgments.pair_orders import add_orders
from collection.judgments.recording import note_changed_pages
from collection.judgments.services import HighlightDoesNotFit, NewJudgment, Span, check_spans, stored_among
from collection.models import Criterion, Highlight, Item, Judgment, PairOrder, Rater, Study
from collection.models.texts import text_hash
from stats.plurals import counted


@transaction.atomic
def import_judgments(*, file: InputFile, study: Study, at: datetime) -> Imported:
    """Bring a long judgments table into the study, whose items and criteria it names.

    Where a row does not tell when it was judged, that is said to be `at`. Raises BrokenFile.
    """
    imported = Imported()
    with file:
        table = _Table(file=file, imported=imported, study=study, at=at)
        pending: list[tuple[int, JudgmentLine]] = []
        for number, line in read_judgments(file):
            pending.append((number, line))
            if len(pending) >= BATCH:
                table.add(pending)
                pending.clear()
        table.add(pending)
        table.add_revisions()
        table.end()
    imported.remarks.extend(table.remarks())
    return imported


class _Item(NamedTuple):
    """What a row needs of its item. Of a hundred thousand items, models take a second longer."""

    item_id: str
    pk: int
    task_type: str
    topic_id: str
    other_report: int | None

    @classmethod
    def of(cls, items: QuerySet[Item]) -> dict[str, _Item]:
        columns = ("item_id", "pk", "task_type", "topic__topic_id", "other_report_id")
        return {row[0]: cls(*row) for row in items.order_by().values_list(*columns)}


class _Items:
    """The study's items by id, remembered from batch to batch; of large studies no more than a batch names."""

    def __init__(self, study: Study) -> None:
        self.stored = Item.objects.filter(study=study)
        self.known: dict[str, _Item] | None = None

    def of(self, wanted: set[str]) -> dict[str, _Item]:
        """Return those that are there, and perhaps others."""
        if self.known is None:  # a small file is no more than one batch
            self.known = {}
            return self._among(wanted)
        if not self.known and self.stored.count() <= MOST_ITEMS:
            self.known = _Item.of(self.stored)
        return self.known or self._among(wanted)

    def _among(self, wanted: set[str]) -> dict[str, _Item]:
        return _Item.of(self.stored.filter(item_id__in=wanted))

    @cached_property
    def turned(self) -> dict[str, _Item]:
        """The pairs by the id that they have where the other report is the first: sites draw that by lot."""
        pairs = self.stored.filter(other_report__isnull=False)
        runs = pairs.values_list("item_id", "report__run__name", "other_report__run__name")
        ends = {item: (f"{run}/{other}", f"{other}/{run}") for item, run, other in runs}
        return {
            item.item_id.removesuffix(ends[item.item_id][0]) + ends[item.item_id][1]: item
            for item in _Item.of(pairs).values()
            if item.item_id.endswith(ends[item.item_id][0])
        }


class _Table:
    def __init__(self, *, file: InputFile, imported: Imported, study: Study, at: datetime) -> None:
        self.file = file
        self.study = study
        self.at = at
        self.judgments = JudgmentRows(file=file, imported=imported)
        self.items = _Items(study)
        self.criteria: dict[str, Criterion] = {c.name: c for c in study.criteria.select_related("scale")}
        self.guidelines: dict[int, int] = dict(study.guidelines.values_list("version", "pk"))
        self.raters = self._raters()
        self.orders: dict[Key, tuple[OrderLine, ...]] = {}
        self.answers = WrittenAnswers(file, imported)
        self.revisions = Revisions(study, imported, at, lambda kind, name: self.raters.get((kind, name)))
        self.of_round_2: list[tuple[int, JudgmentLine]] = []
        self.left_out: set[str] = set()
        self.undated = 0
        self.draws = DrawRows(study, file=file, imported=imported, at=at)
        self.changed: set[tuple[int, int]] = set()

    def add(self, lines: Sequence[tuple[int, JudgmentLine]]) -> None:
        """Take a batch of rows; those of round 2 wait until the answers that were read are stored."""
        self.of_round_2 += [(number, line) for number, line in lines if line.revises]
        lines = [(number, line) for number, line in lines if not line.revises]
        self._take_all(lines, self.items.of({line.item_id for _, line in lines}))

    def add_revisions(self) -> None:
        """Take the rows of round 2."""
        if not self.of_round_2:
            return
        self.flush()
        handed_on = {item.pk for item in self.revisions.items_of(self.of_round_2, self.file).values()}
        items = _Item.of(Item.objects.filter(pk__in=handed_on))
        self._take_all([(number, line) for number, line in self.of_round_2 if line.item_id in items], items)

    def flush(self) -> None:
        """Store the judgments taken so far, with what belongs to them."""
        self.judgments.flush()
        self.answers.flush()
        self._add_orders()

    def end(self) -> None:
        """Store the rest of it."""
        self.flush()
        self.draws.flush()
        note_changed_pages(self.changed, at=self.at)

    def _take_all(self, lines: Sequence[tuple[int, JudgmentLine]], items: Mapping[str, _Item]) -> None:
        marked = {items[line.item_id].pk for _, line in lines if line.highlights and line.item_id in items}
        texts = Item.objects.filter(pk__in=marked).select_related("passage", "report").in_bulk() if marked else {}
        for number, line in lines:
            with self.file.line(number):
                self._take(number, line, items.get(line.item_id), texts)

    def _take(self, number: int, line: JudgmentLine, item: _Item | None, texts: Mapping[int, Item]) -> None:
        if item is None and (item := self.items.turned.get(line.item_id)) and line.criterion in self.criteria:
            line = _turned(line, item, self.criteria[line.criterion])
        judgment = self._judgment(line, item)
        assert item is not None  # or the line has no judgment
        self.judgments.add(number, judgment, _highlights(line.highlights, texts[item.pk]) if line.highlights else ())
        if line.orders:
            self.orders[judgment.key] = _orders(line.orders, item, self.criteria[line.criterion])
        self.draws.add(number, item.pk, line.inclusion_probability)
        if line.page_changed and self._rater(line).collection_id:  # a file says nothing of those who judge here
            self.changed.add((item.pk, judgment.rater_id))
        if line.answer:
            self.answers.add(number, judgment, line.answer, item.item_id, item.task_type)
        self.left_out.update(line.rest)

    def _add_orders(self) -> None:
        """Note in which orders the pairs were seen, where that is not stored yet."""
        orders, self.orders = self.orders, {}
        for keys in batched(orders):
            add_orders(
                PairOrder(judgment=judgment, swapped=order.swapped, grade=order.grade)
                for judgment in stored_among(keys)
                for order in orders.get(key_of(judgment), ())
            )

    def remarks(self) -> list[str]:
        """Return what the importing person has to know."""
        remarks = []
        if self.left_out:
            remarks.append(f"These columns are ignored: {', '.join(sorted(self.left_out))}.")
        if self.undated:
            remarks.append(f"{counted(self.undated, 'rows')} without a time: judged_at is the time of this import.")
        return remarks

    def _judgment(self, line: JudgmentLine, item: _Item | None) -> NewJudgment:
        criterion = self.criteria.get(line.criterion)
        if criterion is None:
            names = ", ".join(self.criteria)
            raise BrokenLine(f"The study has no criterion “{line.criterion}”.", f"It has: {names}.")
        if item is None:
            raise BrokenLine(f"The study has no item “{line.item_id}”.", "Use an item from the study’s export.")
        if item.task_type != criterion.task_type:
            raise BrokenLine(f"The item “{item.item_id}” is not judged under “{criterion}”.", "Correct one of the two.")
        if line.topic_id and line.topic_id != item.topic_id:
            raise BrokenLine(
                f"The item “{item.item_id}” belongs to the topic “{item.topic_id}”.", "Correct the topic_id."
            )
        if line.ungraded and line.ungraded not in Judgment.Ungraded.values:
            reasons = ", ".join(Judgment.Ungraded.values)
            raise BrokenLine(f"“{line.ungraded}” is not a reason for being ungraded.", f"The reasons are {reasons}.")
        if line.guideline_version is not None and line.guideline_version not in self.guidelines:
            raise BrokenLine(f"The study has no guideline version {line.guideline_version}.", "Leave it empty.")
        self.undated += line.judged_at is None
        return NewJudgment(
            item_id=item.pk,
            criterion_id=criterion.pk,
            rater_id=self._rater(line).pk,
            grade=line.grade,
            ungraded=line.ungraded,
            judged_at=line.judged_at or self.at,
            seconds=line.seconds,
            guideline_id=None if line.guideline_version is None else self.guidelines[line.guideline_version],
            unsure=line.unsure,
        )

    def _raters(self) -> dict[tuple[str, str], Rater]:
        """Return the collection's raters and those who judged in the study, by kind and name."""
        here = Rater.objects.filter(pk__in=Judgment.objects.of_study(self.study).values("rater"))
        return {(rater.kind, rater.name): rater for rater in [*here, *self.study.collection.raters.all()]}

    def _rater(self, line: JudgmentLine) -> Rater:
        key = line.rater_kind, line.rater
        if key not in self.raters:
            if len(line.rater) > RATER_NAME:
                raise BrokenLine(f"The rater’s name has {len(line.rater)} characters.", f"At most {RATER_NAME}.")
            simulated = line.rater_origin == Rater.Origin.SIMULATED
            self.raters[key] = Rater.objects.create(
                collection=self.study.collection,
                kind=line.rater_kind,
                name=line.rater,
                origin=Rater.Origin.SIMULATED if simulated else Rater.Origin.IMPORTED,
                source=self.file.path.name,
            )
        return self.raters[key]


def _orders(lines: tuple[OrderLine, ...], item: _Item, criterion: Criterion) -> tuple[OrderLine, ...]:
    """Return the orders of a pair. Raises BrokenLine for another item, and for a grade that is not on the scale."""
    if item.other_report is None:
        raise BrokenLine(f"The item “{item.item_id}” is not a pair, so it has no order.", "Remove “orders”.")
    for line in lines:
        if line.grade is not None and line.grade not in criterion.scale.values:
            raise BrokenLine(f"{line.grade:g}, in “orders”, is not a grade of “{criterion}”.")
    return lines


def _turned(line: JudgmentLine, item: _Item, criterion: Criterion) -> JudgmentLine:
    """Return what a row says about a pair whose other report is the first here. Raises BrokenLine where it cannot."""
    values = criterion.scale.values
    if line.highlights or {-value for value in values} != set(values):
        raise BrokenLine(
            f"Here the pair is “{item.item_id}”, and a grade of “{criterion}” has no opposite.",
            "Grade it this way round.",
        )
    orders = tuple(OrderLine(not one.swapped, _opposite(one.grade)) for one in line.orders)
    return line._replace(item_id=item.item_id, grade=_opposite(line.grade), orders=orders)


def _opposite(grade: float | None) -> float | None:
    return None if grade is None else 0 - grade


# The items of so large a study are held in memory (30 MB) while a table comes in.
MOST_ITEMS = 100_000
RATER_NAME = Rater._meta.get_field("name").max_length or 0


def _highlights(lines: Sequence[HighlightLine], item: Item) -> list[Highlight]:
    """Return the row's highlights. Raises BrokenLine unless each quote stands where it is said to."""
    text = item.judged_text.text or ""
    placed = [line for line in lines if line.start is not None and line.end is not None]
    try:
        check_spans([Span(line.start or 0, line.end or 0, line.quote) for line in placed], text)
    except HighlightDoesNotFit as misplaced:
        raise BrokenLine(
            "A quote is not at its start and end in the judged text.",
            "Count Unicode code points from 0, the end exclusive.",
        ) from misplaced
    sha256 = text_hash(text)
    return [
        Highlight(
            purpose=line.purpose,
            start=line.start,
            end=line.end,
            quote=line.quote,
            text_sha256=sha256 if line.start is not None else "",
        )
        for line in lines
    ]
