from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean
from typing import Any, get_args

import pytest
from django.conf import settings
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from stats.measures.clapnq import (
    AnswerRating,
    Preference,
    Ties,
    answer_scores,
    rating_means,
    unanswerable_accuracy,
    win_rates,
)
from stats.measures.words import UnicodeRougeTokenizer

CLAPNQ = Path(settings.BASE_DIR).parent / "shared" / "data" / "clapnq"
needs_clapnq = pytest.mark.skipif(not CLAPNQ.is_dir(), reason=f"the CLAPNQ development files are not at {CLAPNQ}")


def rows(name: str) -> list[dict[str, Any]]:
    with (CLAPNQ / name).open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def answers(row: dict[str, Any]) -> list[str]:
    return [output["answer"] for output in row["output"]]


def prefers(question: str, rater: str, first: str, second: str, winner: str | None) -> Preference:
    return Preference(question, rater, (first, second), winner)


def test_scores_of_an_answer_worked_by_hand() -> None:
    found = answer_scores("the cat sat", ["the cat sat on the mat", "a dog"], "today the cat sat")

    # Longest common subsequence 3: recall 3/6, precision 3/3.
    assert found.rouge_l.value == pytest.approx(2 / 3)
    assert found.recall.value == pytest.approx(3 / 6)
    assert found.rouge_l_passage.value == pytest.approx(2 * 0.75 / 1.75)
    assert found.length == 11


def test_an_answer_is_held_against_its_best_reference() -> None:
    found = answer_scores("a dog", ["the cat sat", "a dog"], "")

    assert (found.rouge_l.value, found.recall.value) == (1.0, 1.0)
    assert found.rouge_l.settings == {"stem": False, "references": "best F1"}


def test_recall_is_taken_at_the_reference_with_the_best_f1_of_words() -> None:
    # All of “red” is said, but the answer's words fit the other reference better: F1 1/2 against 2/3.
    found = answer_scores("red green blue", ["red", "red green brown"], "")

    assert found.recall.value == pytest.approx(2 / 3)


words_of_answers = st.lists(st.sampled_from(["red", "green", "Rot", "grün", "blau-rot", "42"]), max_size=12)


@hypothesis_settings(deadline=None)
@given(words_of_answers, st.lists(words_of_answers, min_size=1, max_size=4))
def test_scores_are_those_of_rouge_scores_score_multi(answer: list[str], references: list[list[str]]) -> None:
    library = RougeScorer(["rouge1", "rougeL"], tokenizer=UnicodeRougeTokenizer(stem=False))
    texts = [" ".join(words) for words in references]

    found, expected = answer_scores(" ".join(answer), texts, ""), library.score_multi(texts, " ".join(answer))

    assert found.rouge_l.value == pytest.approx(expected["rougeL"].fmeasure)
    # Where several references have the best F1, the library takes the one that its last bit favours.
    best = [one for text in texts if (one := library.score(text, " ".join(answer))["rouge1"]).fmeasure
            == pytest.approx(expected["rouge1"].fmeasure)]  # fmt: skip
    assert any(found.recall.value == pytest.approx(one.recall) for one in best)


def test_without_reference_only_the_passage_tells() -> None:
    found = answer_scores("a dog", [], "a dog")

    assert (found.rouge_l.value, found.rouge_l.reason) == (None, "There is no reference.")
    assert found.rouge_l_passage.value == 1.0


def test_an_unanswerable_question_is_well_answered_by_saying_so_or_nothing() -> None:
    found = unanswerable_accuracy(
        ["Sorry, I don’t know.", "  ", "It is Paris.", "UNANSWERABLE"], ["I don't know", "unanswerable"]
    )

    assert found.value == 0.75
    assert found.settings == {"phrases": "I don't know | unanswerable"}
    assert unanswerable_accuracy([], ["no"]).value is None


def test_harmonic_mean_is_taken_rating_by_rating_and_then_averaged() -> None:
    found = rating_means([AnswerRating(4, 1), AnswerRating(2, 4), AnswerRating(None, 4)])

    assert found.faithful.value == 3.0
    assert found.appropriate.value == 3.0
    assert found.f_plus_a.value == pytest.approx((8 / 5 + 16 / 6) / 2)
    assert (found.faithful.ungraded, found.appropriate.ungraded, found.f_plus_a.ungraded) == (1, 0, 1)


def test_without_readable_grades_means_are_undefined() -> None:
    found = rating_means([AnswerRating(None, None)])

    assert (found.f_plus_a.value, found.f_plus_a.reason) == (None, "There is no readable grade.")


@hypothesis_settings(deadline=None)
@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=1))
def test_averaged_harmonic_means_stay_below_the_harmonic_mean_of_averages(pairs: list[tuple[int, int]]) -> None:
    # The paper's Table 7 prints 3.0 for averages of 3.0 and 3.5, whose harmonic mean is 3.2.
    found = rating_means(AnswerRating(*pair) for pair in pairs)

    faithful, appropriate = found.faithful.value or 0, found.appropriate.value or 0
    assert (found.f_plus_a.value or 0) <= 2 * faithful * appropriate / (faithful + appropriate) + 1e-12


@pytest.mark.parametrize(("ties", "of_the_tie"), [("none", 0.0), ("half", 0.5), ("both", 1.0)])
def test_win_rates_of_three_systems_and_two_people_by_the_rule_for_ties(ties: Ties, of_the_tie: float) -> None:
    preferences = [
        prefers("q", "ada", "A", "B", "A"),
        prefers("q", "ada", "A", "C", "A"),
        prefers("q", "ada", "B", "C", "C"),
        prefers("q", "ben", "A", "B", "A"),
        prefers("q", "ben", "A", "C", "C"),
        prefers("q", "ben", "B", "C", None),
    ]

    found = win_rates(preferences, ties=ties)

    # A system can win (3 - 1) × 2 times.
    assert {system: score.value for system, score in found.items()} == {
        "A": pytest.approx(3 / 4),
        "B": pytest.approx(of_the_tie / 4),
        "C": pytest.approx((2 + of_the_tie) / 4),
    }
    assert found["A"].settings == {"ties": ties}


def test_a_tie_counts_for_nobody_unless_somebody_says_so() -> None:
    tie = [prefers("q", "ada", "A", "B", None)]

    assert {system: score.value for system, score in win_rates(tie).items()} == {"A": 0.0, "B": 0.0}


def test_an_ungraded_comparison_is_nobodys_win_and_stays_in_the_divisor() -> None:
    unread = Preference("q", "ben", ("A", "B"), None, ungraded=True)

    found = win_rates([prefers("q", "ada", "A", "B", "A"), unread], ties="both")

    assert (found["A"].value, found["A"].ungraded) == (0.5, 1)
    assert found["B"].value == 0.0


def test_win_rates_average_over_questions_and_not_over_comparisons() -> None:
    many = [prefers("q1", rater, "A", "B", "A") for rater in ("ada", "ben", "cleo")]

    found = win_rates([*many, prefers("q2", "ada", "A", "B", "B")], ties="half")

    assert found["A"].value == 0.5


@hypothesis_settings(deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["q1", "q2"]), st.sampled_from(["A", "B", None])), min_size=1),
    st.sampled_from(get_args(Ties)),
)
def test_two_systems_share_the_wins(outcomes: list[tuple[str, str | None]], ties: Ties) -> None:
    found = win_rates([prefers(question, "ada", "A", "B", winner) for question, winner in outcomes], ties=ties)

    total = sum(score.value or 0 for score in found.values())
    assert {"none": total <= 1 + 1e-9, "half": total == pytest.approx(1), "both": total >= 1 - 1e-9}[ties]


@needs_clapnq
def test_the_whole_passage_as_answer_gives_the_papers_row() -> None:
    # Table 5, full passage, development set: 49.5, 97.4, 100.0, 912.
    found = []
    for row in rows("clapnq_dev_answerable.jsonl"):
        passage = "{title} {text}".format(**row["passages"][0])
        found.append(answer_scores(passage, [answer for answer in answers(row) if answer], passage))

    assert round(100 * fmean(score.rouge_l.value or 0 for score in found), 1) == 49.5
    assert round(100 * fmean(score.recall.value or 0 for score in found), 1) == 97.4
    assert {score.rouge_l_passage.value for score in found} == {1.0}
    assert round(fmean(score.length for score in found)) == 912


@needs_clapnq
def test_blank_references_of_unanswerable_questions_count_as_saying_so() -> None:
    blank = [answer for row in rows("clapnq_dev_unanswerable.jsonl") for answer in answers(row)]

    assert unanswerable_accuracy(blank, []).value == 1.0
