"""What was heard of lately, on clocks that jump."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.utils.timezone import now

from collection.documents import fetching
from collection.importing.background import _has_stalled
from collection.models import DocumentSource, Retrieval, SourceTurn, Upload
from collection.retrieval.jobs import has_stalled
from collection.signs_of_life import CLOCKS_DIFFER, heard_of
from collection.source_turns import LEASE, turn_at

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
PATIENCE = timedelta(seconds=45)


@pytest.mark.parametrize(
    ("ago", "is_heard_of"),
    [
        (timedelta(0), True),
        (PATIENCE, True),
        (PATIENCE + timedelta(microseconds=1), False),
        (-CLOCKS_DIFFER, True),
        (timedelta(hours=-1), False),
    ],
)
def test_a_sign_of_life_counts_for_a_while_and_not_from_before_the_clock_went_back(
    ago: timedelta, *, is_heard_of: bool
) -> None:
    assert heard_of(None, AT - ago, at=AT, patience=PATIENCE) is is_heard_of


def test_what_works_in_the_background_stalls_when_the_clock_goes_back() -> None:
    later = AT + timedelta(hours=1)
    retrieval = Retrieval(state=Retrieval.State.AT_WORK, heard_of_at=later)
    upload = Upload(stored_as="none", asked_at=later)
    source = DocumentSource(state=DocumentSource.State.FETCHING, heard_of_at=later)

    stalled = [
        (has_stalled(retrieval, at=at), _has_stalled(upload, at=at), fetching.has_stalled(source, at=at))
        for at in (later, AT)
    ]

    assert stalled == [(False, False, False), (True, True, True)]


@pytest.mark.django_db
def test_a_turn_at_a_source_ends_when_the_clock_goes_back() -> None:
    SourceTurn.objects.create(source="a server", holder="x", held_until=now() + LEASE)
    with turn_at("a server") as held:
        assert not held

    SourceTurn.objects.update(held_until=now() + LEASE + timedelta(hours=1))
    with turn_at("a server") as free:
        assert free
