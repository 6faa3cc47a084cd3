from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, precision_recall_fscore_support

from stats.judges.accuracy import mean_accuracy
from stats.judges.comparison import Comparison, compare
from stats.judges.coverage import coverage
from stats.pairing import NotComparable, pair, people_threshold
from stats.ratings import Ratings
from tests.stats.worked_examples import NAN, ratings_of

SIX = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)
PEOPLE = [5.0, 4, 3, 3, 2, 2, 1, 0, 0, 5]
JUDGE = [5.0, 3, 3, 2, 3, 1, 1, 0, 2, 4]


def one_rater(grades: list[float], scale: tuple[float, ...] = SIX, topics: list[int] | None = None) -> Ratings:
    ratings = ratings_of([[grade] for grade in grades], scale, "ordinal", topics)
    return ratings if topics is None else Ratings(**{**vars(ratings), "texts": ratings.topics})


def compared(people: Ratings, judge: Ratings, at: float = 3.0) -> Comparison:
    return compare(people, judge, at=at, people_at=at, same_scale=True)


def test_figures_are_those_of_scikit_learn() -> None:
    comparison = compared(one_rater(PEOPLE), one_rater(JUDGE))

    yes, judged_yes = [grade >= 3 for grade in PEOPLE], [grade >= 3 for grade in JUDGE]
    precision, recall, f1, _ = precision_recall_fscore_support(yes, judged_yes, labels=[True, False])
    for figures, place in ((comparison.threshold.positive, 0), (comparison.threshold.negative, 1)):
        assert figures.precision.value == pytest.approx(precision[place])
        assert figures.recall.value == pytest.approx(recall[place])
        assert figures.f1.value == pytest.approx(f1[place])
    assert comparison.threshold.kappa.value == pytest.approx(cohen_kappa_score(yes, judged_yes))
    assert comparison.kappa.value == pytest.approx(cohen_kappa_score(PEOPLE, JUDGE))
    quadratic = cohen_kappa_score([int(g) for g in PEOPLE], [int(g) for g in JUDGE], weights="quadratic")
    assert comparison.kappa_quadratic.value == pytest.approx(quadratic)


def test_an_ungraded_reply_lowers_recall_and_kappa_and_leaves_precision() -> None:
    complete = compared(one_rater(PEOPLE), one_rater(JUDGE))

    with_gap = compared(one_rater(PEOPLE), one_rater([NAN, *JUDGE[1:]]))

    assert (with_gap.n_items, with_gap.n_ungraded, with_gap.ungraded_share) == (10, 1, 0.1)
    assert with_gap.threshold.positive.recall.value == pytest.approx(3 / 5)
    assert with_gap.threshold.positive.precision.value == pytest.approx(3 / 4)
    assert complete.threshold.kappa.value is not None
    assert with_gap.threshold.kappa.value is not None
    assert with_gap.threshold.kappa.value < complete.threshold.kappa.value
    assert with_gap.kappa.value == pytest.approx(cohen_kappa_score(PEOPLE[1:], JUDGE[1:]))


def test_people_become_one_by_majority_with_ties_to_the_lower_grade() -> None:
    people = ratings_of([[0.0, 3, 5], [4, 4, 1], [5, 2, NAN], [3, NAN, NAN]], SIX, "ordinal")

    comparison = compared(people, one_rater([0.0, 4, 2, 3]))

    assert comparison.kappa.value == 1.0
    assert list(comparison.by_rater) == ["rater 0", "rater 1", "rater 2"]
    assert [one.n_items for one in comparison.by_rater.values()] == [4, 3, 2]


def test_coverage_is_compared_text_by_text() -> None:
    topics = [0, 0, 1, 1, 2, 2, 3, 3]
    people = one_rater([5.0, 5, 5, 0, 0, 0, 5, 5], topics=topics)
    judge = one_rater([4.0, 4, 1, 3, 0, 2, 3, NAN], topics=topics)

    figures = compared(people, judge).coverage

    assert figures.people.tolist() == [1.0, 0.5, 0.0, 1.0]
    assert figures.judge.tolist() == [1.0, 0.5, 0.0, 0.5]
    assert figures.spearman.value is not None
    assert 0 < figures.spearman.value < 1


def test_without_topics_there_is_no_coverage() -> None:
    comparison = compared(one_rater(PEOPLE), one_rater(JUDGE))

    assert comparison.coverage.spearman.reason == "the tables name no topics"


def test_classes_nobody_uses_are_undefined_with_a_reason() -> None:
    comparison = compared(one_rater([5.0, 5, 5, 5]), one_rater([4.0, 4, 4, 4]))

    threshold = comparison.threshold
    assert threshold.positive.recall.value == 1.0
    assert threshold.negative.precision.reason == "the judge called nothing negative"
    assert threshold.negative.recall.reason == "people called nothing negative"
    assert threshold.negative.f1.reason == "nobody called anything negative"
    assert "only one grade" in threshold.kappa.reason
    assert comparison.spearman.value is None


def test_yes_or_no_people_have_a_scale_of_their_own() -> None:
    yes_or_no = one_rater([0.0, 1, 1], scale=(0.0, 1.0))

    assert people_threshold(yes_or_no, one_rater([5.0, 2, 3]), 3.0) == (1.0, False)
    assert people_threshold(one_rater([2.0, 1, 1]), one_rater([5.0, 2, 3]), 3.0) == (3.0, True)
    assert people_threshold(yes_or_no, one_rater([0.0, 1, 1], scale=(0.0, 1.0)), 1.0) == (1.0, True)


def test_only_items_of_both_are_paired() -> None:
    people, judge = one_rater([1.0, 2, 3]), one_rater([2.0, 3, 4])
    people = Ratings(**{**vars(people), "items": ["a", "b", "c"]})
    judge = Ratings(**{**vars(judge), "items": ["c", "d", "a"]})

    paired = pair(people, judge)

    assert list(paired.people.items) == list(paired.judge.items) == ["a", "c"]
    assert paired.judge.codes[:, 0].tolist() == [4, 2]
    assert (paired.n_people_only, paired.n_judge_only) == (1, 1)


def test_tables_without_a_common_item_are_refused() -> None:
    people, judge = one_rater([1.0]), one_rater([2.0])
    judge = Ratings(**{**vars(judge), "items": ["z"]})

    with pytest.raises(NotComparable, match="No item is in both"):
        pair(people, judge)


def test_coverage_counts_only_what_was_asked() -> None:
    answered = np.array([True, True, False, True])
    asked = np.array([True, False, True, True])

    shares = coverage(answered, asked, np.array([0, 0, 0, 1]), 3)

    assert shares[:2].tolist() == [0.5, 1.0]
    assert np.isnan(shares[2])


def of_three(topics: list[int] | None = None) -> tuple[Ratings, Ratings]:
    """Three people on six items. The judge says as they do on 4 of 6, 1 of 2 and 0 of 1; one reply has no grade."""
    people = ratings_of(
        [[5.0, NAN, NAN], [4, 0, NAN], [3, 3, NAN], [0, NAN, 5], [0, NAN, NAN], [5, NAN, NAN]], SIX, "ordinal", topics
    )
    return people, one_rater([3.0, 4, 3, 0, 3, NAN], topics=topics)


def test_accuracy_is_found_against_each_person_and_then_averaged() -> None:
    comparison = compared(*of_three())

    assert [one.threshold.accuracy.value for one in comparison.by_rater.values()] == pytest.approx([4 / 6, 1 / 2, 0])
    assert comparison.mean_accuracy is not None
    assert comparison.mean_accuracy.n_raters == 3
    assert comparison.mean_accuracy.estimate.value == pytest.approx((4 / 6 + 1 / 2 + 0) / 3)
    assert comparison.as_dict()["mean_accuracy"] == {
        "value": pytest.approx(7 / 18),
        "low": None,
        "high": None,
        "n_topics": None,
        "n_items": 6,
        "n_raters": 3,
        "reason": "6 items are too few for an interval, which takes 30",
    }


def test_the_interval_of_mean_accuracy_leaves_out_each_topic_for_all_people_at_once() -> None:
    same = np.array([[1, 1], [0, 1], [1, 0], [1, 1], [0, 0]], dtype=bool).repeat(6, axis=0)
    judged = np.ones((30, 2), dtype=bool)
    judged[:, 1] = np.arange(30) < 18
    topics = np.arange(30) // 6

    found = mean_accuracy(same, judged, topics).estimate

    # Person 1 has 18 of 30; person 2, who judged the first three topics, 12 of 18.
    assert found.value == pytest.approx((18 / 30 + 12 / 18) / 2)
    one = [(18 - same[topics == t, 0].sum()) / 24 for t in range(5)]
    two = [6 / 12, 6 / 12, 12 / 12, 12 / 18, 12 / 18]
    left = [(a + b) / 2 for a, b in zip(one, two, strict=True)]
    assert found.se == pytest.approx(np.sqrt(4 / 5 * ((np.array(left) - np.mean(left)) ** 2).sum()))
    assert str(found.sample) == "5 topics"
    assert found.sample is not None
    assert found.sample.n_items == 30
