"""All judges of a researcher's studies beside people: one row for each judge, criterion and study.

What there is to compare is found with a few queries, however many studies there are. The figures are kept in the cache
under a fingerprint of all that they rest on, so a worker measures only what has changed since.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.cache import caches
from django.db.models import QuerySet

from collection.judgments.judged_criteria import Judged, read_judged
from collection.models import Criterion, Rater, Study
from collection.web.cached_results import computed_aside
from collection.web.tables import Table
from evaluation.data.judge_pairs import JudgePairs, PairedJudge, is_graded_version, pair_judges
from evaluation.data.judgments import load_criterion
from evaluation.data.text_level import RolledUpJudge, RollUp, roll_ups_among, rolled_up_judges
from evaluation.trust.overview_rows import COLUMNS, Kept, Row, judges_in_words, sorted_rows
from stats.judges.summary import Brief, brief_of_items, brief_of_texts

KEPT_FOR_SECONDS = 7 * 24 * 3600
# Raised when what is kept under the same fingerprint would come out otherwise.
VERSION = 2


@dataclass(frozen=True)
class TrustInJudges:
    """All rows; comparisons `waiting` are not measured yet; `alone`: criteria that judges graded beside nobody."""

    rows: tuple[Row, ...]
    waiting: tuple[str, ...]
    alone: tuple[Criterion, ...]

    @property
    def n_waiting(self) -> int:
        return len(self.waiting)

    @property
    def has_simulated(self) -> bool:
        return any(row.simulated for row in self.rows)

    @property
    def compared(self) -> list[tuple[str, str]]:
        """The studies and criteria with several judges on the same items, which the comparison of judges holds."""
        found = Counter((row.criterion.study.name, row.criterion.name) for row in self.rows if not row.rolled_up)
        return sorted(key for key, n in found.items() if n > 1)

    @property
    def answer(self) -> str:
        """Of how many judges it is settled how they stand beside people; empty while comparisons are computed."""
        return "" if self.waiting else judges_in_words(self.rows)

    def as_dict(self) -> dict[str, Any]:
        """Return everything, as API, command and download have it."""
        return {
            "answer": self.answer,
            "judges": [row.as_dict() for row in self.rows],
            "graded_beside_nobody": [{"study": one.study.name, "criterion": one.name} for one in self.alone],
        }

    def table(self) -> Table:
        return Table.of("Judges beside people", COLUMNS, (row.cells() for row in self.rows))


@dataclass(frozen=True)
class _Comparison:
    """What is measured and kept at once: all judges beside the people of a criterion, or rolled up to stand there."""

    criterion: Criterion
    roll_up: RollUp | None
    key: str

    def measure(self) -> list[Kept]:
        if self.roll_up is not None:
            found = rolled_up_judges(self.roll_up)
            return [_keep_rolled(one, found.test_of(one)) for one in found.judges]
        judged = load_criterion(self.criterion)
        pairs = pair_judges(judged)
        return [_keep_pair(one, pairs, people_simulated=judged.has_simulated_people) for one in pairs.pairs]


def trust_in_judges(studies: QuerySet[Study], *, sort: str = "", measure: bool = True) -> TrustInJudges:
    """Return every judge that graded what people judged in these studies, on the same items or rolled up.

    `sort` is a key of SORTS, with a minus the other way round. Without `measure` there is what is kept alone.
    """
    judged = read_judged(studies)
    comparisons = list(_comparisons(judged))
    cache = caches["figures"]
    kept: dict[str, list[Kept]] = cache.get_many([one.key for one in comparisons])
    for one in comparisons:
        if measure and one.key not in kept:
            kept[one.key] = one.measure()
            cache.set(one.key, kept[one.key], KEPT_FOR_SECONDS)
    raters = Rater.objects.in_bulk({row.judge for rows in kept.values() for row in rows})
    rows = [
        Row(raters[found.judge], one.criterion, judged.by_pk[found.judge_criterion], one.roll_up, found)
        for one in comparisons
        for found in kept.get(one.key, ())
    ]
    waiting = [one for one in comparisons if one.key not in kept]
    waiting_keys = tuple(one.key for one in waiting)
    return TrustInJudges(tuple(sorted_rows(rows, sort)), waiting_keys, tuple(_alone(judged, rows, waiting)))


def measure_all(_: None, *, studies: list[int]) -> None:
    """Measure all judges of these studies; each comparison is kept by itself."""
    trust_in_judges(Study.objects.filter(pk__in=studies))


def kept_trust_in_judges(studies: QuerySet[Study], *, sort: str = "") -> TrustInJudges:
    """Return the same from what a worker has measured and what it measures in a moment.

    Raises StillComputing and NotComputed.
    """
    found = trust_in_judges(studies, sort=sort, measure=False)
    if found.waiting:
        key = hashlib.sha256(repr(found.waiting).encode()).hexdigest()
        computed_aside(
            "evaluation.trust.overview:measure_all",
            key,
            studies=list(studies.order_by("pk").values_list("pk", flat=True)),
        )
        found = trust_in_judges(studies, sort=sort)
    return found


def _comparisons(judged: Judged) -> Iterable[_Comparison]:
    by_judges, by_people = judged.by(Rater.Kind.JUDGE), judged.by(Rater.Kind.ASSESSOR)
    for criterion in by_people:
        versions = [one for one in by_judges if one == criterion or is_graded_version(one, of=criterion)]
        if versions:
            yield _Comparison(criterion, None, _key("items", judged, [criterion, *versions]))
    for roll_up in roll_ups_among(by_judges, by_people):
        key = _key("texts", judged, [roll_up.of_judges, roll_up.of_people])
        yield _Comparison(roll_up.of_people, roll_up, key)


def _key(kind: str, judged: Judged, criteria: Sequence[Criterion]) -> str:
    return f"trust:{VERSION}:{kind}:{judged.fingerprint(criteria)}"


def _alone(judged: Judged, rows: Sequence[Row], waiting: Sequence[_Comparison]) -> list[Criterion]:
    """Return the criteria that judges graded under and that have no row, as far as that is known already."""
    if waiting:
        return []
    beside_people = {row.judge_criterion.pk for row in rows}
    return [one for one in judged.by(Rater.Kind.JUDGE) if one.pk not in beside_people]


def _keep_pair(one: PairedJudge, pairs: JudgePairs, *, people_simulated: bool) -> Kept:
    test = pairs.test_of(one)
    return Kept(
        judge=one.judge.pk,
        judge_criterion=one.criterion.pk,
        at=one.at,
        people_at=one.people_at,
        n_people_only=one.paired.n_people_only,
        n_judge_only=one.paired.n_judge_only,
        brief=_brief(one),
        part="development" if pairs.parts else "all",
        readings=pairs.readings_of(one),
        test=_brief(test) if test else None,
        people_simulated=people_simulated,
        completeness=one.completeness,
    )


def _brief(one: PairedJudge) -> Brief:
    people, judge = one.paired.people, one.paired.judge
    return brief_of_items(people, judge, at=one.at, people_at=one.people_at, same_scale=one.same_scale)


def _keep_rolled(one: RolledUpJudge, test: RolledUpJudge | None) -> Kept:
    return Kept(
        judge=one.judge.pk,
        judge_criterion=one.roll_up.of_judges.pk,
        at=one.at,
        people_at=one.people_at,
        n_people_only=one.n_people_only,
        n_judge_only=one.n_judge_only,
        brief=brief_of_texts(one.people, one.rolled, at=one.at, people_at=one.people_at),
        part=one.part,
        readings=one.readings,
        test=brief_of_texts(test.people, test.rolled, at=one.at, people_at=one.people_at) if test else None,
        people_simulated=one.people_simulated,
        completeness=one.completeness,
    )
