"""The lexical-overlap baseline: how many content words of the question stand in the text.

It needs no model and understands nothing. A judge worth its money must beat it.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from judging.engines import EngineState, GradeRequest, Reply

IDENTITY = "lexical overlap 1"

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
}


class NoCutPoints(ValueError):
    """The baseline was not set for this criterion, or not for a scale of so many grades."""


def cut_points(table: dict[str, tuple[float, ...]], criterion_name: str, grades: int) -> list[float]:
    """Return the fixed cut-points of a criterion on a scale of so many grades. Raises NoCutPoints."""
    cuts = table.get(criterion_name)
    if cuts is None:
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


def content_words(text: str) -> frozenset[str]:
    """Return the text's distinct words in lower case, without function words."""
    return frozenset(re.findall(r"\w+", text.lower())) - FUNCTION_WORDS


content_words_of_text = lru_cache(maxsize=256)(content_words)


def recall(query: str, text: str) -> float:
    """Return the share of the query's content words that stand in the text, in [0, 1]; 0 if it has none."""
    wanted = content_words(query)
    if not wanted:
        return 0.0
    return len(wanted & content_words_of_text(text)) / len(wanted)


class LexicalEngine:
    """Counts words. Cannot fail, be cut off or refuse."""

    def __init__(self, *, cuts: Sequence[float]) -> None:
        check_cut_points(cuts)
        self.cuts = tuple(cuts)

    def state(self) -> EngineState:
        return EngineState(available=True, identity=IDENTITY)

    def grade(
        self, requests: Iterable[GradeRequest], *, stopping: Callable[[], bool]
    ) -> Iterator[tuple[GradeRequest, Reply]]:
        for request in requests:
            if stopping():
                return
            began = time.perf_counter()
            score = recall(request.query, request.text)
            yield (
                request,
                Reply(
                    text=cut(score, self.cuts, request.choices),
                    finish_reason="stop",
                    score=score,
                    seconds=time.perf_counter() - began,
                    identity=IDENTITY,
                ),
            )
