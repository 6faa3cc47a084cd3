"""Many judgments at once, written by a researcher's program: all of them or none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from collection.judgments.services import GradeNotOnScale, HighlightDoesNotFit, Span, record_judgment
from collection.models import ChangedPage, Collection, Criterion, Item, Judgment, Rater, Study, User
from stats.plurals import counted


class RowsRefused(ValueError):
    """Some rows cannot be written, so none was: `errors` says why, by the row's number from 0."""

    def __init__(self, errors: dict[int, str]) -> None:
        super().__init__(f"{counted(len(errors), 'rows')} cannot be written.")
        self.errors = errors


class RowRefused(ValueError):
    """This row cannot be written."""


@dataclass(frozen=True)
class JudgmentRow:
    """What a program says of one item; `rater` is empty where it speaks for its user.

    `guideline_version` is the version of the study's guidelines that the rater was shown, if one was.
    """

    item_id: str
    criterion: str
    grade: float
    spans: Sequence[Span] = ()
    seconds: float | None = None
    rater: str = ""
    rater_kind: str = Rater.Kind.ASSESSOR
    guideline_version: int | None = None
    unsure: bool = False
    page_changed: bool = False


@transaction.atomic
def record_judgments(*, study: Study, rows: Sequence[JudgmentRow], by: User, at: datetime) -> list[Judgment]:
    """Write the rows as judgments of `by`, or of the imported raters that they name. Raises RowsRefused.

    A judgment that is there already and says something else goes into the history.
    """
    desk = _Desk(study, rows, by)
    judgments: list[Judgment] = []
    errors: dict[int, str] = {}
    for number, row in enumerate(rows):
        try:
            judgments.append(desk.record(row, at=at))
        except (RowRefused, GradeNotOnScale, HighlightDoesNotFit) as refusal:
            errors[number] = str(refusal)
    if errors:
        raise RowsRefused(errors)
    on_changed_pages = [one for one, row in zip(judgments, rows, strict=True) if row.page_changed]
    note_changed_pages(((one.item_id, one.rater_id) for one in on_changed_pages), at=at)
    return judgments


class _Desk:
    """The study's criteria, items and guidelines, and the raters that rows may name."""

    def __init__(self, study: Study, rows: Sequence[JudgmentRow], by: User) -> None:
        self.study = study
        self.by = by
        self.criteria: dict[str, Criterion] = {c.name: c for c in study.criteria.select_related("scale")}
        items = Item.objects.filter(study=study, item_id__in={row.item_id for row in rows})
        self.items = {item.item_id: item for item in items.select_related("passage", "report")}
        self.guidelines = {guideline.version: guideline for guideline in study.guidelines.all()}
        self.raters: dict[tuple[str, str], Rater] = {}

    def record(self, row: JudgmentRow, *, at: datetime) -> Judgment:
        """Write one row. Raises RowRefused, GradeNotOnScale and HighlightDoesNotFit."""
        item, criterion = self.items.get(row.item_id), self.criteria.get(row.criterion)
        if item is None:
            raise RowRefused(f"The study has no item “{row.item_id}”.")
        if criterion is None:
            raise RowRefused(f"The study has no criterion “{row.criterion}”.")
        if criterion.task_type != item.task_type:
            raise RowRefused(f"“{row.item_id}” is not judged under “{row.criterion}”.")
        if row.guideline_version is not None and row.guideline_version not in self.guidelines:
            raise RowRefused(f"The study has no guideline version {row.guideline_version}. Leave it out.")
        return record_judgment(
            item=item,
            criterion=criterion,
            rater=self._rater(row),
            grade=row.grade,
            spans=row.spans,
            seconds=row.seconds,
            guideline=None if row.guideline_version is None else self.guidelines[row.guideline_version],
            unsure=row.unsure,
            at=at,
        )

    def _rater(self, row: JudgmentRow) -> Rater:
        key = row.rater, row.rater_kind
        if key not in self.raters:
            self.raters[key] = self._named_rater(row) if row.rater else self._rater_of_user()
        return self.raters[key]

    def _named_rater(self, row: JudgmentRow) -> Rater:
        source = f"written through the API by {self.by.username}"
        return imported_rater(self.study.collection, kind=row.rater_kind, name=row.rater, source=source)

    def _rater_of_user(self) -> Rater:
        defaults = {"kind": Rater.Kind.ASSESSOR, "name": self.by.username}
        rater, _ = Rater.objects.get_or_create(user=self.by, defaults=defaults)
        return rater


def note_changed_pages(pages: Iterable[tuple[int, int]], *, at: datetime) -> None:
    """Note, once, of these items that these raters chose on a page with other words: (item, rater) by primary key."""
    notes = [ChangedPage(item_id=item, rater_id=rater, noted_at=at) for item, rater in pages]
    ChangedPage.objects.bulk_create(notes, ignore_conflicts=True)


def imported_rater(collection: Collection, *, kind: str, name: str, source: str) -> Rater:
    """Return the collection's rater of this name, made if new."""
    rater, _ = Rater.objects.get_or_create(
        collection=collection,
        kind=kind,
        name=name,
        defaults={"origin": Rater.Origin.IMPORTED, "source": source},
    )
    return rater
