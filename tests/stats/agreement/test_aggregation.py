from __future__ import annotations

from collections.abc import Callable
from statistics import median_high, median_low, multimode

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stats.agreement.aggregation import Aggregate, DawidSkene, dawid_skene, dawid_skene_of_codes, majority, mean, median
from stats.ratings import FloatArray
from stats.votes import Ties

NAN = np.nan
# Table 1 of Dawid and Skene (1979): 45 patients; the first anaesthetist graded each three times, four others once.
PATIENTS = """
1111111 3334334 1122122 2223121 2223222 2223322 1222111 3333433 2222223 2322223 4444444 2223343 1111111 2223212
1211111 1112111 1111111 1111111 2222221 2221322 2222222 2222221 2223222 2212222 1111111 1111111 2322222 1111111
1111111 1121121 1111111 3333233 1111111 2222222 2223232 4334343 2212232 2323233 3333432 1111111 1111111 1212111
2322222 1211111 2222222
"""
ANAESTHETISTS = PATIENTS.split()

matrices = st.integers(1, 5).flatmap(
    lambda raters: st.lists(
        st.lists(st.sampled_from([NAN, 0.0, 1.0, 2.0, 3.0]), min_size=raters, max_size=raters), min_size=1, max_size=8
    ).map(lambda rows: np.array(rows))
)
rated = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=40)


@pytest.fixture(scope="module")
def anaesthetists() -> DawidSkene:
    grades = np.array([[int(grade) - 1 for grade in row] for row in ANAESTHETISTS])
    patients = np.repeat(np.arange(45), 7)
    return dawid_skene(patients, np.tile([0, 0, 0, 1, 2, 3, 4], 45), grades.ravel(), n_grades=4)


def grades_of(found: Aggregate) -> list[float | None]:
    return [None if np.isnan(grade) else float(grade) for grade in found.grades]


@pytest.mark.parametrize(
    ("ties", "expected"), [("lower", [1, 0, 2, None]), ("higher", [1, 3, 2, None]), ("undecided", [1, None, 2, None])]
)
def test_the_majority_settles_ties_by_the_declared_rule(ties: Ties, expected: list[float | None]) -> None:
    ratings = np.array([[1, 1, 0, NAN], [0, 3, 3, 0], [2, NAN, NAN, NAN], [NAN] * 4])

    found = majority(ratings, ties=ties)

    assert grades_of(found) == expected
    assert (found.n_tied, found.n_too_few) == (1, 1)


@pytest.mark.parametrize(
    ("ties", "expected"), [("lower", [1, 0, 2, None]), ("higher", [1, 3, 2, None]), ("undecided", [1, None, 2, None])]
)
def test_the_median_of_an_even_number_is_a_tie(ties: Ties, expected: list[float | None]) -> None:
    ratings = np.array([[1, 1, 0, NAN], [0, 3, NAN, NAN], [2, 2, 0, 5], [NAN] * 4])

    found = median(ratings, ties=ties)

    assert grades_of(found) == expected
    assert (found.n_tied, found.n_too_few) == (1, 1)


def test_the_mean_leaves_missing_ratings_out() -> None:
    found = mean(np.array([[1, 2, NAN], [0, NAN, NAN], [NAN, NAN, NAN]]))

    assert grades_of(found) == [1.5, 0.0, None]


@pytest.mark.parametrize("aggregate", [majority, median])
def test_too_few_raters_give_no_grade_and_are_counted(aggregate: Callable[..., Aggregate]) -> None:
    ratings = np.array([[1, 1, NAN], [1, NAN, NAN], [0, 3, NAN]])

    found = aggregate(ratings, ties="undecided", fewest_raters=2)

    assert grades_of(found) == [1, None, None]
    assert (found.n_too_few, found.n_tied) == (1, 1)
    with pytest.raises(ValueError, match="At least one rater"):
        aggregate(ratings, ties="lower", fewest_raters=0)


@pytest.mark.parametrize("shape", [(0, 3), (2, 0), (2, 3)])
def test_nothing_to_aggregate_gives_nothing(shape: tuple[int, int]) -> None:
    ratings = np.full(shape, NAN)

    for found in (majority(ratings, ties="lower"), median(ratings, ties="lower"), mean(ratings)):
        assert np.isnan(found.grades).all()
        assert (len(found.grades), found.n_too_few, found.n_tied) == (shape[0], shape[0], 0)


@settings(deadline=None)
@given(matrices)
def test_majority_and_median_are_those_of_the_standard_library(ratings: FloatArray) -> None:
    lower, higher = majority(ratings, ties="lower"), majority(ratings, ties="higher")
    low, high = median(ratings, ties="lower"), median(ratings, ties="higher")

    for item, row in enumerate(ratings):
        known = row[~np.isnan(row)].tolist()
        if known:
            assert (lower.grades[item], higher.grades[item]) == (min(multimode(known)), max(multimode(known)))
            assert (low.grades[item], high.grades[item]) == (median_low(known), median_high(known))


def test_dawid_and_skenes_anaesthetists_come_out_as_published(anaesthetists: DawidSkene) -> None:
    # Their estimates of the prevalence of the four grades, and of the first anaesthetist's errors.
    assert anaesthetists.converged
    assert anaesthetists.prevalence == pytest.approx([0.40, 0.42, 0.11, 0.07], abs=0.005)
    first = np.array([[0.89, 0.11, 0, 0], [0.07, 0.88, 0.05, 0], [0, 0.34, 0.66, 0], [0, 0, 0.56, 0.44]])
    np.testing.assert_allclose(anaesthetists.confusion[0], first, atol=0.005)


def test_a_fixed_point_satisfies_the_papers_equations(anaesthetists: DawidSkene) -> None:
    counts = np.zeros((45, 5, 4))
    for patient, row in enumerate(ANAESTHETISTS):
        for observer, grade in zip([0, 0, 0, 1, 2, 3, 4], row, strict=True):
            counts[patient, observer, int(grade) - 1] += 1

    # Equations 2.3, 2.4 and 2.5 as they are printed, on the estimates.
    truth = anaesthetists.posteriors
    errors = np.einsum("ij,ikl->kjl", truth, counts)
    errors = errors / errors.sum(axis=2, keepdims=True)
    joint = truth.mean(axis=0) * np.prod(errors.transpose(1, 0, 2)[None] ** counts[:, None], axis=(2, 3))

    np.testing.assert_allclose(anaesthetists.confusion, errors, atol=1e-4)
    np.testing.assert_allclose(truth, joint / joint.sum(axis=1, keepdims=True), atol=1e-4)
    assert anaesthetists.log_likelihood[-1] == pytest.approx(float(np.log(joint.sum(axis=1)).sum()), abs=1e-6)


def test_the_most_probable_grades_follow_the_patients_majority_where_all_agree(anaesthetists: DawidSkene) -> None:
    found = anaesthetists.grades(ties="undecided")

    unanimous = {patient: int(row[0]) for patient, row in enumerate(ANAESTHETISTS) if len(set(row)) == 1}
    assert found.n_tied == 0
    assert {patient: found.grades[patient] + 1 for patient in unanimous} == unanimous


@settings(deadline=None)
@given(rated)
def test_the_likelihood_never_falls_and_probabilities_sum_to_one(ratings: list[tuple[int, int, int]]) -> None:
    items = {item: place for place, item in enumerate(sorted({item for item, _, _ in ratings}))}

    found = dawid_skene(
        [items[item] for item, _, _ in ratings],
        [rater for _, rater, _ in ratings],
        [grade for _, _, grade in ratings],
        n_grades=3,
        most_iterations=200,
    )

    assert (np.diff(found.log_likelihood) >= -1e-9).all()
    assert np.allclose(found.posteriors.sum(axis=1), 1)
    assert np.isclose(found.prevalence.sum(), 1)
    rows = found.confusion.sum(axis=2)
    assert np.allclose(rows[~np.isnan(rows)], 1)


def test_a_contrarian_is_found_out_among_good_raters() -> None:
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 400)
    good = np.where(rng.random((400, 3)) < 0.9, truth[:, None], 1 - truth[:, None])
    contrarian = np.where(rng.random(400) < 0.9, 1 - truth, truth)
    grades = np.column_stack([good, contrarian, contrarian])

    found = dawid_skene(np.repeat(np.arange(400), 5), np.tile(np.arange(5), 400), grades.ravel(), n_grades=2)

    right = (found.grades(ties="lower").grades == truth).mean()
    assert right > (majority(grades.astype(float), ties="lower").grades == truth).mean() + 0.05
    assert found.confusion[3, 0, 0] < 0.2
    assert found.confusion[0, 0, 0] > 0.8


def test_equal_chances_are_a_tie() -> None:
    found = dawid_skene([0, 0], [0, 1], [0, 1], n_grades=2, most_iterations=1)

    assert grades_of(found.grades(ties="undecided")) == [None]
    assert grades_of(found.grades(ties="higher")) == [1]
    assert found.grades(ties="lower").n_tied == 1
    assert not found.converged


def test_dawid_skene_refuses_items_without_ratings() -> None:
    with pytest.raises(ValueError, match="no rating to estimate"):
        dawid_skene([], [], [], n_grades=2)
    with pytest.raises(ValueError, match="Item 0 has no rating"):
        dawid_skene([1], [0], [0], n_grades=2)


def test_items_rated_alike_are_one_and_nothing_changes() -> None:
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 3, 500)[:, None]
    codes = np.where(rng.random((500, 4)) < 0.8, truth, rng.integers(-1, 3, (500, 4))).astype(np.int16)
    codes = codes[(codes >= 0).any(axis=1)]
    item, rater = np.nonzero(codes >= 0)

    one_by_one = dawid_skene(item, rater, codes[item, rater].astype(np.int64), n_grades=3)
    together = dawid_skene_of_codes(codes, n_grades=3)

    assert together.converged
    np.testing.assert_allclose(together.posteriors, one_by_one.posteriors, atol=1e-6)
    np.testing.assert_allclose(together.confusion, one_by_one.confusion, atol=1e-6)


def test_rows_of_very_many_raters_are_told_apart() -> None:
    codes = np.zeros((3, 60), dtype=np.int16)
    codes[1, 59] = 5
    codes[2, 0] = 5

    found = dawid_skene_of_codes(codes, n_grades=6)

    assert found.posteriors.shape == (3, 6)
    assert found.grades(ties="lower").grades.tolist() == [0, 0, 0]
