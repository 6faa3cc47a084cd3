"""The lexical baseline: it counts words, by the one of three methods that suits the criterion.

It needs no model and understands nothing. A judge worth its money must beat it.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from collection.models import Judgment
from collection.retrieval.bm25_of_one_text import bm25_share
from judging.engines import EngineState, GradeRequest, Reply

OVERLAP = "lexical overlap 1"
BM25 = "BM25 1"
PHRASES = "phrases of not knowing 1"
# How a criterion is measured; what is not named here by OVERLAP.
METHODS = {"relevance": BM25, "unknown": PHRASES}

IN_WORDS = {
    OVERLAP: "what share of the content words looked for are in the text",
    BM25: "how well the text matches the request by BM25, over all passages whose relevance the study asks",
    PHRASES: "what share of the text’s sentences say that there is no answer",
}

# Words that carry no content in a question or a statement.
FUNCTION_WORDS = frozenset(
    """a about after all also an and any are as at be because been before being both but by can could describe did do
    does during each explain for from had has have he her his how i if in into is it its list many may might more most
    much must no not of on or other our over shall she should so some such than that the their them then there these
    they this those to under up upon us was we were what when where which while who whom whose why will with would you
    your""".split()  # noqa: SIM905
)

# Where a recall of content words (0 to 1) becomes the next grade, by criterion. Set once, on the texts of
# the demonstration study and what their author meant, and never fitted to the items of a job: a grade
# depends on its item alone.
CUT_POINTS: dict[str, tuple[float, ...]] = {
    "answerability": (0.45,),
    "report_rating": (0.2, 0.33, 0.45, 0.6, 0.8),
    "rating": (0.15, 0.3, 0.4, 0.5, 0.75),
    "grounded": (0.7,),
    "utility": (0.05, 0.1),
    "support": (0.4, 0.7),
    # No count of words finds a contradiction: the lowest grade is never given.
    "citation_support": (0.0, 0.4, 0.7),
    # On every other topic of TREC DL 2019, for the highest quadratic kappa.
    "relevance": (0.05, 0.45, 0.5),
    # On every other question of CLAPNQ's development part.
    "passage_for_question": (0.5,),
    # On CLAPNQ's answers beside their own passage and beside another question's.
    "passage_for_answer": (0.5,),
    "faithful": (0.3, 0.6, 0.8),
    "unknown": (0.5,),
}

# Criteria of which no count of words says anything, and why.
NO_RULE = {
    "importance": "how much an answer needs a fact does not show in its words",
    "incoherent": "an answer may be to the point without a word of the question",
    "natural": "a count of words does not tell fluent text from other text",
    "appropriate": "which answer is right does not show in its words",
    "citation_need": "whether a claim needs a source does not show in its words",
    "answers": "whether an answer is right does not show in its words",
    "better": "which of two reports is better does not show in their words",
    "why_missed": "how an answer misses a point does not show in a count of its words",
    "preference": "which of two answers serves better does not show in their words",
    "fit": "what kind of answer a question asks for does not show in a count of its words",
}

# Ways to say that there is no answer.
NOT_KNOWING = re.compile(
    r"""\b(?:
        (?:do|does|did|can|could|would) \s? (?:not|n['’]t) \s (?:\w+ \s)? (?:know|answer|find|tell|determine|say)
      | (?:can|could)not \s (?:\w+ \s)? (?:answer|find|tell|determine|say|be \s (?:answered|determined|found))
      | (?:can|could) \s? (?:not|n['’]t) \s be \s (?:answered|determined|found)
      | (?:not|insufficient|no) \s (?:enough \s|sufficient \s|relevant \s)? information
      | no \s (?:answer|mention) | unanswerable | unable \s to \s (?:answer|find|tell|determine|say)
      | (?:am|are|is) \s (?:not \s sure|unsure|unknown|not \s known)
      | (?:not|n['’]t) \s (?:mentioned|stated|specified|provided|given)
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)
SENTENCE_ENDS = re.compile(r"(?<=[.!?])\s+")


class NoCutPoints(ValueError):
    """The baseline was not set for this criterion, or not for a scale of so many grades."""


def cut_points(table: dict[str, tuple[float, ...]], criterion_name: str, grades: int) -> list[float]:
    """Return the fixed cut-points of a criterion on a scale of so many grades. Raises NoCutPoints."""
    cuts = table.get(criterion_name)
    if cuts is None:
        if table is CUT_POINTS and (reason := NO_RULE.get(criterion_name)):
            raise NoCutPoints(f"No lexical baseline grades “{criterion_name}”: {reason}.")
        raise NoCutPoints(f"This baseline supports {', '.join(table)}; it has no setting for “{criterion_name}”.")
    if len(cuts) + 1 != grades:
        raise NoCutPoints(f"For “{criterion_name}” this baseline gives {len(cuts) + 1} grades; the scale has {grades}.")
    return list(cuts)


def check_cut_points(cuts: Sequence[float]) -> None:
    """Raise NoCutPoints unless they rise."""
    if any(low >= high for low, high in pairwise(cuts)):
        raise NoCutPoints("Cut-points must rise from the lowest grade to the highest.")


def cut(score: float, cuts: Sequence[float], choices: Sequence[str]) -> str:
    """Return the choice whose interval holds the score; a score on a cut-point belongs to the higher grade."""
    return choices[sum(score >= point for point in cuts)]


def words_in(text: str) -> list[str]:
    """Return the text's words in lower case, in their order, without function words."""
    return [word for word in re.findall(r"\w+", text.lower()) if word not in FUNCTION_WORDS]


def content_words(text: str) -> frozenset[str]:
    """Return the text's distinct words in lower case, without function words."""
    return frozenset(words_in(text))


content_words_of_text = lru_cache(maxsize=256)(content_words)


def recall(query: str, text: str) -> float:
    """Return the share of the query's content words that stand in the text, in [0, 1]; 0 if it has none."""
    wanted = content_words(query)
    if not wanted:
        return 0.0
    return len(wanted & content_words_of_text(text)) / len(wanted)


def not_knowing(text: str) -> tuple[int, int]:
    """Return how many of the text's sentences say that there is no answer, and how many sentences there are."""
    sentences = [sentence for sentence in SENTENCE_ENDS.split(text.strip()) if sentence]
    return sum(bool(NOT_KNOWING.search(sentence)) for sentence in sentences), len(sentences)


class LexicalEngine:
    """Counts words. Cannot fail, be cut off or refuse. Its replies hold the grade and, below it, why it is that one."""

    def __init__(self, *, cuts: Sequence[float], method: str = OVERLAP) -> None:
        check_cut_points(cuts)
        self.cuts = tuple(cuts)
        self.method = method

    def state(self) -> EngineState:
        return EngineState(available=True, identity=self.method)

    def grade(
        self, requests: Iterable[GradeRequest], *, stopping: Callable[[], bool]
    ) -> Iterator[tuple[GradeRequest, Reply]]:
        for request in requests:
            if stopping():
                return
            if request.impossible:
                yield request, Reply(ungraded=Judgment.Ungraded.ENGINE_ERROR, error=request.impossible)
                continue
            began = time.perf_counter()
            score, measured = self._score(request)
            yield (
                request,
                Reply(
                    text=f"{cut(score, self.cuts, request.choices)}\n{measured}; {self._interval(score)}.",
                    finish_reason="stop",
                    score=score,
                    seconds=time.perf_counter() - began,
                    identity=self.method,
                ),
            )

    def _score(self, request: GradeRequest) -> tuple[float, str]:
        """Return the score, in [0, 1], and in words what it is of."""
        if self.method == BM25:
            assert request.pool is not None  # requests_for gives it
            score = bm25_share(words_in(request.query), words_in(request.text), request.pool)
            return score, f"BM25 {score:.3f} of what is possible, over a pool of {request.pool.texts:,} texts"
        if self.method == PHRASES:
            said, sentences = not_knowing(request.text)
            score = said / sentences if sentences else 0.0
            return score, f"{said} of {sentences} sentences say that there is no answer, {score:.3f}"
        score, wanted = recall(request.query, request.text), len(content_words(request.query))
        return score, f"{round(score * wanted)} of {wanted} content words stand in the text, {score:.3f}"

    def _interval(self, score: float) -> str:
        """Say between which cut-points the score lies."""
        place = sum(score >= point for point in self.cuts)
        low = f"from {self.cuts[place - 1]:g}" if place else ""
        high = f"below {self.cuts[place]:g}" if place < len(self.cuts) else ""
        return f"scores {' and '.join(filter(None, (low, high)))} get this grade"
