from __future__ import annotations

import math
import random

import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stats.measures.crux import UNCOUNTED, alpha_ndcg, answerable, coverage, density, ideal_ranking, oracle_answers
from stats.measures.grades import GradeTable
from stats.measures.scores import Score
from stats.ratings import FloatArray

NAN = np.nan
# Figure 3 of the paper: a context whose best grades are 3, 4, 0, 4, 3.
FIGURE = np.array([[3.0, 1, 0, 2, 3], [0, 4, 0, 4, 0]])
EVERYTHING = np.ones(5, dtype=bool)

grade_tables = st.integers(1, 5).flatmap(
    lambda questions: st.lists(
        st.lists(st.sampled_from([NAN, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0]), min_size=questions, max_size=questions),
        min_size=1,
        max_size=6,
    ).map(lambda rows: np.array(rows))
)
answer_maps = st.integers(1, 5).flatmap(
    lambda questions: st.dictionaries(
        st.sampled_from([f"d{number}" for number in range(9)]),
        st.lists(st.booleans(), min_size=questions, max_size=questions),
        min_size=1,
    )
)


def table(rows: dict[str, list[float]]) -> GradeTable:
    grades = np.array(list(rows.values()))
    return GradeTable(tuple(rows), tuple(f"q{number}" for number in range(grades.shape[1])), grades)


def random_case(rng: random.Random) -> tuple[dict[str, list[bool]], list[str]]:
    """Judged passages with what they answer, and a ranking of some of them among unjudged ones."""
    passages = list(dict.fromkeys(f"d{rng.randint(0, 999)}" for _ in range(rng.randint(1, 40))))
    density_of_answers = rng.choice([0.1, 0.3, 0.6])
    questions = rng.randint(2, 15)
    answers = {passage: [rng.random() < density_of_answers for _ in range(questions)] for passage in passages}
    answers[passages[0]][0] = True
    pool = passages + [f"unjudged{number}" for number in range(10)]
    rng.shuffle(pool)
    return answers, pool[: rng.randint(1, len(pool))]


def by_ir_measures(answers: dict[str, list[bool]], ranking: list[str], *, alpha: float, cutoff: int) -> float:
    qrels = [
        ir_measures.Qrel("t", passage, int(answered), str(question))
        for passage, flags in answers.items()
        for question, answered in enumerate(flags)
    ]
    run = [ir_measures.ScoredDoc("t", passage, float(-rank)) for rank, passage in enumerate(ranking)]
    measure = ir_measures.alpha_nDCG(alpha=alpha) @ cutoff
    return float(ir_measures.calc_aggregate([measure], qrels, run)[measure])


def test_a_grade_at_the_threshold_answers_and_a_missing_one_never_does() -> None:
    grades = np.array([[2.0, 3.0, NAN, 5.0]])

    assert answerable(grades).tolist() == [[False, True, False, True]]
    assert answerable(grades, threshold=5).tolist() == [[False, False, False, True]]


def test_coverage_takes_the_best_grade_over_the_passages() -> None:
    covered = coverage(FIGURE, EVERYTHING)

    assert covered == Score(4 / 5, settings={"threshold": 3.0})


def test_coverage_divides_by_what_the_oracle_can_answer() -> None:
    oracle = oracle_answers(np.array([[3.0, 3, 0, 0, 0], [0, 0, 0, 5, 0]]))

    covered = coverage(FIGURE, oracle)

    assert oracle.tolist() == [True, True, False, True, False]
    assert covered.value == 1.0


def test_coverage_of_no_passage_is_zero_and_without_oracle_undefined() -> None:
    nothing_asked = coverage(FIGURE, np.zeros(5, dtype=bool))

    assert coverage(np.empty((0, 5)), EVERYTHING).value == 0.0
    assert nothing_asked.value is None
    assert "oracle" in nothing_asked.reason


def test_a_question_counts_as_ungraded_only_where_the_missing_grade_might_answer_it() -> None:
    covered = coverage(np.array([[NAN, NAN, 0.0], [4.0, 1.0, 0.0]]), np.ones(3, dtype=bool))

    assert (covered.value, covered.ungraded) == (1 / 3, 1)


@settings(deadline=None)
@given(grade_tables)
def test_coverage_never_falls_with_another_passage_and_the_oracle_covers_all(grades: FloatArray) -> None:
    oracle = oracle_answers(grades)

    shares = [coverage(grades[:n], oracle).value for n in range(len(grades) + 1)]

    if oracle.any():
        known = [share for share in shares if share is not None]
        assert known == sorted(known)
        assert (known[0], known[-1]) == (0.0, 1.0)
    else:
        assert set(shares) == {None}


def test_density_is_one_for_the_oracle_and_the_root_of_the_saving_in_tokens() -> None:
    full, half = Score(1.0), Score(0.5)

    same = density(full, [3, 1], full, [4])
    shorter = density(half, [2], full, [5, 11])

    assert same.value == 1.0
    assert shorter.value == pytest.approx(((0.5 / 2) / (1 / 16)) ** 0.5)


def test_density_records_its_tokenizer_and_weight() -> None:
    dense = density(Score(1.0, settings={"threshold": 3.0}), [1], Score(1.0), [2], tokenizer="whitespace", weight=1)

    assert dense.value == 2.0
    assert dense.settings == {"threshold": 3.0, "tokenizer": "whitespace", "weight": 1}
    assert density(Score(1.0), [1], Score(1.0), [1]).settings["tokenizer"] == "words"


@pytest.mark.parametrize(
    ("covered", "tokens", "oracle_covered", "oracle_tokens", "reason"),
    [
        (Score(0.0), [0], Score(1.0), [1], "The context has no tokens."),
        (Score(0.5), [1], Score(1.0), [], "The oracle’s context has no tokens."),
        (Score(0.5), [1], Score(0.0), [1], "The oracle does not answer any sub-question."),
        (Score(None, "No Q."), [1], Score(None, "No Q."), [1], "No Q."),
        (Score(0.5), [1, None], Score(1.0), [1], UNCOUNTED),
        (Score(0.5), [1], Score(1.0), [1, None], UNCOUNTED),
    ],
)
def test_density_is_undefined_where_it_would_divide_by_nothing_or_a_text_is_missing(
    covered: Score,
    tokens: list[int | None],
    oracle_covered: Score,
    oracle_tokens: list[int | None],
    reason: str,
) -> None:
    found = density(covered, tokens, oracle_covered, oracle_tokens)

    assert (found.value, found.reason) == (None, reason)


def test_a_context_that_covers_nothing_has_density_zero() -> None:
    assert density(Score(0.0), [2], Score(1.0), [1]).value == 0.0


def test_alpha_ndcg_of_a_case_worked_by_hand() -> None:
    answers = {"a": [True, True, False], "b": [True, False, False], "c": [False, False, True]}

    found = alpha_ndcg(["b", "a", "c"], answers, cutoff=3)

    # Ideal: a (2), c (1), b (½); the ranking gains 1, then ½ + 1, then 1.
    third = 1 / math.log2(3)
    assert ideal_ranking(answers, cutoff=3) == ["a", "c", "b"]
    assert found.value == pytest.approx((1 + 1.5 * third + 0.5) / (2 + third + 0.25))
    assert found.settings == {"alpha": 0.5, "cutoff": 3, "ideal": "greedy, ties by docno descending"}


def test_alpha_ndcg_equals_ir_measures_on_four_hundred_random_cases() -> None:
    rng = random.Random(20)

    for _ in range(400):
        answers, ranking = random_case(rng)
        alpha, cutoff = rng.choice([0.0, 0.3, 0.5, 0.7, 0.9, rng.random()]), rng.randint(1, 20)
        ours = alpha_ndcg(ranking, answers, cutoff=cutoff, alpha=alpha).value
        assert ours == pytest.approx(by_ir_measures(answers, ranking, alpha=alpha, cutoff=cutoff), abs=1e-12)


def test_alpha_ndcg_goes_on_beyond_rank_twenty() -> None:
    answers = {f"d{number:02}": [number == question for question in range(30)] for number in range(30)}
    ranking = [f"x{number}" for number in range(25)] + sorted(answers)

    found = [alpha_ndcg(ranking, answers, cutoff=cutoff).value for cutoff in (20, 25, 26, 55)]

    gains = [1 / math.log2(rank + 1) for rank in range(1, 56)]
    assert found[:2] == [0.0, 0.0]
    assert found[2] == pytest.approx(gains[25] / sum(gains[:26]))
    assert found[3] == pytest.approx(sum(gains[25:55]) / sum(gains[:30]))


def test_a_greedy_ideal_can_be_beaten() -> None:
    answers = {
        "d0": [True, True, False, True, False, True],
        "d1": [True, True, True, True, True, False],
        "d2": [False, False, True, True, True, True],
        "d3": [True, False, True, True, False, True],
    }

    best = alpha_ndcg(["d1", "d0", "d2", "d3"], answers, cutoff=3).value

    assert best == pytest.approx(1.01706, abs=1e-5)
    assert best == pytest.approx(by_ir_measures(answers, ["d1", "d0", "d2", "d3"], alpha=0.5, cutoff=3), abs=1e-12)


def test_ties_of_the_ideal_go_to_the_higher_docno() -> None:
    assert ideal_ranking({"a": [True, False], "c": [True, False], "b": [False, True]}, cutoff=9) == ["c", "b", "a"]


def test_alpha_ndcg_is_undefined_where_nothing_is_answered_and_counts_unjudged_passages() -> None:
    undefined = alpha_ndcg(["a"], {"a": [False]}, cutoff=5)
    half_judged = alpha_ndcg(["a", "unknown", "beyond"], {"a": [True]}, cutoff=2)

    assert (undefined.value, undefined.reason) == (None, "No passage answers a sub-question.")
    assert (half_judged.value, half_judged.ungraded) == (1.0, 1)


@settings(deadline=None)
@given(answer_maps, st.integers(1, 9))
def test_the_ideal_scores_one(answers: dict[str, list[bool]], cutoff: int) -> None:
    found = alpha_ndcg(ideal_ranking(answers, cutoff=cutoff), answers, cutoff=cutoff)

    assert found.value == (pytest.approx(1.0) if any(map(any, answers.values())) else None)


def test_a_grade_table_keeps_the_order_asked_for_and_knows_what_was_never_judged() -> None:
    graded = GradeTable.from_rows([("p1", "q1", 4), ("p2", "q1", None), ("p2", "q0", 2)], elements=["q0", "q1"])

    np.testing.assert_array_equal(graded.of(["p2", "new", "p1"]), [[2, NAN], [NAN, NAN], [NAN, 4]])


def test_a_grade_table_refuses_grades_of_another_shape() -> None:
    with pytest.raises(ValueError, match="1 passages and 2 elements"):
        GradeTable(("p",), ("q0", "q1"), np.zeros((2, 2)))
