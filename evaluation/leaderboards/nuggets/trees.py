"""Nuggets with their parts, as scores need them, of those of a bank and of what is judged of an answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from stats.measures.nugget_banks import Aggregator, JudgedNugget


@dataclass(frozen=True)
class BankNugget:
    """A nugget as the newest version of its bank has it; `parent` is the element that it is a part of."""

    element: int
    kind: str
    parent: int | None
    importance: str
    weight: float | None
    aggregator: str


def trees_of(listed: list[BankNugget], known_credits: Mapping[int, float | None]) -> dict[int, JudgedNugget]:
    """Return the nuggets that are parts of no other listed one, with their parts, by element.

    `known_credits` has, by element, what somebody was asked about.
    """
    there = {one.element for one in listed}
    parts: dict[int | None, list[BankNugget]] = defaultdict(list)
    for one in listed:
        parts[one.parent if one.parent in there else None].append(one)

    def asked(one: BankNugget) -> bool:
        return one.element in known_credits or any(map(asked, parts[one.element]))

    def tree_of(one: BankNugget) -> JudgedNugget:
        own = parts[one.element]
        uses_own = bool(own) and (one.element not in known_credits or any(map(asked, own)))
        return JudgedNugget(
            credit=known_credits.get(one.element),
            weight=one.weight,
            aggregator=cast("Aggregator", one.aggregator) if uses_own or one.aggregator == "not" else "",
            parts=tuple(map(tree_of, own)) if uses_own else (),
        )

    return {one.element: tree_of(one) for one in parts[None]}
