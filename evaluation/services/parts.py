"""The two parts of a study that is split, and which judges' figures on the test part may be shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from collection.models import Rater, Split, SplitTopic, Study, TestReading, User
from collection.splits import record_reading

Part = SplitTopic.Part
PartName = Literal["all", "development", "test"]


class NotSplit(Exception):
    """The study has no split, so it has no test part to read."""


@dataclass(frozen=True)
class Parts:
    """A study's split: topics by their primary keys, and by judge how often its figures on the test part were read.

    `n_later`: topics that came after the split and belong to neither part.
    """

    split: Split
    development: frozenset[int]
    test: frozenset[int]
    readings: Mapping[int, int]
    n_later: int

    @property
    def n_readings(self) -> int:
        """How often anybody read any judge's figures on the test part."""
        return sum(self.readings.values())

    @property
    def n_topics(self) -> int:
        """How many topics were split."""
        return len(self.development) + len(self.test)

    def as_dict(self) -> dict[str, Any]:
        """Return what stands beside figures that rest on one part alone."""
        return {
            "test_share": self.split.test_share,
            "made_at": self.split.made_at.isoformat(),
            "development_topics": len(self.development),
            "test_topics": len(self.test),
            "topics_in_neither": self.n_later,
            "test_readings": self.n_readings,
        }


def parts_of(study: Study) -> Parts | None:
    """Return the study's parts; None where it is not split."""
    split = Split.objects.filter(study=study).select_related("study", "made_by").first()
    if split is None:
        return None
    placed = dict(split.topics.values_list("topic_id", "part"))
    asked = set(study.items.values_list("topic_id", flat=True).distinct())
    return Parts(
        split=split,
        development=frozenset(topic for topic, part in placed.items() if part == Part.DEVELOPMENT),
        test=frozenset(topic for topic, part in placed.items() if part == Part.TEST),
        readings=Counter(split.readings.values_list("judge_id", flat=True)),
        n_later=len(asked - placed.keys()),
    )


@dataclass(frozen=True)
class JudgeReadings:
    """How often a judge's figures on the test part were read, and when and by whom last."""

    judge: Rater
    n: int
    last: TestReading | None


def readings_by_judge(parts: Parts, judges: list[Rater]) -> list[JudgeReadings]:
    """Return the readings of each of these judges, in their order."""
    last = {reading.judge_id: reading for reading in parts.split.readings.select_related("read_by")}
    return [JudgeReadings(judge, parts.readings.get(judge.pk, 0), last.get(judge.pk)) for judge in judges]


def times(n: int) -> str:
    """Return how often in words."""
    return {0: "never", 1: "once", 2: "twice"}.get(n, f"{n} times")


def read_test_part(study: Study, judge: Rater, *, by: User | None, at: datetime) -> int:
    """Note that this judge's figures on the test part are read, which opens them. Returns how often they have been.

    Raises NotSplit.
    """
    split = Split.objects.filter(study=study).first()
    if split is None:
        raise NotSplit(f"“{study}” has no development and test part yet. Make them first.")
    return record_reading(split=split, judge=judge, by=by, at=at)
