"""What the reports of this app share: the part of a split study that a result is of, its `visibility`."""

from __future__ import annotations

from typing import Any, Literal

from collection.web.reports import Report
from evaluation.data.visibility import Visibility, in_words
from stats.plurals import times


class StudyReport(Report):
    """A report whose result may be of a part of the study, as far as judges are locked on the other."""

    def shared_context(self, result: Any) -> dict[str, Any]:
        return {"visibility": _seen(result)}

    def part(self, result: Any) -> Literal["all", "development", "test"]:
        part: Literal["all", "development", "test"] = getattr(_seen(result) or result, "part", "all")
        return part

    def notes(self, result: Any) -> list[str]:
        """Say how often the test part was unlocked for each judge, where it is shown."""
        seen = _seen(result)
        if seen is None or seen.part != "test":
            return []
        return [f"Test topics of {'; '.join(f'{one.judge}: unlocked {times(one.n)}' for one in seen.opened)}."]

    def narrowing(self, result: Any) -> str:
        seen = _seen(result)
        if seen:
            return in_words(seen, getattr(result, "order", "score"))
        words = getattr(result, "part_in_words", "")
        return f", {words}" if words else ""


def _seen(result: Any) -> Visibility | None:
    return getattr(result, "visibility", None)
