from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stats.measures.long2rag import key_point_f1, key_point_precision, key_point_recall
from stats.measures.nuggets import AssignedNugget, Importance, Support, nugget_scores
from stats.measures.scores import Score, mean_over_topics

shares = st.integers(0, 12).map(lambda twelfths: twelfths / 12)
nuggets = st.lists(
    st.builds(
        AssignedNugget,
        st.sampled_from(["vital", "okay"]),
        st.sampled_from(["support", "partial_support", "not_support", None]),
    )
)


def nugget(importance: Importance, support: Support | None) -> AssignedNugget:
    return AssignedNugget(importance, support)


def test_recall_is_the_share_of_key_points_that_the_answer_entails() -> None:
    assert key_point_recall([True, False, True, True]) == Score(0.75)


def test_an_ungraded_key_point_stays_in_the_denominator() -> None:
    assert key_point_recall([True, None, False, None]) == Score(0.25, ungraded=2, bounds=(0.25, 0.75))


def test_without_key_points_nothing_is_defined() -> None:
    recall, precision = key_point_recall([]), key_point_precision([])

    assert (recall.value, recall.reason) == (None, "The question has no key points.")
    assert (precision.value, precision.reason) == (None, "The answer has no key points.")
    assert key_point_f1(Score(0.5), precision).reason == "The answer has no key points."


def test_f1_of_a_question_is_the_harmonic_mean_and_zero_where_both_are_zero() -> None:
    assert key_point_f1(Score(0.5), Score(1.0)).value == pytest.approx(2 / 3)
    assert key_point_f1(Score(0.0), Score(0.0)).value == 0.0


@settings(deadline=None)
@given(st.lists(st.tuples(shares, shares), min_size=1))
def test_averaged_f1_is_at_most_the_harmonic_mean_of_the_averages(questions: list[tuple[float, float]]) -> None:
    # So it is in Table 4 of the paper: .379 with averages of .323 and .579, whose harmonic mean is .415.
    scores = {str(number): (Score(recall), Score(precision)) for number, (recall, precision) in enumerate(questions)}

    recall = mean_over_topics({question: both[0] for question, both in scores.items()}).value
    precision = mean_over_topics({question: both[1] for question, both in scores.items()}).value
    averaged = mean_over_topics({question: key_point_f1(*both) for question, both in scores.items()}).value

    of_averages = key_point_f1(Score(recall), Score(precision)).value
    assert averaged is not None
    assert of_averages is not None
    assert averaged <= of_averages + 1e-12


def test_nugget_scores_of_a_case_worked_by_hand() -> None:
    found = nugget_scores(
        [
            nugget("vital", "support"),
            nugget("vital", "partial_support"),
            nugget("vital", "not_support"),
            nugget("okay", "support"),
            nugget("okay", "partial_support"),
        ]
    )

    assert found.strict_vital.value == pytest.approx(1 / 3)
    assert found.vital.value == pytest.approx(1.5 / 3)
    assert found.strict_all.value == pytest.approx(2 / 5)
    assert found.all.value == pytest.approx(3 / 5)
    # Of 3 · 1 + 2 · ½.
    assert found.strict_weighted.value == pytest.approx(1.5 / 4)
    assert found.weighted.value == pytest.approx((1 + 0.5 + 0.5 + 0.25) / 4)
    assert found.strict_all.settings == {"strict": True}


def test_a_nugget_that_the_judge_failed_on_gives_no_credit_and_is_counted() -> None:
    found = nugget_scores([nugget("vital", "support"), nugget("vital", None), nugget("okay", None)])

    assert (found.vital.value, found.vital.ungraded, found.all.ungraded) == (0.5, 1, 2)
    assert (found.weighted.value, found.weighted.bounds) == (1 / 2.5, (1 / 2.5, 1))


def test_without_vital_nuggets_the_vital_scores_are_undefined() -> None:
    found = nugget_scores([nugget("okay", "support")])

    assert (found.vital.value, found.vital.reason) == (None, "The topic has no vital nuggets.")
    assert found.all.value == 1.0
    assert nugget_scores([]).all.reason == "The topic has no nuggets."


@settings(deadline=None)
@given(nuggets)
def test_strict_scores_are_never_the_higher_ones(assigned: list[AssignedNugget]) -> None:
    found = nugget_scores(assigned)

    for strict, lenient in ((found.strict_vital, found.vital), (found.strict_all, found.all)):
        assert (strict.value is None) == (lenient.value is None)
        assert (strict.value or 0.0) <= (lenient.value or 0.0) <= 1.0
