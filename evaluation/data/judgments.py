"""Reads a study's judgments into ratings: straight from the cursor into arrays, for there may be millions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from django.db import connection
from django.db.models import QuerySet, Value
from django.db.models.functions import Coalesce
from numpy.typing import NDArray

from collection.completeness import JudgesOfStudies, judges_of_studies
from collection.judgments.rater_names import distinct_names
from collection.judgments.unaided import own_grades
from collection.masking import uncounted_items
from collection.models import Criterion, Exclusion, Item, Judgment, Rater, SplitTopic, Study
from collection.web.cached_results import read_once
from stats.completeness import Completeness, complete_first
from stats.ratings import BoolArray, FloatArray, IntArray, Level, Ratings, codes_matrix

ROWS_AT_ONCE = 50_000
# Stands for NULL between the cursor and the array; no scale has this grade.
UNGRADED = -1e300


class StoredGrades(NamedTuple):
    """The judgments under a criterion that count, in 32 bits where these hold them; a grade is NaN where ungraded."""

    items: NDArray[Any]
    raters: NDArray[Any]
    grades: NDArray[Any]
    n_aided: int


@dataclass(frozen=True)
class CriterionRatings:
    """All current judgments under a criterion, but those of excluded raters.

    `raters` are the columns of `ratings`; `asked` (items × raters) says where a rater has a judgment,
    with a grade or ungraded; `n_aided` counts people's labels that are left out because a judge's grade was suggested
    before they were given; `topic_ids` holds the primary keys of the topics that `ratings` numbers, `text_ids` of
    the texts: the topic's key, and the report's or minus the passage's.
    """

    criterion: Criterion
    ratings: Ratings
    asked: BoolArray
    raters: tuple[Rater, ...]
    excluded: tuple[Exclusion, ...]
    topic_ids: IntArray
    text_ids: IntArray
    n_aided: int = 0

    def columns(self, kind: str) -> list[int]:
        """Return the columns of assessors, or of judges."""
        return [column for column, rater in enumerate(self.raters) if rater.kind == kind]

    @property
    def people(self) -> Ratings:
        """The assessors' ratings of the items they were asked."""
        columns = self.columns(Rater.Kind.ASSESSOR)
        of_people = self.ratings.of_raters(columns)
        asked = self.asked[:, columns]
        n_ungraded = int(asked.sum()) - of_people.n_ratings
        rows = np.flatnonzero(asked.any(axis=1))
        return replace(of_people.of_items(rows), n_ungraded=n_ungraded)

    @property
    def has_simulated_people(self) -> bool:
        """Whether any of the assessors is a simulation."""
        return any(rater.simulated for rater in self.raters if rater.kind == Rater.Kind.ASSESSOR)

    def of_topics(self, topics: Collection[int]) -> CriterionRatings:
        """Return the judgments about these topics alone, named by their primary keys."""
        assert self.ratings.topics is not None  # load_criterion
        rows = np.isin(self.topic_ids, list(topics))[self.ratings.topics]
        return replace(self, ratings=self.ratings.of_items(rows), asked=self.asked[rows])

    def judge(self, column: int) -> Ratings:
        """One judge's ratings of the items that it was asked, graded or not."""
        return self.ratings.of_raters([column]).of_items(self.asked[:, column])


def load_criterion(
    criterion: Criterion,
    *,
    level: Level | None = None,
    submitted: Mapping[str, Mapping[int, float | None]] | None = None,
) -> CriterionRatings:
    """Return the current judgments under the criterion that count. Items and raters are those that have one.

    They are read once as long as the study stays as it is, by whichever figure comes first. What was masked after its
    import leaves the statistics, but not those of the grades that it was masked by. Of people who were suggested a
    judge's grade, what they had said before counts, and nothing where they saw it first: their labels would make the
    judge look better than it is.

    `submitted` are grades of items (by primary key, None is ungraded) by judges that are not stored here: they become
    columns as if they were, of raters with primary keys below 0.
    """
    stored = read_once(f"judgments under {criterion.pk}", lambda: _read_grades(criterion))
    handed_in = {-place: name for place, name in enumerate(submitted or {}, start=1)}
    uncounted = uncounted_items(criterion) if handed_in else ()
    more = [
        (item, pk, np.nan if grade is None else grade)
        for pk, name in handed_in.items()
        for item, grade in (submitted or {})[name].items()
        if item not in uncounted
    ]
    rows = np.array(more, dtype=np.float64).reshape(-1, 3)
    item_ids, item = np.unique(np.concatenate([stored.items, rows[:, 0]]).astype(np.int64), return_inverse=True)
    rater_ids, rater = np.unique(np.concatenate([stored.raters, rows[:, 1]]).astype(np.int64), return_inverse=True)
    raters = Rater.objects.in_bulk(rater_ids.tolist())
    for pk, name in handed_in.items():
        raters[pk] = Rater(pk=pk, name=name, kind=Rater.Kind.JUDGE, origin=Rater.Origin.IMPORTED)
    grades = np.concatenate([stored.grades, rows[:, 2]]).astype(np.float64)
    graded = ~np.isnan(grades)
    scale = np.array(sorted({*map(float, criterion.scale.values), *np.unique(grades[graded]).tolist()}))
    asked = np.zeros((len(item_ids), len(rater_ids)), dtype=bool)
    asked[item, rater] = True
    topic_ids, topics, text_ids, texts = _places(criterion, item_ids)
    ratings = Ratings(
        codes=codes_matrix(
            item[graded],
            rater[graded],
            np.searchsorted(scale, grades[graded]),
            n_items=len(item_ids),
            n_raters=len(rater_ids),
        ),
        scale=tuple(scale.tolist()),
        level=level or _level(criterion),
        items=item_ids.tolist(),
        raters=distinct_names(raters[pk] for pk in rater_ids.tolist()),
        topics=topics,
        texts=texts,
        n_ungraded=int((~graded).sum()),
    )
    excluded = Exclusion.objects.filter(study=criterion.study_id, lifted_at=None).select_related("rater")
    by_column = tuple(raters[pk] for pk in rater_ids.tolist())
    return CriterionRatings(criterion, ratings, asked, by_column, tuple(excluded), topic_ids, text_ids, stored.n_aided)


def _read_grades(criterion: Criterion) -> StoredGrades:
    judgments = Judgment.objects.filter(criterion=criterion).without_the_excluded()
    grade = Coalesce("grade", Value(UNGRADED))
    rows = read_numbers(judgments.annotate(grade_or_none=grade).values_list("item_id", "rater_id", "grade_or_none"), 3)
    if uncounted := uncounted_items(criterion):
        rows = rows[~np.isin(rows[:, 0], list(uncounted))]
    rows, n_aided = as_said_before(rows, own_grades(criterion))
    grades = np.where(rows[:, 2] == UNGRADED, np.nan, rows[:, 2])
    exact = np.array_equal(grades.astype(np.float32), grades, equal_nan=True)
    return StoredGrades(_keys(rows[:, 0]), _keys(rows[:, 1]), grades.astype(np.float32) if exact else grades, n_aided)


def _keys(keys: FloatArray) -> NDArray[Any]:
    return keys.astype(np.int32 if keys.max(initial=0) < 2**31 else np.int64)


def as_said_before(rows: FloatArray, own: Mapping[tuple[int, int], float | None]) -> tuple[FloatArray, int]:
    """Put what people said before they saw a judge's grade in the place of what they say now.

    `rows` are item, rater and grade; `own` is what they had said, by item and rater, None where they saw the judge's
    grade first. Such rows are left out. Returns the rows and how many were left out.
    """
    if not own:
        return rows, 0
    keys = np.array([(item << 32) | rater for item, rater in own], dtype=np.int64)
    before = np.array([np.nan if grade is None else grade for grade in own.values()])
    order = np.argsort(keys)
    keys, before = keys[order], before[order]
    mine = (rows[:, 0].astype(np.int64) << 32) | rows[:, 1].astype(np.int64)
    places = np.minimum(np.searchsorted(keys, mine), len(keys) - 1)
    touched = keys[places] == mine
    rows = rows.copy()
    rows[touched, 2] = before[places[touched]]
    kept = ~np.isnan(rows[:, 2])
    return rows[kept], int((~kept).sum())


def _level(criterion: Criterion) -> Level:
    levels: dict[str, Level] = {"nominal": "nominal", "ordinal": "ordinal", "interval": "interval"}
    return levels[criterion.scale.level]


def _places(criterion: Criterion, item_ids: IntArray) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Return the topics' keys with each item's topic as a number into them, and the same of reports or passages."""
    rows = read_once(f"texts of {criterion.study_id} {criterion.task_type}", lambda: _read_texts(criterion))
    rows = rows[np.searchsorted(rows[:, 0], item_ids)].astype(np.int64)
    topic_ids, topics = np.unique(rows[:, 1], return_inverse=True)
    # A passage is one text for each topic it is judged under; reports' and passages' ids are told apart by sign.
    text_ids, texts = np.unique(
        np.stack([rows[:, 1], np.where(rows[:, 2] > 0, rows[:, 2], -rows[:, 3])], axis=1), axis=0, return_inverse=True
    )
    return topic_ids, topics.ravel(), text_ids, texts.ravel()


def _read_texts(criterion: Criterion) -> NDArray[Any]:
    """Return item, topic, report and passage of each item of the criterion's kind, 0 for none, ordered by item."""
    items, absent = Item.objects.filter(study=criterion.study_id, task_type=criterion.task_type), Value(0)
    numbers = items.annotate(
        report_or_none=Coalesce("report_id", absent), passage_or_none=Coalesce("passage_id", absent)
    ).values_list("id", "topic_id", "report_or_none", "passage_or_none")
    rows = _keys(read_numbers(numbers, 4))
    return rows[np.argsort(rows[:, 0])]


def read_places(items: QuerySet[Item]) -> IntArray:
    """Return item, topic, element and text of each of the items by primary keys, shape (items, 4), ordered by item.

    The element is 0 where there is none. A passage is told by its key, a report by minus its run's.
    """
    absent = Value(0)
    numbers = items.annotate(
        element_or_none=Coalesce("element_id", absent),
        passage_or_none=Coalesce("passage_id", absent),
        run_or_none=Coalesce("report__run_id", absent),
    ).values_list("id", "topic_id", "element_or_none", "passage_or_none", "run_or_none")
    rows = read_numbers(numbers, 5).astype(np.int64)
    rows[:, 3] = np.where(rows[:, 3] > 0, rows[:, 3], -rows[:, 4])
    return rows[np.argsort(rows[:, 0]), :4]


def read_numbers(queryset: QuerySet[Any, Any], width: int) -> FloatArray:
    """Read numbers straight from the cursor, without a model or a tuple of Django's for each row."""
    sql, parameters = queryset.order_by().query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        numbers = np.fromiter(chain.from_iterable(_rows(cursor)), dtype=np.float64)
    return numbers.reshape(-1, width)


def _rows(cursor: Any) -> Iterator[tuple[Any, ...]]:
    while rows := cursor.fetchmany(ROWS_AT_ONCE):
        yield from rows


def completeness_of(study: Study, part: SplitTopic.Part = SplitTopic.Part.DEVELOPMENT) -> JudgesOfStudies:
    """Return how complete the study's judges are on the part, counted once as long as the study stays as it is."""
    return read_once(f"judges of {study.pk} on {part}", lambda: judges_of_studies([study], part=part))


def marked_raters_of(criterion: Criterion) -> list[tuple[str, Rater, Completeness]]:
    """Return who judged under the criterion, by the names that its ratings use, without the excluded.

    With how complete judges are, unfinished and failing ones last.
    """
    judgments = Judgment.objects.filter(criterion=criterion).without_the_excluded()
    raters = list(Rater.objects.filter(pk__in=judgments.values("rater")).order_by("pk"))
    known = completeness_of(criterion.study)
    named = zip(distinct_names(raters), raters, strict=True)
    return complete_first(
        ((name, rater, known.of(criterion.pk, rater.pk)) for name, rater in named), of=lambda one: one[2]
    )
