"""The scale of qrels that come in together, and the grades that one rater alone uses now and then.

A judge's single “10” among 146,000 grades from 0 to 3 is a slip; as a point of the scale it would change every
agreement and gain. The scale is that of what the study holds, else people's, else that of most files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Literal

from collection.formats.problems import BrokenFile, InputFile, Problem
from collection.formats.trec import read_qrels

Choice = Literal["ungraded", "refuse", "widen"]
CHOICES: tuple[Choice, ...] = ("ungraded", "refuse", "widen")
# What a rater uses in fewer of their lines, and nobody else, is a stray grade.
SELDOM = 0.01


class OffTheScale(BrokenFile):
    """A file has grades that the scale lacks."""


@dataclass
class FileGrades:
    """How often a file has each grade, and where first."""

    name: str
    of_people: bool
    counts: Counter[float] = field(default_factory=Counter)
    first: dict[float, int] = field(default_factory=dict)

    def add(self, number: int, grade: float) -> None:
        self.counts[grade] += 1
        self.first.setdefault(grade, number)


def grades_in(path: Path, *, name: str, of_people: bool) -> FileGrades:
    """Return how often qrels have each grade. Raises BrokenFile."""
    found = FileGrades(name, of_people)
    for number, line in read_qrels(InputFile(path, name=name)):
        found.add(number, line.grade)
    return found


@dataclass(frozen=True)
class SharedScale:
    """`grades` are the scale's; `stray` maps a file's name to grades that become *ungraded*; `remarks` say so."""

    grades: tuple[float, ...]
    stray: Mapping[str, Collection[float]] = field(default_factory=dict)
    remarks: Sequence[str] = ()


def shared_scale(files: Sequence[FileGrades], *, stored: Iterable[float] | None, choice: Choice) -> SharedScale:
    """Return the scale of these files, whatever their order; `stored` are the grades of the study's scale.

    Raises BrokenFile where a file has grades off the scale that are not strays, or strays that are refused.
    """
    scale = set(stored) if stored is not None else _with_those_between(_scale_of(files), files)
    every = {grade for file in files for grade in file.counts}
    if choice == "widen":
        return SharedScale(tuple(sorted(scale | every)))
    stray: dict[str, list[float]] = {}
    remarks = []
    users = Counter(grade for file in files for grade in file.counts)
    for file in sorted(files, key=lambda one: one.name):
        off = sorted(file.counts.keys() - scale)
        if not off:
            continue
        if choice == "refuse" or not all(_is_stray(grade, file, users) for grade in off):
            raise _off_the_scale(file, off, scale)
        stray[file.name] = off
        remarks += [
            f"{file.name}, line {file.first[grade]}: the grade {grade:g} is not on the scale {_listed(scale)}; "
            f"{file.counts[grade]:,} of {file.counts.total():,} lines have it and become ungraded."
            for grade in off
        ]
    return SharedScale(tuple(sorted(scale)), stray, remarks)


def _scale_of(files: Sequence[FileGrades]) -> set[float]:
    """Return people's grades, else those of most files, else what a single file uses without a gap or often."""
    people = [file for file in files if file.of_people]
    if people:
        return _with_shipped({grade for file in people for grade in file.counts})
    users = Counter(grade for file in files for grade in file.counts)
    most = {grade for grade, count in users.items() if 2 * count > len(files)}
    if len(files) == 1 or not most:
        most = set().union(*(_without_outliers(file) for file in files))
    return _with_shipped(most)


def _is_stray(grade: float, file: FileGrades, users: Mapping[float, int]) -> bool:
    return users[grade] == 1 and file.counts[grade] < SELDOM * file.counts.total()


def _with_those_between(scale: set[float], files: Sequence[FileGrades]) -> set[float]:
    """Return the scale with the grades inside its range that others use: few labels need not have every grade."""
    users = Counter(grade for file in files for grade in file.counts)
    between = {
        grade
        for file in files
        for grade in file.counts
        if min(scale) < grade < max(scale) and not _is_stray(grade, file, users)
    }
    return scale | between


def _without_outliers(file: FileGrades) -> set[float]:
    """Return the grades that the file has often, and rare ones that are at most as far away as those are apart."""
    often = sorted(grade for grade, count in file.counts.items() if count >= SELDOM * file.counts.total())
    if len(often) < 2:
        return set(file.counts)
    widest = max(after - before for before, after in pairwise(often))
    kept = set(often)
    for grade in sorted(file.counts.keys() - kept, key=lambda one: min(abs(one - often[0]), abs(one - often[-1]))):
        if min(abs(grade - one) for one in kept) <= widest:
            kept.add(grade)
    return kept


def _with_shipped(grades: set[float]) -> set[float]:
    shipped = {0.0, 1.0, 2.0, 3.0}
    return shipped if grades <= shipped else grades


def _off_the_scale(file: FileGrades, off: Sequence[float], scale: Collection[float]) -> OffTheScale:
    reason = f"{_listed(off)} {'is' if len(off) == 1 else 'are'} not on the scale {_listed(scale)}."
    remedy = (
        "Correct the file, or choose what becomes of such grades (--stray-grades): widen makes them points of a new "
        "scale, ungraded keeps those that one rater alone uses in fewer than 1 % of the lines without a grade."
    )
    return OffTheScale(file.name, [Problem(min(file.first[grade] for grade in off), reason, remedy)])


def _listed(grades: Iterable[float]) -> str:
    return ", ".join(f"{grade:g}" for grade in sorted(grades))
