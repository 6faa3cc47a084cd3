"""From the log-probabilities of tokens to those of the choices.

A server tells, for each token of its reply, which others could have stood there. A choice may be several
tokens (“Y” + “ES”), spelled in several ways, and may be the beginning of another (“1” and “10”). What all choices
begin with says nothing of them: the quotes of a JSON string, or what stands before the grade in {"grade": 2}.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# Where more than this share cannot be given to one choice, nothing is said: half a truth is a wrong expectation.
MOST_UNCLEAR = 0.01


@dataclass(frozen=True)
class Position:
    """One token of a reply, and the likeliest ones that could have stood in its place, itself among them."""

    token: str
    likeliest: tuple[tuple[str, float], ...]


def choice_log_probabilities(
    choices: Sequence[str], positions: Sequence[Position], *, quoted: bool = False
) -> dict[str, float] | None:
    """Return each choice's log-probability (nats) as the server gave it, not scaled. None if one has no token.

    `quoted` says that the server was bound to JSON strings: its reply is "2" in three tokens, the quotes among them.
    A server that leaves the quotes out all the same is read as it replied.
    The reply is followed token by token. A token after which only one choice is left speaks for that
    choice: under a constraint the rest of it is certain. Where several are left, the following token
    decides; one that lies beside the reply's own way is unclear, for nobody was asked what comes after it.
    """
    before = _before_the_quote(positions) if quoted else None
    keys = {choice: choice.strip().casefold() for choice in choices}
    if before is not None:
        keys = {choice: (before + json.dumps(key, ensure_ascii=False)).casefold() for choice, key in keys.items()}
    sums = dict.fromkeys(choices, 0.0)
    unclear, mass, spelled = 0.0, 1.0, ""
    for position in positions:
        onward, grown, open_still = 0.0, "", 0.0
        for token, log_probability in position.likeliest:
            probability = math.exp(min(log_probability, 0.0))
            spelling = (spelled + token).lstrip().casefold()
            grown_on = spelling != spelled  # the end of a reply may stand there as a token without a letter
            begun = [choice for choice, key in keys.items() if key.startswith(spelling)] if grown_on else []
            if len(begun) == 1:
                sums[begun[0]] += mass * probability
            elif token == position.token and (begun or not spelling):
                onward, grown = probability, spelling
            elif begun:
                unclear += mass * probability
            open_still += probability if begun else 0.0
        for choice, key in keys.items():
            if spelled and key == spelled.rstrip():
                sums[choice] += mass * max(0.0, 1.0 - open_still)  # nothing that goes on: it ends here
        mass, spelled = mass * onward, grown
    unclear += mass
    if any(total <= 0 for total in sums.values()) or unclear > MOST_UNCLEAR * (sum(sums.values()) + unclear):
        return None
    return {choice: math.log(total) for choice, total in sums.items()}


def _before_the_quote(positions: Sequence[Position]) -> str | None:
    """Return what of the JSON stands before the choice's own quote, None where the reply is not written so."""
    reply = "".join(position.token for position in positions).lstrip()
    written = re.match(r'(\{\s*"grade"\s*:\s*)?(?=")', reply)
    return written.group() if written else None


def positions_of(choice: Mapping[str, Any]) -> list[Position]:
    """Read the log-probabilities that one reply brings, in the chat shape or in the old one; none if it brings none."""
    brought = choice.get("logprobs")
    try:
        if isinstance(brought, dict) and isinstance(brought.get("content"), list):
            return [_position(row["token"], row["logprob"], _pairs(row)) for row in brought["content"]]
        if isinstance(brought, dict) and isinstance(brought.get("top_logprobs"), list):
            rows = zip(brought["tokens"], brought["token_logprobs"], brought["top_logprobs"], strict=True)
            return [_position(token, value, list((others or {}).items())) for token, value, others in rows]
    except (KeyError, TypeError, ValueError, AttributeError):
        return []
    return []


def _pairs(row: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    return [(other["token"], other["logprob"]) for other in row.get("top_logprobs") or []]


def _position(token: Any, value: Any, others: Sequence[tuple[Any, Any]]) -> Position:
    likeliest = [(str(other), float(log_probability)) for other, log_probability in others]
    if str(token) not in {other for other, _ in likeliest}:
        likeliest.append((str(token), float(value)))
    if any(math.isnan(log_probability) or log_probability == math.inf for _, log_probability in likeliest):
        raise ValueError("no log-probability")
    return Position(str(token), tuple(likeliest))
