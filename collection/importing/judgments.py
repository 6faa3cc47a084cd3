"""Judgments on their way in: checked against the scale, stored in batches, never in the place of another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.db.models import Q, QuerySet

from collection.formats.problems import BrokenLine, InputFile
from collection.importing.rows import BATCH, Imported
from collection.judgments.services import add_judgments
from collection.models import Criterion, Highlight, Judgment, Rater

Key = tuple[int, int, int]
Place = tuple[str, int | None, int | None, str]


class JudgmentRows:
    """Judgments from one file. Those that are stored must be the same, or their line is refused."""

    def __init__(self, *, file: InputFile, imported: Imported) -> None:
        self.file = file
        self.imported = imported
        self.pending: dict[Key, tuple[int, Judgment, Sequence[Highlight]]] = {}
        self._grades: dict[int, list[float]] = {}

    def add(self, number: int, judgment: Judgment, highlights: Sequence[Highlight] = ()) -> None:
        """Take a judgment of this line. Raises BrokenLine if it cannot be stored."""
        self._check_grade(judgment.criterion, judgment.grade)
        key = key_of(judgment)
        if key in self.pending:
            _, before, highlights_before = self.pending[key]
            refuse_difference(before, highlights_before, judgment, highlights)
            return
        self.pending[key] = (number, judgment, highlights)
        if len(self.pending) >= BATCH:
            self.flush()

    def flush(self) -> None:
        """Store what is new of the judgments taken so far."""
        pending, self.pending = self.pending, {}
        if not pending:
            return
        before = stored_judgments(pending)
        if any(highlights for _, _, highlights in pending.values()):
            before = before.prefetch_related("highlights")
        stored = {key_of(judgment): judgment for judgment in before}
        new = [entry for key, entry in pending.items() if key not in stored]
        for key, judgment_before in stored.items():
            if key in pending:
                number, judgment, highlights = pending[key]
                with self.file.line(number):
                    refuse_difference(judgment_before, judgment_before.highlights.all(), judgment, highlights)
        for number, judgment, _ in new:
            with self.file.line(number):
                refuse_to_speak_for(judgment.rater)
        add_judgments(judgment for _, judgment, _ in new)
        self._add_highlights({key_of(judgment): highlights for _, judgment, highlights in new if highlights})
        self.imported.new["judgments"] += len(new)
        self.imported.known["judgments"] += len(pending) - len(new)

    def _add_highlights(self, highlights: dict[Key, Sequence[Highlight]]) -> None:
        if not highlights:
            return
        for judgment in stored_judgments(highlights):
            for highlight in highlights.get(key_of(judgment), ()):
                highlight.judgment = judgment
        fresh = [highlight for several in highlights.values() for highlight in several]
        Highlight.objects.bulk_create(fresh)
        self.imported.new["highlights"] += len(fresh)

    def _check_grade(self, criterion: Criterion, grade: float | None) -> None:
        values = self._grades.get(criterion.pk)
        if values is None:
            values = self._grades[criterion.pk] = criterion.scale.values
        if grade is not None and grade not in values:
            allowed = ", ".join(f"{value:g}" for value in values)
            raise BrokenLine(f"{grade:g} is not a grade of “{criterion.name}”.", f"Its grades are {allowed}.")


def refuse_to_speak_for(rater: Rater) -> None:
    """Raise BrokenLine for a rater who judges here: a file adds nothing in their name."""
    if rater.collection_id is None:
        raise BrokenLine(
            f"“{rater}” is a user here; a file cannot add judgments under that name.", "Rename the file’s rater."
        )


def refuse_difference(
    before: Judgment, highlights_before: Iterable[Highlight], judgment: Judgment, highlights: Iterable[Highlight]
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


def _already(judgment: Judgment) -> str:
    return f"“{judgment.rater}” has already judged “{judgment.item}” under “{judgment.criterion}”"


def stored_judgments(keys: Iterable[Key]) -> QuerySet[Judgment]:
    wanted = list(keys)
    return Judgment.objects.filter(
        Q(criterion_id__in={key[0] for key in wanted}),
        Q(item_id__in={key[1] for key in wanted}),
        Q(rater_id__in={key[2] for key in wanted}),
    )


def key_of(judgment: Judgment) -> Key:
    return judgment.criterion_id, judgment.item_id, judgment.rater_id


def _place(highlight: Highlight) -> Place:
    return highlight.purpose, highlight.start, highlight.end, highlight.quote


def _shown(judgment: Judgment) -> str:
    return judgment.ungraded if judgment.grade is None else f"{judgment.grade:g}"
