from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from stats.judges.alt_test import EPSILONS, alternative_annotator_test
from stats.ratings import FloatArray, Level
from tests.judges_check import alternative_annotator, constant_judge

NAN = np.nan
Closeness = Callable[[float, list[float]], float]
CAST = ["Ada", "Ben", "Cleo", "Dan"]


def crowd(rng: np.random.Generator, n_items: int, accuracies: list[float]) -> tuple[FloatArray, FloatArray]:
    """A hidden truth on 0–3, and people who see it that often and else guess."""
    truth = rng.integers(0, 4, n_items).astype(float)
    columns = [np.where(rng.random(n_items) < sees, truth, rng.integers(0, 4, n_items)) for sees in accuracies]
    return truth, np.stack(columns, axis=1)


def by_hand(
    people: FloatArray, judge: FloatArray, person: int, score: Closeness, epsilon: float
) -> tuple[float, float, float]:
    """The paper's section 3, item by item: ρ^f, ρ^h and the p-value."""
    as_good, human = [], []
    for row, grade in zip(people, judge, strict=True):
        others = [other for place, other in enumerate(row) if place != person and not np.isnan(other)]
        if np.isnan(row[person]) or not others:
            continue
        of_judge, of_person = score(grade, others), score(row[person], others)
        as_good.append(float(of_judge >= of_person))
        human.append(float(of_person >= of_judge))
    differences = np.array(human) - np.array(as_good)
    p = stats.ttest_1samp(differences, epsilon, alternative="less").pvalue
    return float(np.mean(as_good)), float(np.mean(human)), float(p)


SCORES: dict[Level, Closeness] = {
    "nominal": lambda grade, others: float(np.mean([grade == other for other in others])),
    "ordinal": lambda grade, others: -float(np.sqrt(np.mean([(grade - other) ** 2 for other in others]))),
}


@pytest.mark.parametrize("level", ["nominal", "ordinal"])
@pytest.mark.parametrize("seed", range(6))
def test_it_follows_the_paper(level: Level, seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth, people = crowd(rng, 120, [0.5, 0.6, 0.7, 0.8])
    people[rng.random(people.shape) < 0.2] = NAN
    judge = np.where(rng.random(120) < 0.7, truth, 0.0)

    outcome = alternative_annotator_test(people, judge, CAST, level=level, epsilon=0.1)

    hand = [by_hand(people, judge, person, SCORES[level], 0.1) for person in range(4)]
    p_values = sorted(p for _, _, p in hand)
    harmonic = sum(1 / rank for rank in range(1, 5))
    passed = [rank for rank, p in enumerate(p_values, start=1) if p <= rank / 4 * 0.05 / harmonic]
    assert [(one.judge_advantage, one.person_advantage) for one in outcome.people] == [row[:2] for row in hand]
    assert [one.p for one in outcome.people] == pytest.approx([p for _, _, p in hand])
    assert outcome.winning_rate == max(passed, default=0) / 4
    assert outcome.average_advantage == pytest.approx(np.mean([row[0] for row in hand]))


def test_people_and_judge_are_held_to_the_same_others() -> None:
    """All agree on fifty items but Cleo on ten and the judge on five others."""
    people = np.ones((50, 3))
    people[40:, 2] = 0
    judge = np.ones(50)
    judge[:5] = 0

    outcome = alternative_annotator_test(people, judge, CAST[:3], level="nominal", epsilon=0.2)

    ada, _, cleo = outcome.people
    assert (ada.judge_advantage, ada.person_advantage) == (45 / 50, 1.0)
    assert (cleo.judge_advantage, cleo.person_advantage) == (45 / 50, 40 / 50)
    differences = [1.0] * 5 + [0.0] * 45
    assert ada.p == pytest.approx(stats.ttest_1samp(differences, 0.2, alternative="less").pvalue)


def test_a_judge_that_sees_the_truth_may_replace_people_who_see_less() -> None:
    truth, people = crowd(np.random.default_rng(1), 100, [0.6, 0.6, 0.6])

    outcome = alternative_annotator_test(people, truth, CAST[:3], level="nominal")

    assert outcome.passes
    assert outcome.winning_rate == 1
    assert outcome.warnings == ()
    assert outcome.epsilon == EPSILONS["skilled"]


def test_a_judge_that_guesses_may_not() -> None:
    rng = np.random.default_rng(2)
    _, people = crowd(rng, 100, [0.9, 0.9, 0.9])

    outcome = alternative_annotator_test(people, rng.integers(0, 4, 100).astype(float), CAST[:3], level="nominal")

    assert outcome.passes is False


def test_an_ungraded_reply_loses_its_item() -> None:
    truth, people = crowd(np.random.default_rng(3), 60, [0.8, 0.8, 0.8])

    silent = alternative_annotator_test(people, np.full(60, NAN), CAST[:3], level="ordinal")
    half = alternative_annotator_test(people, np.where(np.arange(60) < 30, NAN, truth), CAST[:3], level="ordinal")

    assert (silent.average_advantage, silent.winning_rate, silent.n_ungraded) == (0, 0, 60)
    assert half.n_ungraded == 30
    assert half.average_advantage is not None
    assert half.average_advantage <= 0.5


def test_a_judge_that_says_what_all_people_say_wins_without_doubt() -> None:
    people = np.repeat([[1.0, 1, 1], [0, 0, 0]], 25, axis=0)

    outcome = alternative_annotator_test(people, people[:, 0], CAST[:3], level="nominal")

    assert [one.p for one in outcome.people] == [0, 0, 0]
    assert outcome.passes


@pytest.mark.parametrize("level", ["nominal", "ordinal"])
@pytest.mark.parametrize("share", [0.0, 0.02, 0.05, 0.1])
def test_no_verdict_is_given_where_the_most_frequent_grade_alone_would_pass(level: Level, share: float) -> None:
    rng = np.random.default_rng(8)
    truth = rng.random(300) < share
    people = np.where(rng.random((300, 3)) < 0.95, truth[:, None], ~truth[:, None]).astype(float)
    topics = np.arange(300) // 30

    same, right = (
        alternative_annotator_test(people, judge, CAST[:3], topics, level=level)
        for judge in (np.zeros(300), truth.astype(float))
    )

    assert (same.winning_rate, right.winning_rate) == (1, 1)
    assert (same.passes, right.passes) == (None, None)
    assert "always gives 0" in same.as_dict()["reason"]


def test_what_the_most_frequent_grade_does_not_pass_has_a_verdict() -> None:
    rng = np.random.default_rng(8)
    truth = rng.random(300) < 0.4
    people = np.where(rng.random((300, 3)) < 0.95, truth[:, None], ~truth[:, None]).astype(float)

    same, right = (
        alternative_annotator_test(people, judge, CAST[:3], level="nominal")
        for judge in (np.zeros(300), truth.astype(float))
    )

    assert (same.passes, right.passes) == (False, True)
    assert (same.reason, right.reason) == ("", "")


def test_too_few_people_and_items_are_warned_of() -> None:
    _, people = crowd(np.random.default_rng(4), 45, [0.8, 0.8, 0.8])
    people[20:, 2] = NAN

    outcome = alternative_annotator_test(people, people[:, 0], CAST[:3], level="nominal")

    assert [one.person for one in outcome.people] == ["Ada", "Ben"]
    assert outcome.warnings == (
        "2 assessors are tested; the test needs 3 or more",
        "45 items; the test needs 50 to 100 or more",
        "not tested: Cleo (20 shared items; the test needs 30)",
    )


def test_without_shared_items_there_is_no_test() -> None:
    people = np.full((80, 2), NAN)
    people[:40, 0], people[40:, 1] = 1, 1

    outcome = alternative_annotator_test(people, np.ones(80), CAST[:2], level="nominal")

    assert outcome.passes is None
    assert outcome.as_dict()["winning_rate"] is None
    assert outcome.reason.startswith("no assessor can be tested: Ada (0 shared items; the test needs 30)")


def test_four_topics_are_too_few_to_tell_how_far_topics_differ() -> None:
    truth, people = crowd(np.random.default_rng(5), 80, [0.7, 0.7, 0.7])

    outcome = alternative_annotator_test(people, truth, CAST[:3], np.arange(80) // 20, level="nominal")

    assert outcome.passes is None
    assert "4 topics; the test needs 5" in outcome.reason


def test_items_of_one_topic_are_not_taken_as_independent() -> None:
    """The judge is right on eight topics of ten and wrong on two: 200 items say no more than ten topics do."""
    topics = np.arange(200) // 20
    _, people = crowd(np.random.default_rng(6), 200, [0.75, 0.75, 0.75])
    consensus = np.sort(people, axis=1)[:, 1]
    judge = np.where(topics % 5 < 4, consensus, 3 - consensus)

    alone = alternative_annotator_test(people, judge, CAST[:3], level="nominal")
    by_topic = alternative_annotator_test(people, judge, CAST[:3], topics, level="nominal")

    assert [one.n_topics for one in by_topic.people] == [10, 10, 10]
    assert all(together.p > 2 * one.p for one, together in zip(alone.people, by_topic.people, strict=True))


def test_topics_that_say_the_same_leave_the_test_as_it_was() -> None:
    rng = np.random.default_rng(7)
    _, people = crowd(rng, 120, [0.6, 0.7, 0.8])
    judge = rng.integers(0, 4, 120).astype(float)

    alone = alternative_annotator_test(people, judge, CAST[:3], level="nominal")
    of_one_item = alternative_annotator_test(people, judge, CAST[:3], np.arange(120), level="nominal")

    assert [one.p for one in of_one_item.people] == pytest.approx([one.p for one in alone.people])


@pytest.mark.slow
def test_a_judge_that_is_just_behind_by_topic_wins_no_more_than_it_may() -> None:
    """Two hundred studies; `make calibration-check` has more."""
    wins = alternative_annotator(10, 20, 0.45, studies=200, seed=1)

    assert 0.01 <= wins.by_topic <= 0.09
    assert wins.independent > 0.1


@pytest.mark.slow
def test_a_judge_that_always_says_no_is_never_called_good_enough() -> None:
    rows = [constant_judge(yes, 10, 20, studies=60, seed=1) for yes in (0.05, 0.5)]

    assert [row.passes for row in rows] == [0, 0]
    assert rows[0].published > 0.8
    assert rows[1].no_verdict == 0
