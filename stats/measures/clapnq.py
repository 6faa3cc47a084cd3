"""CLAPNQ: long-form answers against written references, and what people say of them.

Source: Rosenthal et al., CLAPnq: Cohesive Long-form Answers from Passages in Natural Questions (2024), sections 3.1, 4
and 5 and appendix A. ROUGE values are in 0–1 (the paper prints percent).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from stats.measures.rouge import rouge_1, rouge_l, rouge_tokens
from stats.measures.scores import Score, Setting

Ties = Literal["none", "half", "both"]
# What a tie counts for each of the two.
WORTH: dict[Ties, float] = {"none": 0.0, "half": 0.5, "both": 1.0}


@dataclass(frozen=True)
class AnswerScores:
    """One answer to an answerable question.

    - `rouge_l`: F1 of the longest common subsequence with the reference that gives the highest.
    - `recall`: ROUGE-1 recall at the reference with the highest ROUGE-1 F1, which need not be the same one.
    - `rouge_l_passage`: ROUGE-L F1 with the passage under its title: how extractive the answer is.
    - `length`: in characters (Unicode code points).
    """

    rouge_l: Score
    recall: Score
    rouge_l_passage: Score
    length: int


def answer_scores(answer: str, references: Sequence[str], passage: str) -> AnswerScores:
    """Return the scores of one answer. Without a reference the first two are undefined.

    As rouge-score's `score_multi` without a stemmer, over the references of both rounds; of references that tie the
    first counts. Words are those of any script, not of rouge-score's a–z. `passage` begins with its title. On the
    development set the whole passage as the answer gives the paper's row (49.5, 97.4, 100, 912).
    """
    settings: dict[str, Setting] = {"stem": False, "references": "best F1"}
    said = rouge_tokens(answer, stem=False)
    against = [rouge_tokens(reference, stem=False) for reference in references]
    if against:
        longest = Score(max(rouge_l(reference, said) for reference in against), settings=settings)
        recall = Score(
            max((rouge_1(one, said) for one in against), key=lambda found: found.f1).recall, settings=settings
        )
    else:
        longest = recall = Score(None, "There is no reference.", settings=settings)
    to_passage = Score(rouge_l(rouge_tokens(passage, stem=False), said), settings={"stem": False})
    return AnswerScores(longest, recall, to_passage, len(answer))


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
    """Which of two systems' answers one person prefers; `winner` is None for a tie, and where it is `ungraded`."""

    question: str
    rater: str
    systems: tuple[str, str]
    winner: str | None
    ungraded: bool = False


def win_rates(preferences: Iterable[Preference], *, ties: Ties = "none") -> dict[str, Score]:
    """Return each system's win rate: wins over comparisons it was in, by question, averaged over questions.

    With every pair of m systems compared by r people a question gives (m − 1) × r comparisons, the paper's divisor
    (appendix A). A tie counts for nobody, as there; "half": as half a win for each, "both": as a win for each. The
    paper's rates follow no one rule. Ungraded comparisons stay in the divisor and are counted.
    """
    worth = WORTH[ties]
    results: dict[str, dict[str, list[float]]] = {}
    ungraded: Counter[str] = Counter()
    for one in preferences:
        for system in one.systems:
            tied = one.winner is None and not one.ungraded
            won = worth if tied else float(one.winner == system)
            results.setdefault(system, {}).setdefault(one.question, []).append(won)
            ungraded[system] += one.ungraded
    return {
        system: Score(fmean(fmean(won) for won in questions.values()), "", ungraded[system], {"ties": ties})
        for system, questions in sorted(results.items())
    }
