"""Whether a judge may be believed: its threshold, the human ceiling, the alternative-annotator test, bias audits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np
from django.db.models.functions import Coalesce, Length

from collection.models import Criterion, Item, Rater
from collection.splits import TestPartLocked
from collection.web.tables import Column, Table
from evaluation.data.judge_pairs import IDS_AT_ONCE, JudgePairs, PairedJudge, batched, pair_judges
from evaluation.data.judgments import load_criterion
from evaluation.data.pair_order import PositionAudit, audit_position
from evaluation.data.population import JudgeNotFound, is_of_family
from evaluation.data.visibility import LOCKED, PartName, Parts
from stats.answers_in_words import judge_beside_people
from stats.intervals import CELLS, Estimate
from stats.judges.alt_test import EPSILONS, AlternativeAnnotator, alternative_annotator_test
from stats.judges.bias import LengthBias, SelfPreference, length_bias, self_preference
from stats.judges.threshold_choice import (
    Ceiling,
    Choice,
    NoHalves,
    best_threshold,
    choose_threshold,
    human_ceiling,
    threshold_curve,
)
from stats.judges.thresholds import ThresholdFigures, kappa_at_threshold
from stats.plurals import times
from stats.ratings import FloatArray, IntArray, grades_of, majority

NO_FAMILIES = (
    "no system of the collection has a model family, or its texts were not written by the systems; "
    "set model families, and judge reports"
)


@dataclass(frozen=True)
class JudgeTrust:
    """What speaks for a judge and against it.

    - `part`: what all but `choice` rests on; "all" where the study is not split. `readings` of the test part;
    - `choice` is None for `choice_reason`: the threshold chosen on one part of the topics, reported on the other;
    - `preference` is None for `preference_reason`; it is over all judges of the criterion, this one being of `family`;
    - `position`: over all topics, for it rests on nobody's grades but the judge's.
    """

    criterion: Criterion
    one: PairedJudge
    part: PartName
    parts: Parts | None
    readings: int
    choice: Choice | None
    choice_reason: str
    kappa: Estimate
    ceiling: Ceiling
    replacement: AlternativeAnnotator
    length: LengthBias
    preference: SelfPreference | None
    preference_reason: str
    family: str
    position: PositionAudit

    @property
    def name(self) -> str:
        return self.one.name

    @property
    def answer(self) -> str:
        """Whether it agrees with people as they do with one another, or as by chance, in a sentence."""
        return judge_beside_people(self.name, self.ceiling, self.kappa)

    @property
    def simulated(self) -> bool:
        """Whether the judge's grades were made by a simulation."""
        return self.one.judge.simulated

    @property
    def halves(self) -> list[dict[str, Any]]:
        """The thresholds, each with the figures on both halves."""
        if self.choice is None:
            return []
        return [
            {"at": chosen.at, "chosen_on": chosen, "reported_on": reported, "best": chosen.at == self.choice.at}
            for chosen, reported in zip_longest(self.choice.chosen_on, self.choice.reported_on)
        ]

    @property
    def reported_on(self) -> str:
        """What the threshold's figures are reported on, in words."""
        if self.parts is None:
            return "the half not used to choose"
        return f"the test topics, unlocked {times(self.readings)}"

    def as_dict(self) -> dict[str, Any]:
        """Return everything, as the API has it."""
        return {
            "study": self.criterion.study.name,
            "criterion": self.criterion.name,
            "judge": self.one.name,
            "judge_criterion": self.one.criterion.name,
            "content_hash": self.one.judge.content_hash,
            "family": self.family or None,
            "simulated": self.simulated,
            **(
                {"part": self.part, "test_readings": self.readings, "split": self.parts.as_dict()} if self.parts else {}
            ),
            "threshold_choice": (self.choice.as_dict() if self.choice else {"at": None, "reason": self.choice_reason}),
            "human_ceiling": self.ceiling.as_dict(),
            "alternative_annotator": self.replacement.as_dict(),
            "audits": {
                "length": {
                    "per_doubling": self.length.per_doubling.as_dict(),
                    "n_items": self.length.n_items,
                    "n_ungraded": self.length.n_ungraded,
                },
                "position": self.position.as_dict(),
                "self_preference": (
                    self.preference.as_dict() if self.preference else {"cells": None, "reason": self.preference_reason}
                ),
            },
        }

    def tables(self) -> dict[str, Table]:
        reported = f"reported on {self.reported_on}" if self.parts else "reported on"
        figures = [
            (half, figures)
            for half, of in (("chosen on", "chosen_on"), (reported, "reported_on"))
            for figures in (getattr(self.choice, of) if self.choice else ())
        ]
        thresholds = (
            (half, one.at, name, estimate)
            for half, one in figures
            for name, estimate in {**one.figures(), "kappa_unweighted": one.kappa}.items()
        )
        families = (
            (
                *(cell.judge_family, cell.judge_family or UNKNOWN, cell.system_family, cell.system_family or UNKNOWN),
                *(cell.n_items, cell.difference, int(cell.own), "same family" if cell.own else None),
            )
            for cell in (self.preference.cells if self.preference else ())
        )
        people = (
            (
                *(one.person, one.n_items, one.n_topics, one.judge_advantage, one.person_advantage, one.p_corrected),
                *("< 0.001" if one.p_corrected < 0.001 else f"{one.p_corrected:.3f}", "yes" if one.wins else "no"),
            )
            for one in self.replacement.people
        )
        return {
            "thresholds": Table.of("Thresholds", THRESHOLDS, thresholds),
            "replacement": Table.of("The judge against each assessor left out", REPLACEMENT, people),
            "families": Table.of("Judge minus human by families", FAMILIES, families),
        }


UNKNOWN = "no known family"
THRESHOLDS = (
    *(Column("half"), Column("threshold", kind="grade"), Column("figure")),
    Column("value", kind="estimate", parts=CELLS, names=CELLS),
)
REPLACEMENT = (
    *(Column("person", "Left out"), Column("items", "Items", "count"), Column("topics", "Topics", "count")),
    *(Column("judge_as_close", "Judge as close", "share"), Column("person_as_close", "Assessor as close", "share")),
    *(Column("p_corrected", kind="number"), Column("p", "p, corrected", filed=False), Column("wins", "Judge wins")),
)
FAMILIES = (
    *(Column("judge_family"), Column("judges", "Judges", filed=False)),
    *(Column("system_family"), Column("systems", "Systems", filed=False), Column("items", "Items", "count")),
    Column("difference", "Judge minus human", "estimate", parts=CELLS, names=("judge_minus_people", *CELLS[1:])),
    *(Column("own"), Column("same_family", "Own", filed=False)),
)


def paired_judges(criterion: Criterion) -> JudgePairs:
    """Return the judges that graded what people judged under the criterion, part by part."""
    return pair_judges(load_criterion(criterion))


def examine_judge(
    criterion: Criterion,
    found: JudgePairs,
    *,
    judge: str | None = None,
    people_are: str = "skilled",
    on_test: bool = False,
) -> JudgeTrust:
    """Return what speaks for a judge and against it. `people_are` is a key of EPSILONS.

    In a study that is split it is examined on the development part, or on the test part if `on_test` asks for it and
    somebody has read it there. Raises JudgeNotFound and TestPartLocked.
    """
    pairs = found.tests if on_test else found.pairs
    if on_test and not any(judge in (None, pair.name) for pair in pairs):
        raise TestPartLocked(LOCKED)
    one = _chosen(pairs, judge)
    people_yes, judge_grades = _yes_by_people(one), _grades_of_judge(one)
    topics = one.paired.people.topics
    texts = _texts([item for pair in pairs for item in pair.paired.people.items])
    choice, choice_reason = (
        _choice(one, people_yes, judge_grades) if found.parts is None else _choice_by_parts(found, one)
    )
    preference, preference_reason = _preference(pairs, texts)
    return JudgeTrust(
        criterion=criterion,
        one=one,
        part="all" if found.parts is None else "test" if on_test else "development",
        parts=found.parts,
        readings=found.readings_of(one),
        choice=choice,
        choice_reason=choice_reason,
        kappa=kappa_at_threshold(people_yes == 1, judge_grades >= one.at, np.isnan(judge_grades), topics),
        ceiling=human_ceiling(one.paired.people, judge_grades, at=one.at, people_at=one.people_at),
        replacement=_replacement(one, judge_grades, EPSILONS[people_are]),
        length=_length(one, people_yes, topics, texts),
        preference=preference,
        preference_reason=preference_reason,
        family=judge_family(one.judge, {text.family for text in texts.values()}),
        position=audit_position(one.criterion, one.judge),
    )


def _chosen(pairs: Sequence[PairedJudge], name: str | None) -> PairedJudge:
    found = [pair for pair in pairs if name in (None, pair.name)]
    if not found:
        listed = ", ".join(pair.name for pair in pairs) or "none yet"
        raise JudgeNotFound(f"This judge cannot be compared with humans. Choose one of: {listed}.")
    return found[0]


def _grades_of_judge(one: PairedJudge) -> FloatArray:
    return grades_of(one.paired.judge.codes[:, 0], one.paired.judge.numbers)


def _yes_by_people(one: PairedJudge) -> FloatArray:
    """People's majority as 1 and 0."""
    people = one.paired.people
    return np.asarray(grades_of(majority(people), people.numbers) >= one.people_at, dtype=np.float64)


def _yes_by_judge(one: PairedJudge) -> FloatArray:
    grades = _grades_of_judge(one)
    return np.where(np.isnan(grades), np.nan, grades >= one.at)


def _choice(one: PairedJudge, people_yes: FloatArray, judge: FloatArray) -> tuple[Choice | None, str]:
    try:
        return choose_threshold(
            people_yes == 1,
            judge,
            one.paired.people.topics,
            thresholds=_thresholds(one),
            people_at=one.people_at,
            standing=one.at,
        ), ""
    except NoHalves as reason:
        return None, str(reason)


def _choice_by_parts(found: JudgePairs, one: PairedJudge) -> tuple[Choice | None, str]:
    """Choose on the development part; report on the test part if somebody has read it."""

    def same(pairs: Sequence[PairedJudge]) -> PairedJudge | None:
        return next((pair for pair in pairs if (pair.judge, pair.criterion) == (one.judge, one.criterion)), None)

    development, test = same(found.pairs), same(found.tests)
    if development is None:
        return None, "it graded no item of the development topics, on which thresholds are chosen"
    chosen_on = _curve(development)
    try:
        at = best_threshold(chosen_on, standing=one.at)
    except NoHalves as reason:
        return None, str(reason)
    return Choice(
        at=at,
        by="kappa",
        chosen_on=chosen_on,
        reported_on=_curve(test) if test else (),
        n_chosen=len(development.paired.people.items),
        n_reported=len(test.paired.people.items) if test else 0,
        seed=None,
    ), ""


def _thresholds(one: PairedJudge) -> list[float]:
    return sorted(map(float, one.criterion.scale.values))[1:]


def _curve(one: PairedJudge) -> tuple[ThresholdFigures, ...]:
    return threshold_curve(
        _yes_by_people(one) == 1,
        _grades_of_judge(one),
        one.paired.people.topics,
        thresholds=_thresholds(one),
        people_at=one.people_at,
    )


def _replacement(one: PairedJudge, judge: FloatArray, epsilon: float) -> AlternativeAnnotator:
    """Test on the grades themselves where the scale is shared, else on yes and no."""
    people = one.paired.people
    grades = grades_of(people.codes, people.numbers)
    names = [str(name) for name in people.raters]
    if one.same_scale:
        return alternative_annotator_test(grades, judge, names, people.topics, level=people.level, epsilon=epsilon)
    yes = np.where(np.isnan(grades), np.nan, grades >= one.people_at)
    return alternative_annotator_test(yes, _yes_by_judge(one), names, people.topics, level="nominal", epsilon=epsilon)


@dataclass(frozen=True)
class _Text:
    """An item's text: its length in characters (NaN: not held here) and the family of the system that wrote it."""

    length: float
    family: str


def _texts(item_ids: Sequence[int]) -> dict[int, _Text]:
    found: dict[int, _Text] = {}
    for some in batched(sorted(set(item_ids)), IDS_AT_ONCE):
        rows = (
            Item.objects.filter(pk__in=some)
            .annotate(length=Coalesce(Length("report__text"), Length("passage__text")))
            .values_list("pk", "length", "report__run__system__family")
        )
        found |= {pk: _Text(float(length or np.nan), family or "") for pk, length, family in rows}
    return found


def _length(one: PairedJudge, people_yes: FloatArray, topics: IntArray | None, texts: dict[int, _Text]) -> LengthBias:
    lengths = np.array([texts[pk].length for pk in one.paired.people.items])
    rows = np.isfinite(lengths)
    return length_bias(
        people_yes[rows], _yes_by_judge(one)[rows], lengths[rows], None if topics is None else topics[rows]
    )


def judge_family(judge: Rater, families: set[str]) -> str:
    """Return the family of systems that is also the judge's, else the one it declares, else an empty string."""
    own = next((family for family in sorted(families) if is_of_family(judge, family)), "")
    return own or str(judge.attributes.get("family", ""))


def _preference(pairs: Sequence[PairedJudge], texts: dict[int, _Text]) -> tuple[SelfPreference | None, str]:
    families = {text.family for text in texts.values()} - {""}
    if not families:
        return None, NO_FAMILIES
    judges, systems, by_judge, by_people, topics = [], [], [], [], []
    for pair in pairs:
        own = judge_family(pair.judge, families)
        judges += [own] * len(pair.paired.people.items)
        systems += [texts[pk].family for pk in pair.paired.people.items]
        by_judge.append(_yes_by_judge(pair))
        by_people.append(_yes_by_people(pair))
        assert pair.paired.people.topics is not None  # load_criterion
        topics.append(pair.paired.people.topics)
    found = self_preference(
        judges, systems, np.concatenate(by_judge), np.concatenate(by_people), np.concatenate(topics)
    )
    return found, ""
