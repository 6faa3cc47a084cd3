"""How a grade is read from a reply: one strict rule, the one that every template promises.

The first line of the reply, stripped, is one of the choices; capital letters do not matter. Anything
else is no grade: "3.", "Grade: 3" and "3 or 4" are unreadable, and a reply that was cut off before
its first line ended is cut off, whatever stands in it. No reply ever becomes a default grade.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from collection.models import Judgment
from judging.engines import Reply


def read_reply(reply: Reply, choices: Sequence[str]) -> tuple[int | None, str, str]:
    """Return the index of the choice that the reply is, or None with the kind of ungraded and the reason."""
    if reply.ungraded:
        return None, reply.ungraded, reply.error
    line, newline, _ = reply.text.strip().partition("\n")
    if reply.finish_reason == "length" and not newline:
        return None, Judgment.Ungraded.CUT_OFF, "The reply ended before its first line did."
    said = line.strip().casefold()
    for index, choice in enumerate(choices):
        if said == choice.casefold():
            return index, "", ""
    promised = ", ".join(f"“{choice}”" for choice in choices)
    return None, Judgment.Ungraded.UNREADABLE, f"The first line is none of {promised}."


def expected_grade(log_probabilities: Mapping[str, float], choices: Sequence[str], values: Sequence[float]) -> float:
    """Return the mean grade under the probabilities of the choices, which are scaled to sum to one."""
    weights = [math.exp(log_probabilities[choice]) for choice in choices]
    return sum(weight * value for weight, value in zip(weights, values, strict=True)) / sum(weights)


def choice_log_probabilities(choices: Sequence[str], tokens: Sequence[tuple[str, float]]) -> dict[str, float] | None:
    """Return each choice's log-probability from the likeliest first tokens of a reply.

    A token speaks for a choice if it begins that choice and no other: under a constraint the rest of
    the choice is then certain. None if some choice has no token, so that nothing is made up.
    """
    sums = dict.fromkeys(choices, 0.0)
    for token, log_probability in tokens:
        begun = token.strip().casefold()
        spoken_for = [choice for choice in choices if begun and choice.casefold().startswith(begun)]
        if len(spoken_for) == 1:
            sums[spoken_for[0]] += math.exp(log_probability)
    if any(total <= 0 for total in sums.values()):
        return None
    return {choice: math.log(total) for choice, total in sums.items()}
