from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from stats.measures.rouge import rouge_l, rouge_l_of
from stats.measures.written_sets import SetAnswer, SetQuestion, how_much_is_kept, set_size

PASSAGE = "Lamps. The lamp is lit at dusk. It is old. A keeper lights it."
FIRST = SetAnswer("At dusk.", ("The lamp is lit at dusk.",), 1, 1, consecutive=True)
SECOND = SetAnswer(
    "A keeper lights it at dusk.", ("The lamp is lit at dusk.", "A keeper lights it."), 2, 1, consecutive=False
)


def a_question(*answers: SetAnswer, question_id: str = "1", answerable: bool = True) -> SetQuestion:
    return SetQuestion(question_id, "when is the lamp lit", PASSAGE, answerable, answers)


def test_what_is_kept_is_worked_by_hand() -> None:
    found = {one.pair: one for one in how_much_is_kept([a_question(FIRST, SECOND)])}

    # The passage has 14 words; of 6 chosen ones all stand there, of 10 too.
    of_chosen = found["chosen, passage"]
    assert of_chosen.precision.value == 1.0
    assert of_chosen.recall.value == pytest.approx((6 / 14 + 10 / 14) / 2)
    # “at dusk” of the 6 chosen words; “a keeper lights it”, the longest in order, of the second's 6 and of 10.
    of_answer = found["answer, chosen"]
    assert of_answer.precision.value == pytest.approx((2 / 2 + 4 / 6) / 2)
    assert of_answer.recall.value == pytest.approx((2 / 6 + 4 / 10) / 2)
    assert (of_answer.n_questions, of_answer.n_answers, of_answer.n_left_out) == (1, 2, 0)


def test_a_question_counts_once_however_many_answers_it_has() -> None:
    (_, _, once) = how_much_is_kept([a_question(FIRST), a_question(SECOND, question_id="2")])
    (_, _, twice) = how_much_is_kept([a_question(FIRST, FIRST), a_question(SECOND, question_id="2")])

    assert once.recall.value == twice.recall.value
    assert (once.n_answers, twice.n_answers) == (2, 3)


def test_an_answer_without_chosen_sentences_has_no_pair_with_them_and_is_counted() -> None:
    alone = SetAnswer("At dusk.", (), 1, 1, consecutive=True)

    of_chosen, of_answer, to_passage = how_much_is_kept([a_question(alone)])

    assert of_chosen.f1.value is None
    assert (of_answer.n_answers, of_answer.n_left_out) == (0, 1)
    assert to_passage.precision.value == 1.0


def test_few_questions_have_no_interval_and_say_why() -> None:
    (_, _, found) = how_much_is_kept([a_question(FIRST), a_question(SECOND, question_id="2")])

    assert found.f1.low is None
    assert "2 questions are too few" in found.f1.reason


def test_the_size_counts_the_unanswerable_and_means_are_of_questions_with_answers() -> None:
    found = set_size([a_question(FIRST, SECOND), a_question(question_id="2", answerable=False)])

    assert (found.n_questions, found.n_answerable, found.n_unanswerable) == (2, 1, 1)
    assert (found.n_answered, found.n_answers, found.n_revised) == (1, 2, 1)
    assert found.means["answers a question"].value == 2
    assert found.means["words a question"].value == 5
    assert found.means["words an answer"].value == (2 + 6) / 2
    assert found.means["words a passage"].value == 14
    assert found.not_consecutive.value == 0.5


@given(
    st.lists(st.sampled_from("abcd"), min_size=1, max_size=9), st.lists(st.sampled_from("abcd"), min_size=1, max_size=9)
)
def test_precision_and_recall_are_rouge_score_s(text: list[str], source: list[str]) -> None:
    theirs = RougeScorer(["rougeL"]).score(" ".join(source), " ".join(text))["rougeL"]

    found = rouge_l_of(text, source)

    assert found is not None
    assert (found.precision, found.recall, found.f1) == pytest.approx(
        (theirs.precision, theirs.recall, theirs.fmeasure)
    )
    assert rouge_l(text, source) == pytest.approx(theirs.fmeasure)
