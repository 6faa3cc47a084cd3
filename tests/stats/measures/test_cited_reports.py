"""Measures of cited reports: worked by hand, and ARGUE's example to the digit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from stats.intervals import SHARE, ratio_interval
from stats.measures.cited_reports import (
    JUDGED_IN_PART,
    NOTHING_JUDGED,
    AnsweredNugget,
    Counts,
    JudgedSentence,
    argue,
    bounded,
    citation_support,
    f1,
    macro,
    micro,
    nugget_coverage,
    sentence_support,
    support_of_grade,
    too_many_in_part,
    weighted_precision,
    weighted_recall,
)
from stats.measures.scores import Score
from tests import cited_reports_check

FULL, HALF, NONE, UNJUDGED = 1.0, 0.5, 0.0, None


def said(*support: float | None, needs: bool | None = None) -> JudgedSentence:
    return JudgedSentence(support, needs)


# Full and none; partial; nothing cited; not judged and full.
REPORT = [said(FULL, NONE), said(HALF), said(), said(UNJUDGED, FULL)]


def test_weighted_precision_is_the_mean_support_of_the_judged_citations() -> None:
    score = weighted_precision(REPORT)

    assert score.value == pytest.approx((1 + 0 + 0.5 + 1) / 4)
    assert score.ungraded == 1


def test_weighted_precision_of_first_citations_leaves_out_what_is_not_judged() -> None:
    score = weighted_precision(REPORT, citations="first")

    assert score.value == pytest.approx((1 + 0.5) / 2)
    assert score.ungraded == 1


def test_weighted_recall_takes_the_best_citation_and_0_where_none_is() -> None:
    assert weighted_recall(REPORT).value == pytest.approx((1 + 0.5 + 0 + 1) / 4)
    # The fourth sentence's first citation is not judged: it counts as the others that cite, not 0.
    assert weighted_recall(REPORT, citations="first").value == pytest.approx((1 + 0.5 + 0 + 0.75) / 4)


def test_the_best_and_each_of_a_sentences_citations_are_not_told_from_some() -> None:
    best = weighted_recall([said(HALF, UNJUDGED), said(FULL)])
    each = sentence_support([said(FULL, UNJUDGED), said(FULL)])

    assert (best.value, best.reason, best.ungraded) == (None, JUDGED_IN_PART, 1)
    assert (each.share, each.undecided, each.score.reason) == (None, 1, JUDGED_IN_PART)
    # One decides: nothing is better than full, and what one does not support, not each does.
    assert weighted_recall([said(FULL, UNJUDGED), said(HALF)]).value == 0.75
    assert sentence_support([said(HALF, UNJUDGED), said(FULL)]) == Counts(1, 2, unjudged=1)
    # A document without a text keeps nobody waiting.
    hole = JudgedSentence((HALF, UNJUDGED), holes=frozenset([1]))
    assert weighted_recall([hole, said(FULL)]).value == 0.75
    assert bounded(weighted_recall, [said(HALF, UNJUDGED), said(FULL)]).bounds == (0.75, 1)


def test_too_many_reports_in_part_take_the_score_from_all() -> None:
    whole, part, nothing = Score(0.5), Score(None, JUDGED_IN_PART), Score(None, NOTHING_JUDGED)

    assert too_many_in_part([whole] * 9 + [part] + [nothing] * 20) == ""
    assert too_many_in_part([whole] * 8 + [part] + [nothing] * 20) == f"1 of 9 judged reports is {JUDGED_IN_PART}"
    assert too_many_in_part([]) == too_many_in_part([nothing]) == ""


# --- In simulation: what is drawn tells what all of it would ---------------------------------------


def reports_drawn_at_random(rng: np.random.Generator, n: int) -> list[list[JudgedSentence]]:
    """Reports of 12 sentences that cite 1 to 3 documents, and of 2 to 10 that cite nothing: half of these should."""
    return [
        [said(*rng.choice([FULL, HALF, NONE], size=rng.integers(1, 4), p=[0.5, 0.2, 0.3]).tolist()) for _ in range(12)]
        + [said(needs=bool(rng.random() < 0.5)) for _ in range(rng.integers(2, 11))]
        for _ in range(n)
    ]


def by_sentence(report: list[JudgedSentence], rng: np.random.Generator) -> list[JudgedSentence]:
    """Half of the sentences judged, each with all of its citations."""
    drawn = set(rng.permutation(len(report))[: len(report) // 2].tolist())
    return [
        one if place in drawn else JudgedSentence((UNJUDGED,) * len(one.support)) for place, one in enumerate(report)
    ]


def by_citation(report: list[JudgedSentence], rng: np.random.Generator) -> list[JudgedSentence]:
    """Half of the citations judged, whatever their sentences."""
    return [
        JudgedSentence(tuple(known if rng.random() < 0.5 else UNJUDGED for known in one.support), one.needs_citation)
        for one in report
    ]


@pytest.mark.parametrize("measure", [weighted_recall, lambda sentences: sentence_support(sentences).score])
def test_sentences_drawn_at_random_give_what_all_sentences_would(measure: Any) -> None:
    rng = np.random.default_rng(1971)
    reports = reports_drawn_at_random(rng, 3_000)

    truth = np.array([measure(one).value for one in reports])
    drawn = np.array([measure(by_sentence(one, rng)).value for one in reports], dtype=float)

    error = (drawn - truth).std() / len(reports) ** 0.5
    assert error < 0.004
    assert drawn.mean() == pytest.approx(truth.mean(), abs=3.5 * error)


@pytest.mark.parametrize("measure", [weighted_recall, lambda sentences: sentence_support(sentences).score])
@pytest.mark.slow
def test_citations_drawn_at_random_give_no_figure_of_sentences_and_a_true_one_of_citations(measure: Any) -> None:
    rng = np.random.default_rng(1971)
    reports = reports_drawn_at_random(rng, 4_000)
    drawn = [by_citation(one, rng) for one in reports]

    assert "judged in part" in too_many_in_part(measure(one) for one in drawn)
    assert too_many_in_part(weighted_precision(one) for one in drawn) == ""
    truth = np.array([weighted_precision(one).value for one in reports])
    found = np.array([weighted_precision(one).value for one in drawn], dtype=float)
    error = (found - truth).std() / len(reports) ** 0.5
    assert found.mean() == pytest.approx(truth.mean(), abs=3.5 * error)


@pytest.mark.parametrize("measure", [weighted_precision, weighted_recall])
def test_a_report_of_which_nothing_is_judged_has_no_score(measure: Any) -> None:
    score = measure([said(UNJUDGED), said()])

    assert (score.value, score.reason, score.ungraded) == (None, NOTHING_JUDGED, 1)


def test_a_report_that_cites_nothing_has_no_precision_and_a_recall_of_0() -> None:
    assert weighted_precision([said(), said()]).value is None
    assert weighted_recall([said(), said()]).value == 0


def test_a_sentence_is_supported_if_each_of_its_citations_supports_it() -> None:
    sentences = [said(FULL, FULL), said(FULL, HALF), said(needs=True), said(needs=False), said(), said(UNJUDGED)]

    assert sentence_support(sentences) == Counts(1, 3, unjudged=1)
    assert citation_support(sentences) == Counts(3, 4, unjudged=1)


def test_grades_become_support() -> None:
    assert [support_of_grade(grade, threshold=2) for grade in (-1, 0, 1, 2)] == [0, 0, 0.5, 1]


def nuggets(rightly: int, of: int, importance: str = "") -> list[AnsweredNugget]:
    return [AnsweredNugget(place < rightly, importance) for place in range(of)]


def test_one_report_of_argue_to_the_digit() -> None:
    found = argue([said(FULL)] * 14 + [said(NONE)], nuggets(9, 15))

    assert found["sentence support"].score.value == pytest.approx(0.9333, abs=5e-5)
    assert found["citation support"].score.value == pytest.approx(0.9333, abs=5e-5)
    assert found["nugget coverage"].score.value == pytest.approx(0.6)
    assert found["f1"].score.value == pytest.approx(0.7304, abs=5e-5)
    assert found["f1"].score.bounds is None


def test_a_run_of_argue_in_micro_to_the_digit() -> None:
    sentences, covered = (Counts(14, 15), Counts(237, 248)), (Counts(9, 15), Counts(184, 251))

    assert micro([(one,) for one in sentences]).value == pytest.approx(0.9544, abs=5e-5)
    assert micro([(one,) for one in covered]).value == pytest.approx(0.7256, abs=5e-5)
    assert micro(list(zip(sentences, covered, strict=True))).value == pytest.approx(0.8244, abs=5e-5)


def test_a_vital_nugget_counts_twice() -> None:
    listed = [*nuggets(1, 2, "vital"), *nuggets(1, 3, "okay"), AnsweredNugget(None, "vital")]

    assert nugget_coverage(listed, weighted=True) == Counts(2 + 1, 4 + 3, unjudged=1)
    assert nugget_coverage(nuggets(2, 3), weighted=True) == nugget_coverage(nuggets(2, 3)) == Counts(2, 3)
    found = argue([said(FULL), said(NONE)], listed[:-1])
    assert found["f1 weighted"].score.value == pytest.approx(f1(1 / 2, 3 / 7))


def test_macro_f1_is_the_mean_of_the_topics_f1_and_not_the_f1_of_the_means() -> None:
    topics = [(Counts(1, 1), Counts(1, 2)), (Counts(1, 2), Counts(1, 1))]

    means = [macro([(one[place],) for one in topics]).value for place in (0, 1)]

    assert means == [0.75, 0.75]
    assert macro(topics).value == pytest.approx(2 / 3)
    assert f1(*means) == pytest.approx(0.75)


def test_what_is_undefined_in_a_topic_is_left_out_of_both_means() -> None:
    topics = [(Counts(1, 1), Counts(0, 0)), (Counts(0, 1), Counts(1, 1))]

    assert macro(topics).value == micro(topics).value == 0.0
    assert macro([(Counts(0, 0),)]).value is None
    assert micro([]).value is None


def test_micro_has_an_interval_over_topics_as_a_ratio_has() -> None:
    shares = [(Counts(yes, of),) for yes, of in ((3, 4), (5, 9), (2, 2), (6, 8), (1, 5), (4, 4))]

    found = micro(shares)

    expected = ratio_interval([one.yes for (one,) in shares], [one.of for (one,) in shares], within=SHARE)
    assert (found.value, found.low, found.high) == pytest.approx((expected.value, expected.low, expected.high))
    assert micro(shares[:4]).reason == "4 topics are too few for an interval, which takes 5"


def test_bounds_are_what_the_figures_would_be_with_all_judged_no_and_all_judged_yes() -> None:
    sentences = [said(FULL), said(HALF, UNJUDGED), said(), said(UNJUDGED)]
    listed = [*nuggets(1, 1, "vital"), AnsweredNugget(None), *nuggets(0, 1)]

    found = argue(sentences, listed)

    # Citations: one of two judged, then 1 or 3 of 4. Sentences: 1 of 2, then 1 or 2 of 3. Nuggets: 1 of 2, 1 or 2 of 3.
    assert (found["citation support"].score.value, found["citation support"].score.bounds) == (1 / 2, (1 / 4, 3 / 4))
    assert (found["sentence support"].score.value, found["sentence support"].score.bounds) == (1 / 2, (1 / 3, 2 / 3))
    assert (found["nugget coverage"].score.value, found["nugget coverage"].score.bounds) == (1 / 2, (1 / 3, 2 / 3))
    assert found["nugget coverage weighted"].score.bounds == (2 / 4, 3 / 4)
    assert found["f1"].score.bounds == pytest.approx((1 / 3, 2 / 3))
    assert found["f1"].score.ungraded == 3
    assert bounded(weighted_precision, sentences).bounds == (1.5 / 4, 3.5 / 4)
    # Full, half or full, nothing cited, and the fourth 0 or 1.
    assert bounded(weighted_recall, sentences).bounds == (1.5 / 4, 3 / 4)


@pytest.mark.parametrize("n_topics", [5, 20])
def test_intervals_over_topics_hold_the_truth(n_topics: int) -> None:
    """In short what `tests/cited_reports_check.py` shows at length: three standard errors of 300 studies are .04."""
    shares = cited_reports_check.coverage("middling", n_topics, 300, truth=cited_reports_check.truth_of("middling"))

    assert min(shares.values()) > 0.91
