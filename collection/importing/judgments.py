"""Judgments on their way in: checked against the scale, stored in batches, never in the place of another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from collection.formats.problems import BrokenLine, InputFile
from collection.importing.rows import JUDGMENTS_BATCH, Imported
from collection.judgments.services import NewJudgment, add_judgments, all_added, stored_among
from collection.models import Criterion, Highlight, Item, Judgment, Rater

Key = tuple[int, int, int]
Entry = tuple[int, NewJudgment, Sequence[Highlight]]
Place = tuple[str, int | None, int | None, str]


class JudgmentRows:
    """Judgments from one file. Those that are stored must be the same, or their line is refused."""

    def __init__(self, *, file: InputFile, imported: Imported) -> None:
        self.file = file
        self.imported = imported
        self.pending: dict[Key, Entry] = {}
        self._grades: dict[int, list[float]] = {}
        self._users: dict[int, Rater | None] = {}
        self._all_new = True

    def grade(
        self,
        number: int,
        item: int,
        criterion: Criterion,
        rater: Rater,
        grade: float | None,
        highlights: Sequence[Highlight] = (),
        *,
        at: datetime,
        ungraded: str = Judgment.Ungraded.UNREADABLE,
    ) -> NewJudgment:
        """Take a rater's grade of an item, or why there is none, and return it. Raises BrokenLine."""
        reason = "" if grade is not None else ungraded
        judgment = NewJudgment(item, criterion.pk, rater.pk, grade, at, reason)
        self.add(number, judgment, highlights)
        return judgment

    def add(self, number: int, judgment: NewJudgment, highlights: Sequence[Highlight] = ()) -> None:
        """Take a judgment of this line. Raises BrokenLine if it cannot be stored."""
        self._check_grade(judgment)
        key = judgment.key
        if key in self.pending:
            _, before, highlights_before = self.pending[key]
            refuse_difference(before, highlights_before, judgment, highlights)
            return
        self.pending[key] = (number, judgment, highlights)
        if len(self.pending) >= JUDGMENTS_BATCH:
            self.flush()

    def flush(self) -> None:
        """Store what is new of the judgments taken so far.

        As long as all of them are new, the database need not be asked which are.
        """
        pending, self.pending = self.pending, {}
        if not pending:
            return
        new = list(pending.values())
        if not (self._all_new and all_added([judgment for _, judgment, _ in new])):
            new = self._new_among(pending)
            add_judgments([judgment for _, judgment, _ in new])
            self._all_new = len(new) == len(pending)
        for number, judgment, _ in new:
            if user := self._user(judgment.rater_id):
                self.file.refuse(number, speaks_for(user))
        self._add_highlights({judgment.key: highlights for _, judgment, highlights in new if highlights})
        self.imported.new["judgments"] += len(new)
        self.imported.known["judgments"] += len(pending) - len(new)

    def _new_among(self, pending: dict[Key, Entry]) -> list[Entry]:
        """Return those that are not stored; of the others, refuse those that say something else."""
        before = stored_among(pending)
        if any(highlights for _, _, highlights in pending.values()):
            before = before.prefetch_related("highlights")
        stored = {key_of(judgment): judgment for judgment in before}
        for key, judgment_before in stored.items():
            if key in pending:
                number, judgment, highlights = pending[key]
                with self.file.line(number):
                    told = judgment_before.highlights.all() if highlights else ()
                    refuse_difference(judgment_before, told, judgment, highlights)
        return [entry for key, entry in pending.items() if key not in stored]

    def _add_highlights(self, highlights: dict[Key, Sequence[Highlight]]) -> None:
        if not highlights:
            return
        for judgment in stored_among(highlights):
            for highlight in highlights.get(key_of(judgment), ()):
                highlight.judgment = judgment
        fresh = [highlight for several in highlights.values() for highlight in several]
        Highlight.objects.bulk_create(fresh)
        self.imported.new["highlights"] += len(fresh)

    def _check_grade(self, judgment: NewJudgment) -> None:
        if judgment.grade is None:
            return
        pk = judgment.criterion_id
        if pk not in self._grades:
            self._grades[pk] = Criterion.objects.select_related("scale").get(pk=pk).scale.values
        if judgment.grade not in self._grades[pk]:
            allowed = ", ".join(f"{value:g}" for value in self._grades[pk])
            criterion = Criterion.objects.get(pk=pk)
            raise BrokenLine(f"{judgment.grade:g} is not a grade of “{criterion.name}”.", f"Its grades are {allowed}.")

    def _user(self, rater: int) -> Rater | None:
        """Return the rater if they judge here."""
        if rater not in self._users:
            self._users[rater] = Rater.objects.filter(pk=rater, collection=None).first()
        return self._users[rater]


def speaks_for(rater: Rater) -> BrokenLine:
    """Return why a line is refused that judges in the name of one who judges here: a file adds nothing in it."""
    return BrokenLine(
        f"“{rater}” is a user here; a file cannot add judgments under that name.", "Rename the file’s rater."
    )


def refuse_difference(
    before: NewJudgment | Judgment,
    highlights_before: Iterable[Highlight],
    judgment: NewJudgment,
    highlights: Iterable[Highlight],
) -> None:
    """Raise BrokenLine unless both say the same; highlights that a file does not tell may be there."""
    if (before.grade, before.ungraded) != (judgment.grade, judgment.ungraded):
        raise BrokenLine(
            f"{_already(judgment)} with {_shown(before)}; here it is {_shown(judgment)}.",
            "A file never replaces a stored judgment: remove the line, or rename the rater.",
        )
    told = list(map(_place, highlights))
    if told and told != list(map(_place, highlights_before)):
        raise BrokenLine(f"{_already(judgment)} with other highlights.", "Remove the line, or rename the rater.")


def _already(judgment: NewJudgment) -> str:
    rater = Rater.objects.get(pk=judgment.rater_id)
    item = Item.objects.get(pk=judgment.item_id)
    return f"“{rater}” has already judged “{item}” under “{Criterion.objects.get(pk=judgment.criterion_id)}”"


def key_of(judgment: Judgment) -> Key:
    return judgment.criterion_id, judgment.item_id, judgment.rater_id


def _place(highlight: Highlight) -> Place:
    return highlight.purpose, highlight.start, highlight.end, highlight.quote


def _shown(judgment: NewJudgment | Judgment) -> str:
    return judgment.ungraded if judgment.grade is None else f"{judgment.grade:g}"
