"""People against each judge of a study."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from collection.completeness import JudgesOfStudies
from collection.models import Criterion, Item, Rater
from evaluation.data.judgments import CriterionRatings, completeness_of, load_criterion
from evaluation.data.visibility import Part, Parts, parts_of
from stats.completeness import Completeness, complete_first
from stats.judges.comparison import Comparison, compare
from stats.judges.coverage import coverage
from stats.judges.thresholds import kappa_at_threshold
from stats.pairing import NotComparable, Paired, pair
from stats.ratings import MISSING, grades_of, majority

# SQLite takes 32,766 parameters a query.
IDS_AT_ONCE = 10_000
T = TypeVar("T")


@dataclass(frozen=True)
class JudgedText:
    """A report or a passage with its coverage by each side; None by a person who judged nothing of it."""

    name: str
    topic: str
    people: dict[str, float | None]
    people_mean: float
    judge: float
    n_items: int


@dataclass(frozen=True)
class PairedJudge:
    """One judge and people on the same items.

    `criterion` is the judge's; it may be graded where people's is yes or no, and then `same_scale` is
    false. `at` and `people_at` are the thresholds. `completeness` is of the part that the items are of.
    `people_simulated`: whether any of the people is a simulation.
    """

    judge: Rater
    name: str
    criterion: Criterion
    same_scale: bool
    at: float
    people_at: float
    paired: Paired
    completeness: Completeness
    people_simulated: bool

    def kappa(self) -> float:
        """Return κ of yes and no with people's majority over their own items, −∞ where there is none."""
        people, judge = self.paired.people, self.paired.judge
        graded, grades = grades_of(majority(people), people.numbers), grades_of(judge.codes[:, 0], judge.numbers)
        found = kappa_at_threshold(graded >= self.people_at, grades >= self.at, np.isnan(grades), None)
        return -math.inf if found.value is None else found.value

    def compared(self) -> Comparison:
        """Return all figures."""
        return compare(
            self.paired.people,
            self.paired.judge,
            at=self.at,
            people_at=self.people_at,
            same_scale=self.same_scale,
        )


@dataclass(frozen=True)
class JudgePairs:
    """People paired with each judge, by name of the judge; unfinished and failing judges stand last.

    Where the study is split, `pairs` hold the development part alone, and `tests` the test part of those judges whose
    figures on it somebody has read; else `pairs` hold everything. `locked`: judges that graded items of the test part
    and that nobody has read on it.
    """

    parts: Parts | None
    pairs: tuple[PairedJudge, ...]
    tests: tuple[PairedJudge, ...]
    locked: tuple[Rater, ...]

    def test_of(self, one: PairedJudge) -> PairedJudge | None:
        """Return the same judge on the test part, if that may be shown."""
        same = (test for test in self.tests if (test.judge, test.criterion) == (one.judge, one.criterion))
        return next(same, None)

    def readings_of(self, one: PairedJudge) -> int:
        """Return how often this judge's figures on the test part were read."""
        return self.parts.readings.get(one.judge.pk, 0) if self.parts else 0


def pair_judges(of_people: CriterionRatings) -> JudgePairs:
    """Pair people with every judge that graded the same items, part by part where the study is split.

    A judge counts that graded under the same criterion, or, where people say yes or no, under a graded
    criterion of the same task type.
    """
    versions, study = versions_of(of_people), of_people.criterion.study
    parts, here = parts_of(study), completeness_of(study)
    if parts is None:
        return JudgePairs(None, tuple(_pairs(versions, here)), (), ())
    tests = _pairs([one.of_topics(parts.test) for one in versions], completeness_of(study, Part.TEST))
    return JudgePairs(
        parts=parts,
        pairs=tuple(_pairs([one.of_topics(parts.development) for one in versions], here)),
        tests=tuple(one for one in tests if parts.is_open(one.judge)),
        locked=tuple({one.judge.pk: one.judge for one in tests if not parts.is_open(one.judge)}.values()),
    )


def _pairs(versions: Sequence[CriterionRatings], completeness: JudgesOfStudies) -> list[PairedJudge]:
    """Pair the people of the first with the judges of all."""
    of_people = versions[0]
    people = of_people.people
    simulated = any(of_people.raters[column].simulated for column in of_people.columns(Rater.Kind.ASSESSOR))
    found = []
    for judged in versions:
        for column in judged.columns(Rater.Kind.JUDGE):
            try:
                paired = pair(people, judged.judge(column))
            except NotComparable:
                continue
            found.append(
                PairedJudge(
                    judge=judged.raters[column],
                    name=str(judged.ratings.raters[column]),
                    criterion=judged.criterion,
                    same_scale=judged is of_people,
                    at=judged.criterion.threshold,
                    people_at=of_people.criterion.threshold,
                    paired=paired,
                    completeness=_completeness(judged, column, completeness),
                    people_simulated=simulated,
                )
            )
    by_name = sorted(found, key=lambda one: (one.name, one.criterion.position))
    return complete_first(by_name, of=lambda one: one.completeness)


def _completeness(judged: CriterionRatings, column: int, stored: JudgesOfStudies) -> Completeness:
    """Return how complete the judge is; of one that is not stored, by the items that people graded."""
    judge = judged.raters[column]
    if judge.pk > 0:
        return stored.of(judged.criterion.pk, judge.pk)
    codes, asked = judged.ratings.codes, judged.asked[:, column]
    by_people = (codes[:, judged.columns(Rater.Kind.ASSESSOR)] != MISSING).any(axis=1)
    ungraded = asked & (codes[:, column] == MISSING)
    return Completeness(int(by_people.sum()), int((by_people & ~asked).sum()), int(asked.sum()), int(ungraded.sum()))


def versions_of(of_people: CriterionRatings) -> tuple[CriterionRatings, ...]:
    """Return these and the judges' under criteria that grade, from 0 up, what people answer with yes or no here."""
    criterion = of_people.criterion
    if set(criterion.scale.values) != {0, 1}:
        return (of_people,)
    others = Criterion.objects.filter(study=criterion.study_id, task_type=criterion.task_type)
    graded = [one for one in others.select_related("study", "scale") if is_graded_version(one, of=criterion)]
    return (of_people, *(one for one in map(load_criterion, graded) if one.columns(Rater.Kind.JUDGE)))


def is_graded_version(other: Criterion, *, of: Criterion) -> bool:
    """Whether the other criterion grades, from 0 up, the items that people answer with yes or no under `of`."""
    return (
        (other.study_id, other.task_type) == (of.study_id, of.task_type)
        and set(of.scale.values) == {0, 1}
        and min(other.scale.values) >= 0
        and max(other.scale.values) > 1
    )


def judged_texts(pairs: Sequence[PairedJudge]) -> list[list[JudgedText]]:
    """Return each judge's compared texts, with the coverage that every person, people on average and the judge give.

    None of a judge whose texts have one item each: their coverage would be a yes or a no.
    """
    names = text_names({item for one in pairs for item in _first_items(one)})
    return [_judged_texts(one, names) for one in pairs]


def _first_items(one: PairedJudge) -> list[int]:
    """Return one item of each compared text."""
    people = one.paired.people
    if people.texts is None:
        return []
    _, first = np.unique(people.texts, return_index=True)
    return [people.items[row] for row in first]


def _judged_texts(one: PairedJudge, names: dict[int, tuple[str, str]]) -> list[JudgedText]:
    people, judge = one.paired.people, one.paired.judge
    if people.texts is None:
        return []
    numbers, first, texts, n_items = np.unique(people.texts, return_index=True, return_inverse=True, return_counts=True)
    if len(numbers) == len(people.texts):
        return []
    everything = np.ones(len(texts), dtype=bool)
    by_person = {}
    for name, column in zip(map(str, people.raters), people.codes.T, strict=True):
        graded = column != MISSING
        yes = grades_of(column, people.numbers) >= one.people_at
        by_person[name] = coverage(yes, graded, texts, len(numbers)).tolist()
    judge_yes = grades_of(judge.codes[:, 0], judge.numbers) >= one.at
    by_judge = coverage(judge_yes, everything, texts, len(numbers)).tolist()
    found = []
    for place, row in enumerate(first.tolist()):
        shares = {name: None if math.isnan(of[place]) else of[place] for name, of in by_person.items()}
        known = [share for share in shares.values() if share is not None]
        name, topic = names[people.items[row]]
        found.append(JudgedText(name, topic, shares, sum(known) / len(known), by_judge[place], int(n_items[place])))
    return found


def text_names(item_ids: Collection[int]) -> dict[int, tuple[str, str]]:
    """Return for each item the name of its report or passage, else its topic's, and its topic's id."""
    names: dict[int, tuple[str, str]] = {}
    for some in batched(sorted(item_ids), IDS_AT_ONCE):
        rows = Item.objects.filter(pk__in=some).values_list(
            "pk", "topic__topic_id", "report__run__name", "passage__passage_id"
        )
        names |= {pk: (run or passage or topic, topic) for pk, topic, run, passage in rows}
    return names


def batched(keys: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Yield the keys in pieces that a query can take."""
    for start in range(0, len(keys), size):
        yield keys[start : start + size]
