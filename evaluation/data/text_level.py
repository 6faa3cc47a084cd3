"""Judges that graded a text's rubric elements, beside people who judged the text under another criterion.

The two criteria stand in one study, or in two studies on one collection: a text is known by its topic and itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np

from collection.models import Criterion, Judgment, Rater, Study
from collection.models.studies import TaskType
from collection.questions.shapes import TASK_TYPES
from evaluation.data.judgments import CriterionRatings, load_criterion
from evaluation.data.visibility import PartName, Parts, parts_of
from stats.completeness import Completeness
from stats.judges.text_level import RULES, RolledUp, RolledUpComparison, Rule, compare_rolled_up, roll_up
from stats.ratings import IntArray, Ratings, grades_of

# They ask whether a text bears on its topic, which is what answered questions stand for. Whether it is fluent is not.
ASKS_OF_THE_TEXT = {TaskType.RELEVANCE.value, TaskType.QUESTION_PASSAGE.value}
# These ask something of the element alone: the same for every text.
ASKS_OF_THE_ELEMENT_ALONE = {"utility", "importance"}


@dataclass(frozen=True)
class RollUp:
    """Two criteria that meet in a text: a judge's, about its elements, and people's, about the text with its topic."""

    of_judges: Criterion
    of_people: Criterion

    @cached_property
    def studies(self) -> tuple[Study, ...]:
        """The studies of both, each once; the judge's first."""
        return tuple({one.study_id: one.study for one in (self.of_judges, self.of_people)}.values())

    @property
    def key(self) -> str:
        """What an address calls it by."""
        return ".".join(f"{one.study.name}.{one.name}" for one in (self.of_judges, self.of_people))

    def as_dict(self) -> dict[str, Any]:
        """Return which criteria meet, and where."""
        return {
            "judge_criterion": self.of_judges.name,
            "judge_study": self.of_judges.study.name,
            "human_criterion": self.of_people.name,
            "human_study": self.of_people.study.name,
        }


def meet_in_a_text(of_judges: Criterion, of_people: Criterion) -> bool:
    """Whether grades under the one can be rolled up to stand beside those under the other."""
    elements = TASK_TYPES.get(of_judges.task_type)
    return (
        elements is not None
        and elements.element_kind is not None
        and of_judges.name not in ASKS_OF_THE_ELEMENT_ALONE
        and of_people.task_type in ASKS_OF_THE_TEXT
        and may_meet(of_judges.task_type, of_people.task_type)
        and of_judges.study.collection_id == of_people.study.collection_id
    )


def may_meet(task_type: str, asks_of_the_text: str) -> bool:
    """Whether items of the task type judge the kind of text that the other one asks about."""
    shape = TASK_TYPES.get(task_type)
    return shape is not None and shape.text == TASK_TYPES[asks_of_the_text].text


def roll_ups_among(judged: Iterable[Criterion], by_people: Iterable[Criterion]) -> list[RollUp]:
    """Return which of the criteria that judges graded under meet which of those that people judged under."""
    of_people = list(by_people)
    return [RollUp(one, other) for one in judged for other in of_people if meet_in_a_text(one, other)]


def roll_ups_of(criterion: Criterion) -> list[RollUp]:
    """Return the roll-ups that the criterion is one side of, those within its study first."""
    if not any(may_meet(criterion.task_type, text) for text in ASKS_OF_THE_TEXT):
        return []
    others = list(
        Criterion.objects.filter(study__collection=criterion.study.collection_id)
        .exclude(pk=criterion.pk)
        .select_related("study__collection", "scale")
    )
    met = [
        *(RollUp(criterion, other) for other in others if meet_in_a_text(criterion, other)),
        *(RollUp(other, criterion) for other in others if meet_in_a_text(other, criterion)),
    ]
    if not met:
        return []
    pks = {one.pk for pair in met for one in (pair.of_judges, pair.of_people)}
    rows = Judgment.objects.filter(criterion__in=pks).order_by().values_list("criterion", "rater__kind").distinct()
    seen = set(rows)
    there = [
        pair
        for pair in met
        if (pair.of_judges.pk, Rater.Kind.JUDGE) in seen and (pair.of_people.pk, Rater.Kind.ASSESSOR) in seen
    ]
    return sorted(there, key=lambda pair: (len(pair.studies), pair.of_judges.pk, pair.of_people.pk))


@dataclass(frozen=True)
class RolledUpJudge:
    """One judge's rolled-up grades and people's grades of the same texts, in the same order.

    `n_people_only`: texts that people graded and the judge was not asked about; `n_judge_only` the other way round.
    `parts` of the studies that are split; `readings`: how often the judge's test part was read, the least of them;
    `people_simulated`: whether a simulation made some of people's grades.
    """

    roll_up: RollUp
    judge: Rater
    name: str
    rolled: RolledUp
    people: Ratings
    n_people_only: int
    n_judge_only: int
    part: PartName
    parts: tuple[Parts, ...]
    readings: int
    people_simulated: bool

    @property
    def completeness(self) -> Completeness:
        """How many of the texts that people graded the judge was asked about, and on how many it gave no grade."""
        asked, ungraded = len(self.rolled.grades), int(np.isnan(self.rolled.grades).sum())
        return Completeness(asked + self.n_people_only, self.n_people_only, asked, ungraded)

    @property
    def rule(self) -> Rule:
        return self.rolled.rule

    @property
    def rule_in_words(self) -> str:
        return RULES[self.rule]

    @property
    def at(self) -> float:
        """The judge's threshold: its criterion's, or one element that is a yes."""
        return self.roll_up.of_judges.threshold if self.rule == "highest" else 1.0

    @property
    def people_at(self) -> float:
        return self.roll_up.of_people.threshold

    @property
    def simulated(self) -> bool:
        """Whether a simulation made some of the grades."""
        return self.judge.simulated or self.people_simulated

    @property
    def unread(self) -> list[Study]:
        """The studies whose test part nobody has read of this judge."""
        return [one.split.study for one in self.parts if not one.readings.get(self.judge.pk)]

    def compared(self) -> RolledUpComparison:
        """Return all figures."""
        return compare_rolled_up(
            self.rolled, self.people, at=self.at, people_at=self.people_at, thresholds=self._thresholds
        )

    @property
    def _thresholds(self) -> list[float]:
        if self.rule == "highest":
            return sorted(map(float, self.roll_up.of_judges.scale.values))[1:]
        return [float(n) for n in range(1, int(self.rolled.n_asked.max(initial=1)) + 1)]

    def as_dict(self) -> dict[str, Any]:
        """Return everything, as the command, the API and the download have it."""
        split = {"part": self.part, "test_readings": self.readings} if self.parts else {}
        return {
            "judge": self.name,
            "content_hash": self.judge.content_hash,
            "simulated": self.simulated,
            **self.roll_up.as_dict(),
            "rule_in_words": self.rule_in_words,
            **self.compared().as_dict(),
            "left_out": {"human_only": self.n_people_only, "judge_only": self.n_judge_only},
            **split,
        }


@dataclass(frozen=True)
class RolledUpJudges:
    """The judges of a roll-up, by name: on all topics, or where a study is split on its development part.

    `tests` are those whose figures on the test part somebody has read; `locked` the others that graded there.
    """

    roll_up: RollUp
    parts: tuple[Parts, ...]
    judges: tuple[RolledUpJudge, ...]
    tests: tuple[RolledUpJudge, ...]
    locked: tuple[Rater, ...]

    def test_of(self, one: RolledUpJudge) -> RolledUpJudge | None:
        """Return the same judge on the test part, if that may be shown."""
        return next((test for test in self.tests if test.judge == one.judge), None)


def rolled_up_judges(pair: RollUp, *, rule: Rule = "highest") -> RolledUpJudges:
    """Read both criteria and roll every judge's grades up, part by part where a study is split.

    A topic is of the development part if no split has it elsewhere; it is of the test part if every split has it in
    one of its parts, and one of them in the test part.
    """
    judged, people = load_criterion(pair.of_judges), load_criterion(pair.of_people)
    parts = tuple(found for study in pair.studies if (found := parts_of(study)))
    if not parts:
        return RolledUpJudges(pair, (), tuple(_rolled(pair, judged, people, rule, "all", ())), (), ())
    development = reduce(frozenset.intersection, (one.development for one in parts))
    test = reduce(frozenset.intersection, (one.development | one.test for one in parts)) - development
    tests = _rolled(pair, judged.of_topics(test), people.of_topics(test), rule, "test", parts)
    return RolledUpJudges(
        roll_up=pair,
        parts=parts,
        judges=tuple(
            _rolled(pair, judged.of_topics(development), people.of_topics(development), rule, "development", parts)
        ),
        tests=tuple(one for one in tests if one.readings),
        locked=tuple(one.judge for one in tests if not one.readings),
    )


def _rolled(
    pair: RollUp,
    judged: CriterionRatings,
    of_people: CriterionRatings,
    rule: Rule,
    part: PartName,
    parts: tuple[Parts, ...],
) -> list[RolledUpJudge]:
    people = of_people.people
    people = people.of_items(people.graded)
    assert people.texts is not None  # load_criterion
    places = _places_of(of_people.text_ids[people.texts], judged.text_ids)
    found = []
    for column in judged.columns(Rater.Kind.JUDGE):
        rolled = _roll_up(judged, column, rule)
        asked = rolled.n_asked > 0
        both = (places >= 0) & asked[places]
        if not both.any():
            continue
        judge = judged.raters[column]
        found.append(
            RolledUpJudge(
                roll_up=pair,
                judge=judge,
                name=str(judged.ratings.raters[column]),
                rolled=rolled.of_texts(places[both]),
                people=people.of_items(both),
                n_people_only=int((~both).sum()),
                n_judge_only=int(asked.sum()) - len(np.unique(places[both])),
                part=part,
                parts=parts,
                readings=min((one.readings.get(judge.pk, 0) for one in parts), default=0),
                people_simulated=of_people.has_simulated_people,
            )
        )
    return sorted(found, key=lambda one: one.name)


def _roll_up(judged: CriterionRatings, column: int, rule: Rule) -> RolledUp:
    ratings, asked = judged.ratings, judged.asked[:, column]
    assert ratings.texts is not None  # load_criterion
    return roll_up(
        grades_of(ratings.codes[asked, column], ratings.numbers),
        ratings.texts[asked],
        n_texts=len(judged.text_ids),
        rule=rule,
        yes_from=judged.criterion.threshold,
    )


def _places_of(wanted: IntArray, among: IntArray) -> IntArray:
    """Return where each of these texts stands among those, all by their two keys; −1 where it does not."""
    numbers, which = np.unique(np.concatenate([among, wanted]), axis=0, return_inverse=True)
    place_of = np.full(len(numbers), -1)
    place_of[which.ravel()[: len(among)]] = np.arange(len(among))
    return place_of[which.ravel()[len(among) :]]
