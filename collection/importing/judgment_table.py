"""The long judgments table becomes judgments of a study."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from collection.formats.judgments_reader import HighlightLine, JudgmentLine, OrderLine, read_judgments
from collection.formats.problems import BrokenLine, InputFile
from collection.importing.judgments import JudgmentRows, Key, key_of, stored_judgments
from collection.importing.rows import BATCH, Imported
from collection.importing.written_answers import Revisions, WrittenAnswers, batched
from collection.judgments.pair_orders import add_orders
from collection.judgments.services import HighlightDoesNotFit, Span, check_spans
from collection.models import Criterion, Guideline, Highlight, Item, Judgment, PairOrder, Rater, Study
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
        table.flush()
    imported.remarks.extend(table.remarks())
    return imported


class _Table:
    def __init__(self, *, file: InputFile, imported: Imported, study: Study, at: datetime) -> None:
        self.file = file
        self.study = study
        self.at = at
        self.judgments = JudgmentRows(file=file, imported=imported)
        self.criteria: dict[str, Criterion] = {c.name: c for c in study.criteria.select_related("scale")}
        self.guidelines: dict[int, Guideline] = {g.version: g for g in study.guidelines.all()}
        self.raters = self._raters()
        self.orders: dict[Key, tuple[OrderLine, ...]] = {}
        self.answers = WrittenAnswers(file, imported)
        self.revisions = Revisions(study, imported, at, lambda kind, name: self.raters.get((kind, name)))
        self.of_round_2: list[tuple[int, JudgmentLine]] = []
        self.left_out: set[str] = set()
        self.undated = 0

    def add(self, lines: Sequence[tuple[int, JudgmentLine]]) -> None:
        """Take a batch of rows; those of round 2 wait until the answers that were read are stored."""
        self.of_round_2 += [(number, line) for number, line in lines if line.revises]
        lines = [(number, line) for number, line in lines if not line.revises]
        wanted = {line.item_id for _, line in lines}
        # Topics are few: fetched once, each is one object for all of its items.
        found = Item.objects.filter(study=self.study, item_id__in=wanted).prefetch_related("topic")
        if any(line.highlights for _, line in lines):
            found = found.select_related("passage", "report")
        items = {item.item_id: item for item in found}
        for number, line in lines:
            with self.file.line(number):
                self._take(number, line, items.get(line.item_id))

    def add_revisions(self) -> None:
        """Take the rows of round 2."""
        if not self.of_round_2:
            return
        self.flush()
        items = self.revisions.items_of(self.of_round_2, self.file)
        for number, line in self.of_round_2:
            with self.file.line(number):
                if item := items.get(line.item_id):
                    self._take(number, line, item)

    def flush(self) -> None:
        """Store the judgments taken so far, with what belongs to them."""
        self.judgments.flush()
        self.answers.flush()
        self._add_orders()

    def _take(self, number: int, line: JudgmentLine, item: Item | None) -> None:
        judgment = self._judgment(line, item)
        self.judgments.add(number, judgment, _highlights(line.highlights, judgment.item))
        if line.orders:
            self.orders[key_of(judgment)] = _orders(line.orders, judgment)
        if line.answer:
            self.answers.add(number, judgment, line.answer)
        self.left_out.update(line.rest)

    def _add_orders(self) -> None:
        """Note in which orders the pairs were seen, where that is not stored yet."""
        orders, self.orders = self.orders, {}
        for keys in batched(orders):
            add_orders(
                PairOrder(judgment=judgment, swapped=order.swapped, grade=order.grade)
                for judgment in stored_judgments(keys)
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

    def _judgment(self, line: JudgmentLine, item: Item | None) -> Judgment:
        criterion = self.criteria.get(line.criterion)
        if criterion is None:
            names = ", ".join(self.criteria)
            raise BrokenLine(f"The study has no criterion “{line.criterion}”.", f"It has: {names}.")
        if item is None:
            raise BrokenLine(f"The study has no item “{line.item_id}”.", "Use an item from the study’s export.")
        if item.task_type != criterion.task_type:
            raise BrokenLine(f"The item “{item}” is not judged under “{criterion}”.", "Correct one of the two.")
        if line.topic_id and line.topic_id != item.topic.topic_id:
            raise BrokenLine(
                f"The item “{item}” belongs to the topic “{item.topic.topic_id}”.", "Correct the topic_id."
            )
        if line.ungraded and line.ungraded not in Judgment.Ungraded.values:
            reasons = ", ".join(Judgment.Ungraded.values)
            raise BrokenLine(f"“{line.ungraded}” is not a reason for being ungraded.", f"The reasons are {reasons}.")
        if line.guideline_version is not None and line.guideline_version not in self.guidelines:
            raise BrokenLine(f"The study has no guideline version {line.guideline_version}.", "Leave it empty.")
        self.undated += line.judged_at is None
        return Judgment(
            item=item,
            criterion=criterion,
            rater=self._rater(line),
            grade=line.grade,
            ungraded=line.ungraded,
            judged_at=line.judged_at or self.at,
            seconds=line.seconds,
            guideline=self.guidelines.get(line.guideline_version) if line.guideline_version is not None else None,
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


def _orders(lines: tuple[OrderLine, ...], judgment: Judgment) -> tuple[OrderLine, ...]:
    """Return the orders of a pair. Raises BrokenLine for another item, and for a grade that is not on the scale."""
    if judgment.item.other_report_id is None:
        raise BrokenLine(f"The item “{judgment.item}” is not a pair, so it has no order.", "Remove “orders”.")
    for line in lines:
        if line.grade is not None and line.grade not in judgment.criterion.scale.values:
            raise BrokenLine(f"{line.grade:g}, in “orders”, is not a grade of “{judgment.criterion}”.")
    return lines


RATER_NAME = Rater._meta.get_field("name").max_length or 0


def _highlights(lines: Sequence[HighlightLine], item: Item) -> list[Highlight]:
    """Return the row's highlights. Raises BrokenLine unless each quote stands where it is said to."""
    if not lines:
        return []
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
