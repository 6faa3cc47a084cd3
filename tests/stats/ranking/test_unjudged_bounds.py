from __future__ import annotations

import random
from itertools import product

import pytest

from stats.measures.trec import UnknownMeasure, run_of, system_scores
from stats.ranking.qrels_scoring import parse_qrels_measure
from stats.ranking.unjudged_bounds import bound_scores

MEASURES = ["P(rel=2)@3", "R(rel=2)@3", "RR(rel=2)", "Success(rel=2)@2", "AP(rel=2)", "AP(rel=2)@3", "nDCG@3", "nDCG"]
DOCNOS = ["a", "b", "c", "d", "e", "f"]
HIGHEST = 2


def every_score(measure: str, known: dict[str, int], ranking: list[str], unlabelled: list[str]) -> tuple[float, float]:
    """Return the least and the most that ir-measures gives under all grades of what has no label."""
    grades = [
        dict(zip(unlabelled, given, strict=True)) for given in product(range(HIGHEST + 1), repeat=len(unlabelled))
    ]
    qrels = {f"{number:06}": known | given for number, given in enumerate(grades)}
    table = system_scores(measure, qrels, {"run": dict.fromkeys(qrels, run_of(ranking))})
    scores = table.to_numpy().ravel().tolist()
    return min(scores), max(scores)


@pytest.mark.parametrize("measure", MEASURES)
def test_no_grades_of_the_unlabelled_give_a_score_beyond_the_bounds(measure: str) -> None:
    chance = random.Random(7)
    for _ in range(40):
        known = {docno: chance.randint(0, 2) for docno in DOCNOS if chance.random() < 0.5}
        ranking = chance.sample(DOCNOS, chance.randint(1, 6))
        unlabelled = [docno for docno in DOCNOS if docno not in known and chance.random() < 0.8]
        least, most = every_score(measure, known or {"z": 0}, ranking, unlabelled)
        asked = parse_qrels_measure(measure, threshold=1)

        found = bound_scores(
            asked, {"t": known or {"z": 0}}, {"run": {"t": ranking}}, {"t": set(unlabelled)}, highest=HIGHEST
        )

        low, high = found.low.to_numpy().item(), found.high.to_numpy().item()
        assert low == pytest.approx(least, abs=1e-9)
        if measure.startswith("nDCG"):
            assert most - 1e-9 <= high <= 1
        else:
            assert high == pytest.approx(most, abs=1e-9)


def test_with_everything_labelled_both_bounds_are_the_score() -> None:
    known = {"a": 0, "b": 2, "c": 1}
    for name in MEASURES:
        score = system_scores(name, {"t": known}, {"run": {"t": run_of(["a", "b", "c"])}}).to_numpy().item()

        found = bound_scores(
            parse_qrels_measure(name, threshold=1), {"t": known}, {"run": {"t": ["a", "b", "c"]}}, {}, highest=2
        )

        assert (found.low.loc["run", "t"], found.high.loc["run", "t"]) == pytest.approx((score, score))


def test_bounds_of_precision_count_what_is_known_and_what_could_be() -> None:
    """Of five, one is relevant, two have no label: 1/5 to 3/5."""
    found = bound_scores(
        parse_qrels_measure("P@5", threshold=1),
        {"t": {"a": 1, "b": 0, "c": 0}},
        {"run": {"t": ["a", "x", "b", "y", "c"]}},
        {"t": {"x", "y"}},
        highest=1,
    )

    assert (found.low.loc["run", "t"], found.high.loc["run", "t"]) == pytest.approx((0.2, 0.6))


@pytest.mark.parametrize("name", ["ERR@20", "nDCG(dcg='exp-log2')@10", "P(judged_only=True)@5", "P(rel=0)@5", "Bpref"])
def test_a_measure_without_known_bounds_is_refused(name: str) -> None:
    with pytest.raises(UnknownMeasure, match="not known"):
        bound_scores(parse_qrels_measure(name, threshold=1), {}, {}, {}, highest=1)
