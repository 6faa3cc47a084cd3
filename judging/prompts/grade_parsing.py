"""How a grade is read from a reply: by the one strict rule that its template promises.

The grade stands in the first line, in the last line, or in the one line that begins with the template's
mark; there it is one of the choices and nothing else (capital letters do not matter). "3.", "Grade: 3" and
"3 or 4" are unreadable, and a reply that was cut off before that line ended is cut off, whatever stands in
it. Or the grade is the likeliest choice by the model's log-probabilities, and none without them. No reply
ever becomes a default grade.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from collection.models import Judgment
from judging.engines import GradeRequest, Reply
from judging.models import PromptTemplate

Rule = PromptTemplate.ReplyRule
# Rules under which the reply begins with its grade, so that the first token's log-probabilities are the grades'.
GRADE_COMES_FIRST = frozenset({Rule.FIRST_LINE.value, Rule.LIKELIEST.value})


@dataclass(frozen=True)
class Reading:
    """What was read from a reply. `probabilities` are of grades and sum to one; None where the engine gave none."""

    grade: float | None
    ungraded: str = ""
    error: str = ""
    probabilities: Mapping[float, float] | None = None

    @property
    def expected_grade(self) -> float | None:
        """The mean grade under the probabilities."""
        if self.probabilities is None:
            return None
        return sum(grade * share for grade, share in self.probabilities.items())

    @property
    def entropy(self) -> float | None:
        """The entropy of the grades' probabilities in bits: 0 where one is certain, log2 of their number at most."""
        if self.probabilities is None:
            return None
        return -sum(share * math.log2(share) for share in self.probabilities.values() if share > 0) + 0.0


def read(request: GradeRequest, reply: Reply) -> Reading:
    """Read the reply to this request, in this one order, by the request's rule."""
    index, kind, error = read_reply(reply, request.choices, rule=request.rule, mark=request.mark)
    return Reading(
        grade=None if index is None else request.values[index],
        ungraded=kind,
        error=error,
        probabilities=grade_probabilities(request, reply),
    )


def read_reply(
    reply: Reply, choices: Sequence[str], *, rule: str = Rule.FIRST_LINE, mark: str = ""
) -> tuple[int | None, str, str]:
    """Return the index of the choice that the reply is, or None with the kind of ungraded and the reason."""
    if reply.ungraded:
        return None, reply.ungraded, reply.error
    if rule == Rule.LIKELIEST:
        return _likeliest(reply, choices)
    lines = reply.text.strip().split("\n")
    cut_off = reply.finish_reason == "length"
    if rule == Rule.FIRST_LINE:
        return _match(lines[0], choices, ended=len(lines) > 1 or not cut_off, where="The first line")
    if rule == Rule.LAST_LINE:
        return _match(lines[-1], choices, ended=not cut_off, where="The last line")
    marked = [number for number, line in enumerate(lines) if _begins(line, mark)]
    if not marked and cut_off:
        return None, Judgment.Ungraded.CUT_OFF, f"The reply ended before a line with “{mark}”."
    if len(marked) != 1:
        return None, Judgment.Ungraded.UNREADABLE, f"{len(marked) or 'No'} lines begin with “{mark}”, not one."
    said = lines[marked[0]].strip()[len(mark) :]
    ended = marked[0] < len(lines) - 1 or not cut_off
    return _match(said, choices, ended=ended, where=f"What follows “{mark}”")


def _begins(line: str, mark: str) -> bool:
    return line.strip().casefold().startswith(mark.casefold())


def _match(line: str, choices: Sequence[str], *, ended: bool, where: str) -> tuple[int | None, str, str]:
    if not ended:
        return None, Judgment.Ungraded.CUT_OFF, f"{where} is incomplete: the reply was cut off."
    said = line.strip().casefold()
    for index, choice in enumerate(choices):
        if said == choice.casefold():
            return index, "", ""
    promised = ", ".join(f"“{choice}”" for choice in choices)
    return None, Judgment.Ungraded.UNREADABLE, f"{where} is not one of {promised}."


def _likeliest(reply: Reply, choices: Sequence[str]) -> tuple[int | None, str, str]:
    """Return the choice with the highest log-probability; none if some choice has none, or if two are as likely."""
    known = reply.log_probabilities or {}
    if any(choice not in known for choice in choices):
        return None, Judgment.Ungraded.UNREADABLE, "The server gave no log-probability for every choice."
    best = max(known[choice] for choice in choices)
    likeliest = [index for index, choice in enumerate(choices) if known[choice] == best]
    if len(likeliest) > 1:
        return None, Judgment.Ungraded.UNREADABLE, "Two replies are equally likely."
    return likeliest[0], "", ""


def grade_probabilities(request: GradeRequest, reply: Reply) -> dict[float, float] | None:
    """Return each grade's probability, scaled so that the choices sum to one; None where some choice has none.

    Replies that stand for the same grade are added up. Where the grade does not come first, the first token says
    nothing about it.
    """
    known = reply.log_probabilities
    if not known or request.rule not in GRADE_COMES_FIRST or any(choice not in known for choice in request.choices):
        return None
    weights = dict.fromkeys(request.values, 0.0)
    most = max(known[choice] for choice in request.choices)
    for choice, value in zip(request.choices, request.values, strict=True):
        weights[value] += math.exp(known[choice] - most)
    total = sum(weights.values())
    return {value: weight / total for value, weight in weights.items()}
