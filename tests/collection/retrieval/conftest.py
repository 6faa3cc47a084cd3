"""A small collection of stones."""

from __future__ import annotations

import pytest
from pytest_django.fixtures import Settings

from collection.models import Collection, Passage, Topic

STONE = "A stone, a stone!"
TEXTS = {"p1": "Rain fell on the quarry.", "p2": "Masons cut stones.", "p3": STONE, "p4": STONE}


@pytest.fixture
def stones(collection: Collection, settings: Settings) -> Collection:
    """Two topics with a request and one without; four passages with a text and one without. Workers make runs."""
    settings.WORK_AT_ONCE = False
    collection.topics.all().delete()
    Passage.objects.filter(collection=collection).delete()
    Topic.objects.create(collection=collection, topic_id="t1", title="Rain", request="Who cuts stones?")
    Topic.objects.create(collection=collection, topic_id="t2", request="snow")
    Topic.objects.create(collection=collection, topic_id="t3", request="")
    for docno, text in TEXTS.items():
        Passage.objects.create(collection=collection, passage_id=docno, text=text)
    Passage.objects.create(collection=collection, passage_id="p0")
    return collection
