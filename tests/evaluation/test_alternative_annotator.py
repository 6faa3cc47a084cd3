from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from evaluation.alternative_annotator import EPSILONS, alternative_annotator_test
from evaluation.ratings import FloatArray, Level

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
    outcome = alternative_annotator_test(np.ones((50, 3)), np.ones(50), CAST[:3], level="nominal")

    assert [one.p for one in outcome.people] == [0, 0, 0]
    assert outcome.passes


def test_too_few_people_and_items_are_warned_of() -> None:
    _, people = crowd(np.random.default_rng(4), 45, [0.8, 0.8, 0.8])
    people[20:, 2] = NAN

    outcome = alternative_annotator_test(people, people[:, 0], CAST[:3], level="nominal")

    assert [one.person for one in outcome.people] == ["Ada", "Ben"]
    assert outcome.warnings == (
        "2 people are tested; the test asks for 3 or more",
        "45 items; the test asks for 50 to 100 or more",
        "not tested, with fewer than 30 shared items: Cleo",
    )


def test_without_shared_items_there_is_no_test() -> None:
    people = np.full((80, 2), NAN)
    people[:40, 0], people[40:, 1] = 1, 1

    outcome = alternative_annotator_test(people, np.ones(80), CAST[:2], level="nominal")

    assert outcome.passes is None
    assert outcome.as_dict()["winning_rate"] is None
    assert "nobody shares 30 items" in outcome.reason
