"""A set of questions with written answers: how large it is, and how much of the passages the answers keep.

Source: Rosenthal et al., CLAPnq (2024), Tables 2 and 3 and section 3.2.1: ROUGE-L's precision, recall and F1 of the
chosen sentences in the passage, of the answer in the chosen sentences, and of the answer in the passage. Shares are in
0–1 (the paper prints percent). A question counts once: the mean of its answers, then the mean over questions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from stats.intervals import SHARE, UNBOUNDED, Estimate, mean_interval
from stats.measures.rouge import RougeL, rouge_l_of, rouge_tokens
from stats.measures.words import WORDS

Pair = Literal["chosen, passage", "answer, chosen", "answer, passage"]
PAIRS: dict[Pair, str] = {
    "chosen, passage": "the chosen sentences in the passage",
    "answer, chosen": "the answer in the chosen sentences",
    "answer, passage": "the answer in the passage",
}
SHARES = ("precision", "recall", "f1")
UNIT = "questions"


@dataclass(frozen=True)
class SetAnswer:
    """An answer with the sentences it is made of, in the passage's order; the passage's title may be one.

    `n_sentences`: of the answer; `consecutive`: whether no sentence stands between two chosen ones.
    """

    text: str
    chosen: tuple[str, ...]
    round: int
    n_sentences: int
    consecutive: bool


@dataclass(frozen=True)
class SetQuestion:
    """A question, the passage to answer it from, which begins with its title, and the answers to it."""

    question_id: str
    question: str
    passage: str
    answerable: bool
    answers: tuple[SetAnswer, ...]


@dataclass(frozen=True)
class Kept:
    """How much one text keeps of another, each a mean over questions. `n_left_out` answers have no such pair."""

    pair: Pair
    precision: Estimate
    recall: Estimate
    f1: Estimate
    n_questions: int
    n_answers: int
    n_left_out: int

    def shares(self) -> dict[str, Estimate]:
        return {"precision": self.precision, "recall": self.recall, "f1": self.f1}


def kept_of(question: SetQuestion, answer: SetAnswer, pair: Pair) -> RougeL | None:
    """Return ROUGE-L of a pair of texts, without a stemmer; None where one of the two has no word."""
    chosen = " ".join(answer.chosen)
    text, source = {
        "chosen, passage": (chosen, question.passage),
        "answer, chosen": (answer.text, chosen),
        "answer, passage": (answer.text, question.passage),
    }[pair]
    return rouge_l_of(rouge_tokens(text, stem=False), rouge_tokens(source, stem=False))


def how_much_is_kept(questions: Iterable[SetQuestion]) -> list[Kept]:
    """Return the three pairs' shares over the questions that have answers."""
    listed = [one for one in questions if one.answers]
    return [_kept(pair, listed) for pair in PAIRS]


def _kept(pair: Pair, questions: Sequence[SetQuestion]) -> Kept:
    found = [[kept_of(question, answer, pair) for answer in question.answers] for question in questions]
    known = [[one for one in of_question if one] for of_question in found]
    n_answers = sum(map(len, known))
    means = [
        tuple(fmean(getattr(one, share) for one in of_question) for share in SHARES)
        for of_question in known
        if of_question
    ]
    precision, recall, f1 = (
        mean_interval([mean[place] for mean in means], within=SHARE, unit=UNIT) for place in range(3)
    )
    return Kept(pair, precision, recall, f1, len(means), n_answers, sum(map(len, found)) - n_answers)


@dataclass(frozen=True)
class SetSize:
    """A set's numbers: how many, and how long. Lengths are means over questions; of answers, of those with one.

    Words are runs of letters and digits; `means` has each length by its name in `LENGTHS`.
    """

    n_questions: int
    n_answerable: int
    n_unanswerable: int
    n_answered: int
    n_answers: int
    n_revised: int
    means: Mapping[str, Estimate]
    not_consecutive: Estimate


def _of_answers(measure: Callable[[SetAnswer], float]) -> Callable[[SetQuestion], float | None]:
    return lambda question: fmean(map(measure, question.answers)) if question.answers else None


# What is measured of a question: None where it has no such thing.
LENGTHS: dict[str, Callable[[SetQuestion], float | None]] = {
    "answers a question": lambda question: float(len(question.answers)) if question.answers else None,
    "words a question": lambda question: float(WORDS.count([question.question])),
    "words a passage": lambda question: float(WORDS.count([question.passage])) if question.answers else None,
    "words an answer": _of_answers(lambda answer: WORDS.count([answer.text])),
    "characters an answer": _of_answers(lambda answer: len(answer.text)),
    "sentences an answer": _of_answers(lambda answer: answer.n_sentences),
    "sentences chosen": _of_answers(lambda answer: len(answer.chosen)),
}


def set_size(questions: Iterable[SetQuestion]) -> SetSize:
    """Return the numbers of the set."""
    listed = list(questions)
    answers = [answer for question in listed for answer in question.answers]
    means = {}
    for name, measure in LENGTHS.items():
        values = [value for value in map(measure, listed) if value is not None]
        means[name] = mean_interval(values, within=UNBOUNDED, unit=UNIT)
    apart = [fmean(not answer.consecutive for answer in question.answers) for question in listed if question.answers]
    return SetSize(
        n_questions=len(listed),
        n_answerable=sum(one.answerable for one in listed),
        n_unanswerable=sum(not one.answerable for one in listed),
        n_answered=sum(bool(one.answers) for one in listed),
        n_answers=len(answers),
        n_revised=sum(answer.round > 1 for answer in answers),
        means=means,
        not_consecutive=mean_interval(apart, within=SHARE, unit=UNIT),
    )
