"""How much of what a judge was to grade it has graded: unfinished and failing judges are marked, and stand last.

A figure over the part that a judge happened to finish, or to reply to readably, is no figure of the judge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from stats.plurals import counted

# From this share of replies without a readable grade on, a judge is failing.
FAILING_FROM = 0.5
Mark = Literal["", "unfinished", "failing"]
T = TypeVar("T")


@dataclass(frozen=True)
class Completeness:
    """Of `expected` items a judge lacks `missing`; of all its `replies`, `ungraded` have no grade."""

    expected: int
    missing: int
    replies: int
    ungraded: int

    @property
    def mark(self) -> Mark:
        """What a judge is marked with; empty where it is complete and replies readably."""
        if self.replies and self.ungraded / self.replies >= FAILING_FROM:
            return "failing"
        return "unfinished" if self.missing else ""

    @property
    def why(self) -> str:
        """What the mark rests on, in words."""
        if self.mark == "failing":
            have = "has" if self.ungraded == 1 else "have"
            return f"{self.ungraded:,} of its {counted(self.replies, 'replies')} {have} no readable grade"
        are = "is" if self.missing == 1 else "are"
        return f"{self.missing:,} of {counted(self.expected, 'items')} {are} missing" if self.missing else ""

    @property
    def unreadable(self) -> bool:
        """Whether there are replies, and no grade could be read in any of them."""
        return 0 < self.replies == self.ungraded

    @property
    def rank(self) -> int:
        """The place in a list: complete judges first, then unfinished, then failing ones."""
        return rank_of(self.mark)

    def after(self, name: str) -> str:
        """Return the name with the mark behind it, for lists to choose from and lines of text."""
        return f"{name} ({self.mark})" if self.mark else name

    def as_dict(self) -> dict[str, Any]:
        """Return what API, files and commands tell of it; null where a judge is not marked."""
        return {"mark": self.mark or None, "mark_reason": self.why or None}


def rank_of(mark: str | None) -> int:
    """Return the place of a mark in a list: none, then unfinished, then failing."""
    return ("", "unfinished", "failing").index(mark or "")


# Of raters that are not marked: people, and judges that nothing is known of.
UNMARKED = Completeness(expected=0, missing=0, replies=0, ungraded=0)


def complete_first(judges: Iterable[T], of: Callable[[T], Completeness]) -> list[T]:
    """Return the judges with the marked ones last; among equals their order stays."""
    return sorted(judges, key=lambda judge: of(judge).rank)
