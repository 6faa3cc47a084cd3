"""The two parts of a study that is split, and which topics a reader may see of whom now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeVar

from django.db.models import Model, QuerySet

from collection.models import Rater, Split, SplitTopic, Study, TestReading, User
from collection.rankings import ORDERS, Order
from collection.splits import AskedPart, NotSplit, TestPartLocked, record_reading
from evaluation.data.judgments import CriterionRatings, completeness_of
from stats.completeness import UNMARKED, Completeness, complete_first

# Beside what is here: which part is asked for, and why it may not be read.
__all__ = ["AskedPart", "NotSplit", "TestPartLocked"]

Part = SplitTopic.Part
PartName = Literal["all", "development", "test"]
T = TypeVar("T", bound=Model)

LOCKED = "This judge’s figures on the test topics are locked. Unlock them first; each unlocking is counted."


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

    def is_open(self, judge: Rater) -> bool:
        """Whether somebody has read this judge's figures on the test part."""
        return bool(self.readings.get(judge.pk))

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
class Visibility:
    """The topics that figures may rest on now: all of them if `topics` is None. Made by `visibility_of` alone.

    `judges` are those whose figures are asked for; `part` is "all" where no lock binds.
    """

    part: PartName
    topics: frozenset[int] | None
    parts: Parts | None
    judges: tuple[Rater, ...]

    @property
    def locked(self) -> list[Rater]:
        """The judges whose figures on the test part nobody has read."""
        return [judge for judge in self.judges if self.parts and not self.parts.is_open(judge)]

    @property
    def opened(self) -> list[JudgeReadings]:
        """The others, with how often their figures on the test part were read."""
        found = [(judge, self.readings_of(judge)) for judge in self.judges]
        return [JudgeReadings(judge, n, None) for judge, n in found if n]

    @property
    def hidden(self) -> frozenset[int]:
        """The judges, by primary key, that are left out because what is shown is locked for them."""
        return frozenset(judge.pk for judge in self.locked) if self.part == "test" else frozenset()

    @property
    def side(self) -> SplitTopic.Part:
        """The part by which judges are complete or not."""
        return Part.TEST if self.part == "test" else Part.DEVELOPMENT

    @property
    def n_topics(self) -> int:
        """How many topics are visible, of a study that is split."""
        return len(self.topics or ())

    @property
    def words(self) -> str:
        """Say on one line which part of how many topics this is; empty where all topics count."""
        if self.topics is None or self.parts is None:
            return ""
        return f"{self.part} topics: {self.n_topics} of {self.parts.n_topics}"

    def readings_of(self, judge: Rater) -> int:
        return self.parts.readings.get(judge.pk, 0) if self.parts else 0

    def of(self, rows: QuerySet[T]) -> QuerySet[T]:
        """Return those of these rows (items, or whatever has a topic) whose topic is visible."""
        if self.topics is None or self.parts is None:
            return rows
        return rows.filter(topic__in=self.parts.split.topics.filter(part=self.side).values("topic"))

    def of_ratings(self, judged: CriterionRatings) -> CriterionRatings:
        """Return the judgments about the visible topics alone."""
        return judged if self.topics is None else judged.of_topics(self.topics)

    def as_dict(self) -> dict[str, Any]:
        """Return what stands beside figures of these topics; nothing where the study is not split."""
        return {"part": self.part, "split": self.parts.as_dict()} if self.parts else {}


# Of who has not asked yet whose judgments are shown.
EVERYTHING = Visibility("all", None, None, ())


def in_words(visibility: Visibility, order: Order) -> str:
    """Say which part of a split study this is, and where passages do not stand as trec_eval has them."""
    by_rank = f"passages {ORDERS[order]}" if order == "rank" else ""
    return "".join(f", {words}" for words in (visibility.words, by_rank) if words)


def visibility_of(parts: Parts | None, judges: Iterable[Rater], *, part: AskedPart = "development") -> Visibility:
    """Return which topics a reader may see of these judges now; docs/trust.md says the rule in words.

    Without a split, and where no judge's figures are shown, that is all of them. Else it is the development part, or,
    if asked for, the test part of those judges that somebody has read there. Raises NotSplit, and TestPartLocked
    where nobody has read any of them.
    """
    judges = tuple(judges)
    if parts is None:
        if part == "test":
            raise NotSplit("The study is not split, so all its topics are shown already.")
        return Visibility("all", None, None, judges)
    if not judges:
        return Visibility("all", None, parts, judges)
    if part == "development":
        return Visibility("development", parts.development, parts, judges)
    if not any(map(parts.is_open, judges)):
        raise TestPartLocked(LOCKED)
    return Visibility("test", parts.test, parts, judges)


def tested_elsewhere(study: Study) -> set[int]:
    """Return the topics, by primary key, that another study of the collection tests judges on.

    Figures may rest on them, but the items on which a judge errs there are not shown: who reads them tunes on them.
    """
    others = SplitTopic.objects.filter(part=Part.TEST, split__study__collection=study.collection_id)
    return set(others.exclude(split__study=study).values_list("topic_id", flat=True))


@dataclass(frozen=True)
class JudgeReadings:
    """How often a judge's figures on the test part were read, and when and by whom last."""

    judge: Rater
    n: int
    last: TestReading | None
    completeness: Completeness = UNMARKED


def readings_by_judge(parts: Parts, judges: list[Rater]) -> list[JudgeReadings]:
    """Return the readings of each of these judges, in their order, unfinished and failing ones last."""
    known = completeness_of(parts.split.study)
    last = {reading.judge_id: reading for reading in parts.split.readings.select_related("read_by")}
    readings = (
        JudgeReadings(judge, parts.readings.get(judge.pk, 0), last.get(judge.pk), known.worst_of(judge.pk))
        for judge in judges
    )
    return complete_first(readings, of=lambda one: one.completeness)


def read_test_part(study: Study, judge: Rater, *, by: User | None, at: datetime) -> int:
    """Note that this judge's figures on the test part are read, which opens them. Returns how often they have been.

    Raises NotSplit.
    """
    split = Split.objects.filter(study=study).first()
    if split is None:
        raise NotSplit(f"“{study}” is not split into development and test topics yet. Split it first.")
    return record_reading(split=split, judge=judge, by=by, at=at)
