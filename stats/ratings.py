"""Ratings as items × raters, and the patterns in which they occur.

Nothing here knows Django. An item matters to a coefficient of agreement only through its pattern: how
many raters gave it which grade. Three raters on a scale of six grades make at most 83 patterns,
whatever the number of items, so everything after one histogram costs the same for a hundred items
and for a million.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from stats.refusals import Refused
from stats.votes import NOBODY, most_given

Level = Literal["nominal", "ordinal", "interval", "ratio"]
LEVELS: tuple[Level, ...] = get_args(Level)
Grade = float | str

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
CodeArray = NDArray[np.int16]
BoolArray = NDArray[np.bool_]

MISSING = -1
LARGEST_SCALE = 1_000
DENSE_CELLS = 20_000_000


class LevelDoesNotFit(Refused):
    """The grades do not have what the level of measurement asks of them."""


@dataclass(frozen=True)
class Ratings:
    """Who graded what.

    - `codes`: items × raters, the place of each grade on the scale; MISSING where a rater gave none.
    - `scale`: all grades a rater may give, lowest first, used or not. Numbers, or labels in their order.
    - `level`: the level of measurement of the scale.
    - `items`, `raters`: their names or ids, in the order of rows and columns.
    - `topics`: for each item the number of its topic, counted from 0; None where there are no topics.
    - `texts`: for each item the number of the text (report, passage) it belongs to; None likewise.
    - `n_ungraded`: rows of the source that hold no grade. They are MISSING in `codes`.
    """

    codes: CodeArray
    scale: tuple[Grade, ...]
    level: Level
    items: Sequence[Any]
    raters: Sequence[Any]
    topics: IntArray | None = None
    texts: IntArray | None = None
    n_ungraded: int = 0

    def __post_init__(self) -> None:
        if len(self.scale) > LARGEST_SCALE:
            raise LevelDoesNotFit(
                f"{len(self.scale):,} different grades are more than a scale may have ({LARGEST_SCALE:,})."
            )
        if self.level in ("interval", "ratio") and not self.has_numbers:
            raise LevelDoesNotFit(f"The {self.level} level needs numeric grades.")
        if self.level == "ratio" and self.scale and min(self.numbers) < 0:
            raise LevelDoesNotFit("The ratio level needs grades of 0 or more, because its zero means none.")

    @property
    def has_numbers(self) -> bool:
        """Whether the grades are numbers, not labels."""
        return not any(isinstance(grade, str) for grade in self.scale)

    @property
    def numbers(self) -> FloatArray:
        """The grades as numbers, shape (k,): their values, or the ranks 0, 1, … of labels."""
        if self.has_numbers:
            return np.asarray(self.scale, dtype=np.float64)
        return np.arange(len(self.scale), dtype=np.float64)

    @property
    def graded(self) -> BoolArray:
        """Which items have a grade of anybody, shape (n,)."""
        graded: BoolArray = (self.codes != MISSING).any(axis=1)
        return graded

    @property
    def n_ratings(self) -> int:
        """How many grades there are."""
        return int((self.codes != MISSING).sum())

    def of_items(self, rows: IntArray | BoolArray) -> Ratings:
        """Return the ratings of these items alone."""
        rows = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        return replace(
            self,
            codes=np.asfortranarray(self.codes[rows]),
            items=[self.items[row] for row in rows],
            topics=None if self.topics is None else self.topics[rows],
            texts=None if self.texts is None else self.texts[rows],
        )

    def of_raters(self, columns: Sequence[int]) -> Ratings:
        """Return the ratings by these raters alone."""
        return replace(
            self,
            codes=np.asfortranarray(self.codes[:, list(columns)]),
            raters=[self.raters[column] for column in columns],
        )


def on_scale(ratings: Ratings, scale: tuple[Grade, ...]) -> Ratings:
    """Return the same ratings on a scale that holds all of their grades, and perhaps more."""
    places = {grade: place for place, grade in enumerate(scale)}
    moved = np.array([places[grade] for grade in ratings.scale] + [MISSING], dtype=np.int16)
    return replace(ratings, codes=np.asfortranarray(moved[ratings.codes]), scale=scale)


def codes_matrix(item: IntArray, rater: IntArray, code: IntArray, *, n_items: int, n_raters: int) -> CodeArray:
    """Spread long rows (item number, rater number, code) over items × raters. Later rows win."""
    codes = np.full((n_items, n_raters), MISSING, dtype=np.int16, order="F")
    codes[item, rater] = code
    return codes


@dataclass(frozen=True)
class CountPatterns:
    """How often each pattern occurs, where a pattern is how many raters gave which grade.

    - `counts`: patterns × grades of the scale, numbers of raters;
    - `frequencies`: for each pattern, the number of items that show it;
    - `by_topic`: topics × patterns, numbers of items (dense or sparse); None where there are no topics.
    """

    counts: FloatArray
    frequencies: FloatArray
    by_topic: Any = None

    def given(self, frequencies: FloatArray) -> FloatArray:
        """Return how many items have each grade, shape (sides, k), of so many with each pattern.

        Sides are raters whose grades are set against one another's; here all are one, and share an item's grade.
        """
        shares = self.counts / np.maximum(self.counts.sum(axis=1, keepdims=True), 1)
        return np.asarray(frequencies @ shares)[None, :]


@dataclass(frozen=True)
class RowPatterns:
    """How often each row of codes occurs, where a row is what each person gave, and last what a judge gave.

    `rows`: patterns × raters, MISSING where one gave no grade; the rest is as in CountPatterns.
    """

    rows: CodeArray
    frequencies: FloatArray
    by_topic: Any = None

    def given(self, frequencies: FloatArray) -> FloatArray:
        """As in CountPatterns: people are one side, the judge is the other."""
        given = (self.rows[:, :, None] == np.arange(self.rows.max(initial=0) + 1)).astype(np.float64)
        sides = (given[:, :-1].sum(axis=1), given[:, -1])
        return np.concatenate([CountPatterns(counts, frequencies).given(frequencies) for counts in sides])


@dataclass(frozen=True)
class PairPatterns:
    """How often each pair of grades occurs among the items that two raters both graded.

    `first` and `second` are the two codes of each pair, `n_grades` is the size of the scale; the rest
    is as in CountPatterns.
    """

    first: IntArray
    second: IntArray
    n_grades: int
    frequencies: FloatArray
    by_topic: Any = None

    def given(self, frequencies: FloatArray) -> FloatArray:
        """As in CountPatterns: each of the two is a side."""
        return np.stack([np.bincount(side, frequencies, self.n_grades) for side in (self.first, self.second)])


def count_patterns(ratings: Ratings) -> CountPatterns:
    """Return the patterns of the items that have a grade."""
    n_grades, n_raters = len(ratings.scale), ratings.codes.shape[1]
    if n_grades * (n_grades + 1) ** n_raters <= 2**17:
        keys, counts = _keys_by_rater(ratings.codes, n_grades)
    else:
        keys, counts = _keys_by_row(ratings.codes, n_grades)
    frequencies, by_topic = _histogram(keys, len(counts), ratings.topics)
    seen = (frequencies > 0) & (counts.sum(axis=1) > 0)
    return CountPatterns(counts[seen], frequencies[seen], _columns(by_topic, seen))


def pair_patterns(ratings: Ratings, first: int, second: int) -> PairPatterns:
    """Return the pairs of grades of two raters, by their columns, over the items both graded."""
    return pairs_of_codes(ratings.codes[:, first], ratings.codes[:, second], len(ratings.scale), ratings.topics)


def pairs_of_codes(a: CodeArray, b: CodeArray, n_grades: int, topics: IntArray | None) -> PairPatterns:
    """Return the pairs of codes over the places where neither is MISSING. All arrays have shape (n,)."""
    both = (a != MISSING) & (b != MISSING)
    topics = None if topics is None else topics[both]
    keys = a[both].astype(np.int64) * n_grades + b[both]
    frequencies, by_topic = _histogram(keys, n_grades**2, topics)
    seen = frequencies > 0
    cells = np.flatnonzero(seen)
    return PairPatterns(cells // n_grades, cells % n_grades, n_grades, frequencies[seen], _columns(by_topic, seen))


def _keys_by_rater(codes: CodeArray, n_grades: int) -> tuple[IntArray, FloatArray]:
    """Number the patterns by who gave what: one multiplication and one addition a rater."""
    n_raters = codes.shape[1]
    keys = np.zeros(len(codes), dtype=np.int32)
    for rater in range(n_raters):
        keys *= n_grades + 1
        keys += codes[:, rater]
        keys += 1
    size = (n_grades + 1) ** n_raters
    digits = np.arange(size)[:, None] // (n_grades + 1) ** np.arange(n_raters)[::-1] % (n_grades + 1)
    counts = (digits[:, :, None] == np.arange(1, n_grades + 1)).sum(axis=1)
    distinct, place = np.unique(counts, axis=0, return_inverse=True)
    return place.ravel()[keys], distinct.astype(np.float64)


def _keys_by_row(codes: CodeArray, n_grades: int) -> tuple[IntArray, FloatArray]:
    """Number the patterns as they are met, for more raters or grades than can be enumerated."""
    order = np.sort(codes, axis=1)
    rows = np.ascontiguousarray(order).view(np.dtype((np.void, order.dtype.itemsize * order.shape[1]))).ravel()
    _, where, keys = np.unique(rows, return_index=True, return_inverse=True)
    met = order[where]
    counts = np.zeros((len(met), n_grades))
    for column in met.T:
        given = column != MISSING
        counts[np.flatnonzero(given), column[given]] += 1
    return keys.ravel(), counts


def _histogram(keys: IntArray, size: int, topics: IntArray | None) -> tuple[FloatArray, Any]:
    """Count the keys, over all and within each topic."""
    frequencies = np.bincount(keys, minlength=size).astype(np.float64)
    if topics is None or not len(topics):
        return frequencies, None
    numbers, topics = np.unique(topics, return_inverse=True)
    if len(numbers) * size <= DENSE_CELLS:
        cells = np.bincount(topics * size + keys, minlength=len(numbers) * size)
        return frequencies, cells.reshape(len(numbers), size).astype(np.float64)
    from scipy.sparse import csr_array

    return frequencies, csr_array((np.ones(len(keys)), (topics, keys)), shape=(len(numbers), size))


def _columns(by_topic: Any, seen: BoolArray) -> Any:
    return None if by_topic is None else by_topic[:, np.flatnonzero(seen)]


def quotient(top: FloatArray | IntArray, bottom: FloatArray | IntArray) -> FloatArray:
    """Return top / bottom, of shapes that fit together; NaN where there is nothing to divide by."""
    out = np.full(np.broadcast_shapes(top.shape, bottom.shape), np.nan)
    return cast(FloatArray, np.divide(top, bottom, out=out, where=bottom != 0))


def majority(ratings: Ratings) -> CodeArray:
    """Return the code of each item's majority, by the rule of `stats.votes`; MISSING where nobody graded it."""
    most, _ = most_given(_counts(ratings))
    return np.where(most == NOBODY, MISSING, most).astype(np.int16)


def n_tied(ratings: Ratings) -> int:
    """Return how many items were given several grades equally often, so that the rule had to decide."""
    return int(tied(ratings).sum())


def tied(ratings: Ratings) -> BoolArray:
    """Return which items these are, shape (n,)."""
    return most_given(_counts(ratings))[1]


def _counts(ratings: Ratings) -> NDArray[np.int16]:
    """Return how often each item was given each grade, items × grades."""
    n_items, n_grades = len(ratings.codes), len(ratings.scale)
    counts = np.zeros((n_items, n_grades), dtype=np.int16)
    for column in ratings.codes.T:
        given = np.flatnonzero(column != MISSING)
        counts[given, column[given]] += 1
    return counts


def grades_of(codes: CodeArray, numbers: FloatArray) -> FloatArray:
    """Return the grades as numbers, NaN where MISSING. Same shape as `codes`."""
    with_missing = np.append(numbers, np.nan)
    return cast(FloatArray, with_missing[codes])
