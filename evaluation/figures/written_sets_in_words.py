"""What a set of questions with written answers is, in a sentence: the answers of its two figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from stats.answers_in_words import in_brackets
from stats.plurals import counted

if TYPE_CHECKING:
    from stats.measures.written_sets import Kept, SetSize


def kept_of_passages(pairs: Sequence[Kept]) -> str:
    """Say how much of a passage an answer keeps, and how much of the answer stands there."""
    (found,) = (one for one in pairs if one.pair == "answer, passage")
    if found.recall.value is None or found.precision.value is None:
        return ""
    recall, precision = in_brackets("recall", found.recall), in_brackets("precision", found.precision)
    return (
        f"An answer keeps {found.recall.value:.0%} of its passage’s words on average {recall}, and "
        f"{found.precision.value:.0%} of an answer’s words stand in the passage in the same order {precision}."
    )


def size_of_a_set(size: SetSize) -> str:
    """Say how many questions there are, how many of them have no answer, and how long answers are beside passages."""
    first = f"{counted(size.n_questions, 'questions')}: {size.n_answerable:,} answerable, {size.n_unanswerable:,} not"
    answers, passages = size.means["words an answer"].value, size.means["words a passage"].value
    if answers is None or not passages:
        return f"{first}; none of them has a written answer."
    return (
        f"{first}; {counted(size.n_answers, 'answers')} to {size.n_answered:,} of them, of {answers:.0f} words on "
        f"average, {answers / passages:.0%} of the {passages:.0f} words of their passages."
    )
