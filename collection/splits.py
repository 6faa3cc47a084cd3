"""The split of a study's topics into a part to tune on and a part that is locked, and who read the latter."""

from __future__ import annotations

import random
import secrets
from datetime import datetime
from typing import Literal

from django.db import transaction

from collection.models import Rater, Split, SplitTopic, Study, TestReading, Topic, User
from stats.refusals import Refused

Part = SplitTopic.Part
AskedPart = Literal["development", "test"]


class NotSplit(Refused):
    """The study has no split, so it has no test part to read."""


class TestPartLocked(Refused):
    """Nobody has read this judge's figures on the test part, so they are not shown."""

    __test__ = False


class AlreadySplit(Exception):
    """The study has its split; another one would let tuned prompts be tested on what they were tuned on."""


class TooFewTopics(Exception):
    """A split needs at least two topics with items, one for each part."""


@transaction.atomic
def make_split(*, study: Study, test_share: float, by: User | None, at: datetime, seed: str = "") -> Split:
    """Split the topics of the study's items at random; each part gets one at least.

    Raises AlreadySplit and TooFewTopics.
    """
    topics = list(Topic.objects.filter(items__study=study).distinct().order_by("topic_id"))
    if len(topics) < 2:
        raise TooFewTopics(f"“{study}” asks about {len(topics)} topic(s); a split needs at least two.")
    seed = seed or secrets.token_hex(8)
    fresh = {"test_share": test_share, "seed": seed, "made_at": at, "made_by": by}
    split, made = Split.objects.get_or_create(study=study, defaults=fresh)
    if not made:
        raise AlreadySplit(f"“{study}” is already split. A split is made only once.")
    n_test = min(max(1, round(test_share * len(topics))), len(topics) - 1)
    tested = {topic.pk for topic in random.Random(seed).sample(topics, n_test)}  # noqa: S311 - no secret
    SplitTopic.objects.bulk_create(
        SplitTopic(split=split, topic=topic, part=Part.TEST if topic.pk in tested else Part.DEVELOPMENT)
        for topic in topics
    )
    return split


def topics_in(split: Split, part: SplitTopic.Part) -> set[int]:
    """Return the primary keys of the part's topics. Topics that came after the split are in neither."""
    return set(split.topics.filter(part=part).values_list("topic_id", flat=True))


@transaction.atomic
def record_reading(*, split: Split, judge: Rater, by: User | None, at: datetime) -> int:
    """Note that somebody reads this judge's figures on the test part. Returns how often that has been done."""
    Study.objects.select_for_update().get(pk=split.study_id)  # no threshold moves while the first reading comes in
    TestReading.objects.create(split=split, judge=judge, read_by=by, read_at=at)
    return readings_of(split, judge)


def readings_of(split: Split, judge: Rater) -> int:
    """Count the readings of this judge's figures on the test part."""
    return split.readings.filter(judge=judge).count()
