"""Grades rolled up to texts: the rule, and the figures that come of it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, confusion_matrix

from stats.judges.text_level import RolledUp, Rule, compare_rolled_up, roll_up
from stats.ratings import FloatArray, Ratings
from tests.stats.worked_examples import NAN, ratings_of

# Farzi and Dietz (2024), Table 12b: the passages of the system “pilot-competitor” for one query, with the questions
# (from 1) that FLAN-T5 graded 4. The paper counts six passages as relevant at grade 4.
PUBLISHED = [[], [1], [3, 5, 10], [], [], [10], [], [], [3], [], [], [], [], [], [], [1, 5], [], [], [3]]
RELEVANCE = (0.0, 1.0, 2.0, 3.0)


def rolled_up(grades: list[list[float]], rule: Rule = "highest", yes_from: float = 3) -> RolledUp:
    """Roll up texts × elements; no item is left out."""
    texts = [number for number, row in enumerate(grades) for _ in row]
    flat = np.array([grade for row in grades for grade in row], dtype=np.float64)
    return roll_up(flat, np.array(texts, dtype=np.int64), n_texts=len(grades), rule=rule, yes_from=yes_from)


def published(rule: Rule) -> RolledUp:
    return rolled_up([[4.0 if question in row else 0.0 for question in range(1, 11)] for row in PUBLISHED], rule, 4)


def people(*grades: list[float], topics: list[int] | None = None) -> Ratings:
    """The grades of several people, each a list over the texts."""
    return ratings_of(np.array(grades).T.tolist(), RELEVANCE, "ordinal", topics)


def test_six_passages_of_the_published_example_are_relevant() -> None:
    assert (published("highest").grades >= 4).sum() == 6


def test_the_published_example_answers_one_to_three_questions_a_passage() -> None:
    counts = published("answered").grades

    assert counts[counts > 0].tolist() == [1, 3, 1, 1, 2, 1]


@pytest.mark.parametrize("rule", ["highest", "answered"])
def test_a_text_without_a_readable_grade_has_none_and_not_0(rule: Rule) -> None:
    found = rolled_up([[NAN, NAN], [NAN, 0.0]], rule)

    assert np.isnan(found.grades[0])
    assert found.grades[1] == 0
    assert found.n_ungraded.tolist() == [2, 1]


def test_a_text_that_was_not_asked_about_has_no_grade() -> None:
    found = roll_up(np.array([2.0]), np.array([1]), n_texts=3, rule="highest", yes_from=3)

    assert found.n_asked.tolist() == [0, 1, 0]
    assert np.isnan(found.grades[[0, 2]]).all()


def random_grades(n_texts: int = 200) -> tuple[FloatArray, FloatArray]:
    chance = np.random.default_rng(7)
    relevance = chance.integers(0, 4, n_texts).astype(np.float64)
    return np.clip(relevance + chance.integers(-1, 4, n_texts), 0, 5), relevance


def test_kappa_and_contingency_are_those_of_scikit_learn() -> None:
    judge, relevance = random_grades()

    found = compare_rolled_up(
        rolled_up([[grade] for grade in judge]),
        people(relevance.tolist()),
        at=3,
        people_at=2,
        thresholds=[1, 2, 3, 4, 5],
    )

    for (at, people_at), kappa in found.kappas.items():
        assert kappa.value == pytest.approx(cohen_kappa_score(relevance >= people_at, judge >= at))
    assert len(found.kappas) == 15
    expected = confusion_matrix(judge, relevance, labels=range(6))[::-1, 3::-1]
    assert found.contingency.judge == (5, 4, 3, 2, 1, 0)
    assert found.contingency.people == (3, 2, 1, 0)
    assert found.contingency.counts.tolist() == expected.tolist()
    assert sum(found.threshold.cells) == found.n_texts == 200


def test_the_yes_at_one_answered_question_is_the_yes_of_the_highest_grade() -> None:
    chance = np.random.default_rng(3)
    grades = chance.integers(0, 6, (60, 4)).astype(np.float64).tolist()
    relevance = people(chance.integers(0, 4, 60).astype(np.float64).tolist())

    highest = compare_rolled_up(rolled_up(grades), relevance, at=3, people_at=2, thresholds=[3])
    answered = compare_rolled_up(rolled_up(grades, "answered"), relevance, at=1, people_at=2, thresholds=[1, 2, 3, 4])

    assert answered.threshold.cells == highest.threshold.cells
    assert answered.threshold.kappa.value == highest.threshold.kappa.value
    assert answered.spearman.value != highest.spearman.value


def test_texts_without_a_grade_are_counted_and_left_out_of_every_figure() -> None:
    with_gaps = compare_rolled_up(
        rolled_up([[5.0, NAN], [NAN, NAN], [1.0, NAN], [0.0, 4.0], [2.0, 1.0]]),
        people([3, 3, 0, 2, 0]),
        at=3,
        people_at=2,
        thresholds=[3],
    )

    assert (with_gaps.n_texts, with_gaps.n_ungraded, with_gaps.n_partly, with_gaps.n_open) == (4, 1, 2, 1)
    assert with_gaps.threshold.cells == (2, 0, 0, 2)
    assert with_gaps.contingency.counts.sum() == 4
    assert with_gaps.as_dict()["n_ungraded"] == 1


def test_several_people_are_one_by_majority_and_stand_alone_beside_it() -> None:
    found = compare_rolled_up(
        rolled_up([[5.0], [0.0], [4.0], [1.0], [5.0], [0.0]]),
        people([3, 0, 2, 0, 0, 0], [3, 0, 0, 0, 3, 0], [2, 0, 3, 3, 2, 0]),
        at=3,
        people_at=2,
        thresholds=[3],
    )

    # The third and the fifth text are ties, which go to the lower grade: people say no.
    assert found.threshold.cells == (1, 2, 0, 3)
    assert len(found.by_rater) == 3
    assert found.ceiling.n_items == 6
    assert found.ceiling.people.value is not None


def test_one_person_makes_no_ceiling() -> None:
    judge, relevance = random_grades(40)

    found = compare_rolled_up(
        rolled_up([[grade] for grade in judge]), people(relevance.tolist()), at=3, people_at=2, thresholds=[3]
    )

    assert found.by_rater == {}
    assert found.ceiling.difference.reason == "no item has two people’s grades"


def test_intervals_are_over_topics() -> None:
    judge, relevance = random_grades()
    topics = [number // 50 for number in range(200)]
    graded = rolled_up([[grade] for grade in judge])

    alone = compare_rolled_up(graded, people(relevance.tolist()), at=3, people_at=2, thresholds=[3])
    in_topics = compare_rolled_up(graded, people(relevance.tolist(), topics=topics), at=3, people_at=2, thresholds=[3])

    assert in_topics.threshold.kappa.value == alone.threshold.kappa.value
    assert (in_topics.threshold.kappa.low, in_topics.threshold.kappa.high) != (
        alone.threshold.kappa.low,
        alone.threshold.kappa.high,
    )


def test_people_who_say_one_thing_leave_kappa_undefined() -> None:
    found = compare_rolled_up(rolled_up([[5.0], [4.0]]), people([3, 3]), at=3, people_at=2, thresholds=[3])

    assert found.threshold.kappa.value is None
    assert found.threshold.kappa.reason


def test_people_s_threshold_need_not_be_a_grade_of_the_scale() -> None:
    judge, relevance = random_grades(40)

    found = compare_rolled_up(
        rolled_up([[grade] for grade in judge]), people(relevance.tolist()), at=3, people_at=1.5, thresholds=[3]
    )

    assert found.people_thresholds == [1, 1.5, 2, 3]
    assert found.kappas[3, 1.5].value == found.threshold.kappa.value == found.kappas[3, 2].value
