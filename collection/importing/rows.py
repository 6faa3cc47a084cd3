"""Rows on their way into the database: the new ones are stored in batches, the known ones must be the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from django.db import models

from collection.formats.problems import BrokenLine, InputFile
from collection.judgments.bulk import insert_rows, inserted_unless_known

# Rows that are looked up and stored in one go: larger batches are hardly faster, and hold more texts in memory.
BATCH = 1_000
# Judgments are narrow.
JUDGMENTS_BATCH = 5_000
# What imports bring, as their reports list it: mostly the plural names of models.
ORDER = [
    "descriptions",
    "topics",
    "rubric elements",
    "passages",
    "element spans",
    "systems",
    "runs",
    "reports",
    "report sentences",
    "citations",
    "ranked passages",
    "nugget answers",
    "nugget references",
    "nugget banks",
    "bank versions",
    "bank entries",
    "items",
    "draws",
    "judgments",
    "highlights",
    "written answers",
    "answers to revise",
]
Row = TypeVar("Row", bound=models.Model)
Pending = dict[tuple[Any, ...], tuple[int, Row]]


@dataclass
class Imported:
    """What an import did: how much of what is new, how much was there already, and what to know about it.

    `studies` names those that judgments went into; `asks_for_rater`: the file does not say whose its judgments are.
    `flaws` lists, for each sort of flaw in the data, where it stands. None of them was fatal.
    """

    new: Counter[str] = field(default_factory=Counter)
    known: Counter[str] = field(default_factory=Counter)
    remarks: list[str] = field(default_factory=list)
    studies: list[str] = field(default_factory=list)
    asks_for_rater: bool = False
    flaws: dict[str, list[str]] = field(default_factory=dict)

    def flaw(self, what: str, where: str) -> None:
        """Note a flaw of the data that is no reason to refuse it."""
        self.flaws.setdefault(what, []).append(where)

    def add(self, other: Imported) -> None:
        """Count what another file of the same import did too; what is said twice is said once."""
        self.new += other.new
        self.known += other.known
        self.remarks += [remark for remark in other.remarks if remark not in self.remarks]
        self.studies += [study for study in other.studies if study not in self.studies]
        for what, places in other.flaws.items():
            self.flaws.setdefault(what, []).extend(places)

    @property
    def changed(self) -> bool:
        """Whether anything is new."""
        return self.new.total() > 0

    def counts(self) -> list[tuple[str, int, int]]:
        """Return a row for each sort of thing: its name in the plural, how many are new, how many known."""
        names = {*self.known, *self.new}
        return [(name, self.new[name], self.known[name]) for name in sorted(names, key=ORDER.index)]

    def __str__(self) -> str:
        return self.told()

    def told(self, *, everything: bool = False) -> str:
        """Return it in lines, with the first places of each flaw, or with all of them."""
        lines = [f"{new:,} {name} new, {known:,} already there" for name, new, known in self.counts()]
        if not self.changed:
            lines.append("Everything was already there: nothing changed.")
        return "\n".join([*lines, *self.remarks, *self.flaw_lines(shown=None if everything else 3)])

    def flaw_lines(self, *, shown: int | None = 3) -> list[str]:
        """Return a line for each sort of flaw, with the first places where it stands."""
        return [
            f"{len(places)} × {what}: {'; '.join(places[:shown])}{'; …' if len(places) > len(places[:shown]) else ''}"
            for what, places in self.flaws.items()
        ]


class Rows(Generic[Row]):
    """Rows of one model from one file.

    A row is known by its `key`, the attributes that are unique among `stored`. Its other attributes
    must be those of the stored row, or its line is refused. With `remember`, `pks` maps the keys of all that is
    stored to primary keys; without, nobody may ask for one. `fills` tells whether a row (second) fills in what is
    blank in the stored one (first); `decided` which attributes of a stored row were decided here since, so that a file
    need not say the same; `unsaid` names those that say nothing where the file leaves them blank.
    """

    def __init__(
        self,
        stored: models.QuerySet[Row],
        key: tuple[str, ...],
        *,
        file: InputFile,
        imported: Imported,
        remember: bool = False,
        fills: Callable[[Row, Row], bool] | None = None,
        decided: Callable[[Row], Container[str]] | None = None,
        unsaid: Container[str] = (),
    ) -> None:
        self.model = stored.model
        self.names = str(self.model._meta.verbose_name_plural)
        self.stored = stored
        self.key = key
        self.file = file
        self.imported = imported
        self.fills = fills
        self.decided = decided
        self.unsaid = unsaid
        self.pending: Pending[Row] = {}
        self._all_new = True
        self.remember = remember
        self.pks: dict[tuple[Any, ...], int] = self._pks_of(stored) if remember else {}
        self._last = max(self.pks.values(), default=0)
        fields = self.model._meta.concrete_fields
        self.names_of_columns = [field.name for field in fields if not field.primary_key]
        self.attnames = [field.attname for field in fields if not field.primary_key]
        self.hashed = any(field.name == "text_sha256" for field in fields)
        self.compared = [
            field.attname
            for field in fields
            if not field.primary_key and field.attname not in key and not (self.hashed and field.name == "text")
        ]
        self.limits = [
            (field.attname, field.max_length)
            for field in fields
            if isinstance(field, models.CharField) and field.max_length
        ]

    def add(self, number: int, row: Row) -> None:
        """Take a row of this line. Raises BrokenLine if it cannot be stored."""
        for name, limit in self.limits:
            length = len(getattr(row, name))
            if length > limit:
                raise BrokenLine(f"The field “{name}” has {length} characters.", f"The limit is {limit}.")
        key = self._key_of(row)
        if key in self.pending:
            self._refuse_difference(self.pending[key][1], row)
            self.imported.known[self.names] += 1
            return
        self.pending[key] = (number, row)
        if len(self.pending) >= BATCH:
            self.flush()

    def pk(self, *key: Any, what: str) -> int:
        """Return the primary key of the row with this key. Raises BrokenLine if there is none."""
        if key not in self.pks:
            self.flush()
        try:
            return self.pks[key]
        except KeyError:
            raise BrokenLine(
                f"There is no {what} above this line, nor in the collection.", "Declare it first, or correct its name."
            ) from None

    def flush(self) -> None:
        """Store what is new of the rows taken so far.

        As long as all of them are new, the database need not be asked which are.
        """
        pending, self.pending = self.pending, {}
        if not pending:
            return
        new = [row for _, row in pending.values()]
        if not (self._all_new and self._all_inserted(new)):
            new = self._new_among(pending)
            insert_rows(self.model, self.names_of_columns, self._values(new))
            self._all_new = len(new) == len(pending)
        if new and self.remember:
            added = self._pks_of(self.stored.filter(pk__gt=self._last))
            self._last = max([self._last, *added.values()])
            self.pks |= added
        self.imported.new[self.names] += len(new)

    def _new_among(self, pending: Pending[Row]) -> list[Row]:
        """Return those that are not stored; of the others, fill in what is blank and refuse those that differ."""
        known = self._known_among(pending)
        new, filled = [], []
        for key, (number, row) in pending.items():
            stored = known.get(key)
            if stored is None:
                new.append(row)
            elif self.fills and self.fills(stored, row):
                row.pk = stored.pk
                filled.append(row)
            else:
                self.imported.known[self.names] += 1
                try:
                    self._refuse_difference(stored, row)
                except BrokenLine as broken:
                    self.file.refuse(number, broken)
        if filled:
            self.model._default_manager.bulk_update(filled, [*self.compared, *(["text"] if self.hashed else [])])
            self.imported.new[self.names] += len(filled)
        return new

    def _all_inserted(self, rows: Sequence[Row]) -> bool:
        return inserted_unless_known(self.model, self.names_of_columns, self._values(rows))

    def _values(self, rows: Iterable[Row]) -> Iterator[list[Any]]:
        return ([getattr(row, attname) for attname in self.attnames] for row in rows)

    def _key_of(self, row: Row) -> tuple[Any, ...]:
        return tuple(getattr(row, name) for name in self.key)

    def _pks_of(self, rows: models.QuerySet[Row]) -> dict[tuple[Any, ...], int]:
        return {tuple(key): pk for pk, *key in rows.values_list("pk", *self.key)}

    def _known_among(self, keys: Iterable[tuple[Any, ...]]) -> dict[tuple[Any, ...], Row]:
        columns = [set(column) for column in zip(*keys, strict=True)]
        rows = self.stored.filter(**{f"{name}__in": column for name, column in zip(self.key, columns, strict=True)})
        return {self._key_of(row): row for row in (rows.defer("text") if self.hashed else rows)}

    def _refuse_difference(self, stored: Row, row: Row) -> None:
        decided = self.decided(stored) if self.decided else ()
        for name in self.compared:
            if getattr(stored, name) == getattr(row, name) or name in decided:
                continue
            if name in self.unsaid and not getattr(row, name):
                continue
            what = str(self.model._meta.verbose_name)
            if name == "text_sha256":
                raise BrokenLine(f"The {what} “{row}” is already there with another text.", CHANGED_TEXT)
            raise BrokenLine(
                f"The {what} “{row}” is already there with another {name.removesuffix('_id')}: "
                f"{getattr(stored, name)!r}, not {getattr(row, name)!r}.",
                "Change the line to what is stored, or give it a new id.",
            )


CHANGED_TEXT = "Texts never change, because highlights count characters in them: give the new text a new id."
