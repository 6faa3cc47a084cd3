from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, f1_score

from stats.judges.threshold_choice import By, NoHalves, choose_threshold, half, human_ceiling, threshold_curve
from stats.ratings import MISSING, BoolArray, FloatArray, IntArray, Ratings

NAN = np.nan
GRADES = (1.0, 2.0, 3.0, 4.0, 5.0)


def judged(rng: np.random.Generator, n_topics: int, each: int) -> tuple[BoolArray, FloatArray, IntArray]:
    """People who say yes from 3 up to what a judge grades with noise, in topics."""
    truth = rng.integers(0, 6, n_topics * each)
    judge = np.clip(truth + rng.integers(-1, 2, len(truth)), 0, 5).astype(float)
    return truth >= 3, judge, np.repeat(np.arange(n_topics), each)


def yes_or_no(columns: Any, topics: list[int] | None = None) -> Ratings:
    values = np.array(columns, dtype=float)
    codes = np.where(np.isnan(values), MISSING, np.nan_to_num(values)).astype(np.int16)
    return Ratings(
        codes=np.asfortranarray(codes),
        scale=(0.0, 1.0),
        level="ordinal",
        items=range(len(codes)),
        raters=range(codes.shape[1]),
        topics=None if topics is None else np.array(topics),
    )


def test_the_curve_is_scikit_learns_at_every_threshold() -> None:
    people, judge, topics = judged(np.random.default_rng(1), 10, 20)

    curve = threshold_curve(people, judge, topics, thresholds=GRADES, people_at=1)

    for at, figures in zip(GRADES, curve, strict=True):
        assert figures.at == at
        assert figures.kappa.value == pytest.approx(cohen_kappa_score(people, judge >= at))
        assert figures.positive.f1.value == pytest.approx(f1_score(people, judge >= at))


@pytest.mark.parametrize("by", ["kappa", "f1"])
def test_the_threshold_is_chosen_on_one_half_and_reported_on_the_other(by: By) -> None:
    people, judge, topics = judged(np.random.default_rng(2), 30, 10)

    choice = choose_threshold(people, judge, topics, thresholds=GRADES, people_at=1, by=by)

    first = half(topics, 300)
    score = cohen_kappa_score if by == "kappa" else f1_score
    best = max(GRADES, key=lambda at: score(people[first], judge[first] >= at))
    assert choice.at == best
    assert choice.reported is not None
    assert choice.reported.kappa.value == pytest.approx(cohen_kappa_score(people[~first], judge[~first] >= best))
    assert (choice.n_chosen, choice.n_reported) == (150, 150)


def test_halves_part_topics_whole_and_are_the_same_again() -> None:
    topics = np.repeat(np.arange(9), 5)

    first, again, other = (half(topics, 45, seed=seed) for seed in (1, 1, 2))

    assert first.tolist() == again.tolist()
    assert first.tolist() != other.tolist()
    assert all(len(set(first[topics == topic])) == 1 for topic in range(9))
    assert first.sum() == 20


def test_without_topics_items_are_parted() -> None:
    assert half(None, 11).sum() == 5


def test_of_equal_thresholds_the_lowest_is_chosen() -> None:
    people, judge = np.array([True, False] * 20), np.array([5.0, 0.0] * 20)

    choice = choose_threshold(people, judge, None, thresholds=(5, 1, 3), people_at=1)

    assert choice.at == 1


def test_of_equal_thresholds_the_standing_one_is_kept() -> None:
    people, judge = np.array([True, False] * 20), np.array([5.0, 0.0] * 20)

    choice = choose_threshold(people, judge, None, thresholds=(5, 1, 3), people_at=1, standing=3)

    assert choice.at == 3


@pytest.mark.parametrize(
    ("people", "judge", "topics"),
    [([True, False], [1.0, 0.0], [0, 0]), ([True], [1.0], None), ([True] * 4, [1.0] * 4, None)],
)
def test_what_has_no_halves_is_refused(people: Any, judge: Any, topics: Any) -> None:
    with pytest.raises(NoHalves):
        choose_threshold(
            np.array(people),
            np.array(judge),
            None if topics is None else np.array(topics),
            thresholds=(1,),
            people_at=1,
        )


def test_the_ceiling_is_the_mean_agreement_of_people_on_the_judges_items() -> None:
    rng = np.random.default_rng(3)
    truth = rng.random(200) < 0.4
    people = np.stack([np.where(rng.random(200) < 0.85, truth, ~truth) for _ in range(3)], axis=1).astype(float)
    judge = np.where(rng.random(200) < 0.9, truth, ~truth).astype(float)

    ceiling = human_ceiling(yes_or_no(people.tolist()), judge, at=1, people_at=1)

    pairs = [cohen_kappa_score(people[:, r], people[:, s]) for r, s in combinations(range(3), 2)]
    alone = [cohen_kappa_score(people[:, s], judge) for s in range(3)]
    assert ceiling.people.value == pytest.approx(np.mean(pairs))
    assert ceiling.judge.value == pytest.approx(np.mean(alone))
    assert ceiling.difference.value == pytest.approx(np.mean(alone) - np.mean(pairs))
    assert ceiling.difference.value is not None
    assert ceiling.difference.low is not None
    assert ceiling.difference.high is not None
    assert ceiling.difference.low < ceiling.difference.value < ceiling.difference.high


def test_judge_and_people_are_compared_on_the_same_items() -> None:
    """Where Cleo labels, the judge is right; what it says of other items is not held against Cleo's pairs."""
    people = [[1, 1, NAN], [0, 0, NAN], [1, 1, 1], [0, 0, 0], [1, 1, 1], [0, 0, 0], [1, NAN, NAN]]
    judge = np.array([0, 1, 1, 0, 1, 0, 0.0])

    ceiling = human_ceiling(yes_or_no(people), judge, at=1, people_at=1)

    assert ceiling.n_items == 6
    assert ceiling.people.value == 1
    of_ada_and_ben = cohen_kappa_score([1, 0, 1, 0, 1, 0], judge[:6])
    assert ceiling.judge.value == pytest.approx((2 * of_ada_and_ben + 4 * 1) / 6)


def test_an_ungraded_reply_agrees_with_nobody() -> None:
    people = [[1.0, 1], [0, 0]] * 10
    judge = np.array([1.0, NAN] * 10)

    ceiling = human_ceiling(yes_or_no(people), judge, at=1, people_at=1, by="f1")
    by_kappa = human_ceiling(yes_or_no(people), judge, at=1, people_at=1)

    assert ceiling.judge.value == 1
    assert by_kappa.judge.value == pytest.approx((0.5 - 0.25) / (1 - 0.25))
    assert ceiling.n_ungraded == 10


def test_the_ceilings_interval_is_over_topics() -> None:
    rng = np.random.default_rng(4)
    blocks = [(1.0, 1.0, 1.0) if rng.random() < 0.5 else (0.0, 1.0, 0.0) for _ in range(10)]
    people = [list(block[:2]) for block in blocks for _ in range(30)]
    judge = np.array([block[2] for block in blocks for _ in range(30)])

    apart = human_ceiling(yes_or_no(people), judge, at=1, people_at=1, by="f1")
    together = human_ceiling(
        yes_or_no(people, np.repeat(np.arange(10), 30).tolist()), judge, at=1, people_at=1, by="f1"
    )

    assert apart.people.se is not None
    assert together.people.se is not None
    assert together.people.se > 3 * apart.people.se


@pytest.mark.parametrize(
    ("people", "reason"),
    [
        ([[1.0, NAN], [NAN, 0.0]], "no item has two people"),
        ([[1.0, 1.0], [1.0, 1.0]], "one side of the threshold"),
    ],
)
def test_the_ceiling_says_why_there_is_none(people: Any, reason: str) -> None:
    ceiling = human_ceiling(yes_or_no(people), np.ones(2), at=1, people_at=1)

    assert ceiling.difference.value is None
    assert reason in ceiling.difference.reason
