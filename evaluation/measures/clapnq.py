"""CLAPNQ: long-form answers against written references, and what people say of them.

Source: Rosenthal et al., CLAPnq: Cohesive Long-form Answers from Passages in Natural Questions (2024), sections 3.1, 4
and 5 and appendix A. ROUGE values are in 0–1 (the paper prints percent).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean
from typing import Literal

from evaluation.measures.rouge import rouge_1_recall, rouge_l, rouge_tokens
from evaluation.measures.scores import Score, Setting

Ties = Literal["none", "half", "both"]


@dataclass(frozen=True)
class AnswerScores:
    """One answer to an answerable question.

    - `rouge_l`: F1 of the longest common subsequence with the reference; `recall`: ROUGE-1 recall; each with the
      reference it matches best.
    - `rouge_l_passage`: ROUGE-L F1 with the passage, how extractive the answer is.
    - `length`: in characters (Unicode code points).
    """

    rouge_l: Score
    recall: Score
    rouge_l_passage: Score
    length: int


def answer_scores(answer: str, references: Sequence[str], passage: str, *, stem: bool = True) -> AnswerScores:
    """Return the scores of one answer. Without a reference the first two are undefined.

    Words are those of any script, not of rouge-score's a–z. The paper does not say how its several references count;
    its row for the whole passage as the answer (49.5) is near what the best reference gives on the development set
    (50.2), not the mean (45.2).
    """
    settings: dict[str, Setting] = {"stem": stem, "references": "best"}
    said = rouge_tokens(answer, stem=stem)
    against = [rouge_tokens(reference, stem=stem) for reference in references]
    if against:
        best_f1 = Score(max(rouge_l(reference, said) for reference in against), settings=settings)
        recall = Score(max(rouge_1_recall(reference, said) for reference in against), settings=settings)
    else:
        best_f1 = recall = Score(None, "There is no reference.", settings=settings)
    to_passage = Score(rouge_l(rouge_tokens(passage, stem=stem), said), settings={"stem": stem})
    return AnswerScores(best_f1, recall, to_passage, len(answer))


def written_agreement(answers: Mapping[str, Sequence[str]], *, stem: bool = True) -> Score:
    """Return how alike several people's answers to the same question are (section 3.1).

    The mean ROUGE-L F1 over the pairs of answers to a question, averaged over the questions with two answers or more.
    Symmetric; 1 for equal answers.
    """
    settings: dict[str, Setting] = {"stem": stem, "pairs": "averaged within the question"}
    by_question = [
        fmean(
            rouge_l(first, second)
            for first, second in combinations([rouge_tokens(text, stem=stem) for text in written], 2)
        )
        for written in answers.values()
        if len(written) >= 2
    ]
    if not by_question:
        return Score(None, "No question has two answers.", settings=settings)
    return Score(fmean(by_question), settings=settings)


def unanswerable_accuracy(answers: Sequence[str], phrases: Sequence[str]) -> Score:
    """Return the share of answers to unanswerable questions that say so.

    An answer says so if it is blank or holds one of the phrases ("I don't know"), case and typographic apostrophes
    aside. Phrases differ per system (section 4), so they are given and recorded.
    """
    settings = {"phrases": " | ".join(phrases)}
    if not answers:
        return Score(None, "There is no unanswerable question.", settings=settings)
    wanted = [_plain(phrase) for phrase in phrases]
    said = [not answer.strip() or any(phrase in _plain(answer) for phrase in wanted) for answer in answers]
    return Score(sum(said) / len(said), settings=settings)


def _plain(text: str) -> str:
    return text.casefold().replace("’", "'")


@dataclass(frozen=True)
class AnswerRating:
    """One person's grades of one answer on the paper's 1–4 scales; None where ungraded."""

    faithful: int | None
    appropriate: int | None


@dataclass(frozen=True)
class RatingMeans:
    """Means over ratings, in grades from 1 to 4. `f_plus_a`: of faithful and appropriate together."""

    faithful: Score
    appropriate: Score
    f_plus_a: Score


def rating_means(ratings: Iterable[AnswerRating]) -> RatingMeans:
    """Return the means of the readable grades; the unreadable are counted in `ungraded`.

    F+A is the harmonic mean of one person's two grades of an answer, then averaged. The harmonic mean of the averages
    cannot give the paper's Table 7 (RAG, reference: 3.0 and 3.5 are printed with 3.0).
    """
    listed = list(ratings)
    both = [(rating.faithful, rating.appropriate) for rating in listed]
    harmonic = [2 * f * a / (f + a) if f is not None and a is not None else None for f, a in both]
    return RatingMeans(_mean([f for f, _ in both]), _mean([a for _, a in both]), _mean(harmonic))


def _mean(grades: Sequence[float | None]) -> Score:
    readable = [grade for grade in grades if grade is not None]
    ungraded = len(grades) - len(readable)
    if not readable:
        return Score(None, "There is no readable grade.", ungraded=ungraded)
    return Score(fmean(readable), ungraded=ungraded)


@dataclass(frozen=True)
class Preference:
    """Which of two systems' answers one person prefers; `winner` is None for a tie."""

    question: str
    rater: str
    systems: tuple[str, str]
    winner: str | None


def win_rates(preferences: Iterable[Preference], *, ties: Ties) -> dict[str, Score]:
    """Return each system's win rate: wins over comparisons it was in, by question, averaged over questions.

    With every pair of m systems compared by r people a question gives (m − 1) × r comparisons, the paper's divisor. A
    tie counts for nobody ("none"), as half a win each ("half"), or as a win for each ("both"); the paper's rates
    follow no one rule.
    """
    worth = {"none": 0.0, "half": 0.5, "both": 1.0}[ties]
    results: dict[str, dict[str, list[float]]] = {}
    for preference in preferences:
        for system in preference.systems:
            won = worth if preference.winner is None else float(preference.winner == system)
            results.setdefault(system, {}).setdefault(preference.question, []).append(won)
    return {
        system: Score(fmean(fmean(won) for won in questions.values()), settings={"ties": ties})
        for system, questions in sorted(results.items())
    }
