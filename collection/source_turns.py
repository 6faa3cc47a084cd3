"""One turn at a time for each source that others run: a stalled one never has two workers."""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta

from django.db import DatabaseError, connection
from django.db.models import Q
from django.utils.timezone import now

from collection.models import SourceTurn
from collection.signs_of_life import lately

logger = logging.getLogger(__name__)

LEASE = timedelta(seconds=45)
RENEW_SECONDS = 10.0
# Who finds a source taken comes again so much later.
AGAIN_SECONDS = 3.0


@contextmanager
def turn_at(source: str, *, beat: Callable[[datetime], object] = lambda _: None) -> Iterator[bool]:
    """Have the source for the length of the block; False: somebody else has it. `beat` says that the holder lives."""
    SourceTurn.objects.bulk_create([SourceTurn(source=source)], ignore_conflicts=True)
    holder, at = secrets.token_hex(16), now()
    first, last = lately(at, LEASE)
    free = Q(held_until=None) | ~Q(held_until__range=(first + LEASE, last + LEASE))
    # One statement, so two workers never get the same.
    if not SourceTurn.objects.filter(free, source=source).update(holder=holder, held_until=at + LEASE):
        yield False
        return
    mine = SourceTurn.objects.filter(source=source, holder=holder)
    over = threading.Event()

    def renew() -> None:
        while not over.wait(RENEW_SECONDS):
            try:
                mine.update(held_until=now() + LEASE)
                beat(now())
            except DatabaseError:  # an import may hold SQLite
                logger.warning("The turn at %s was not renewed.", source, exc_info=True)
        connection.close()

    renewer = threading.Thread(target=renew, name="source-turn", daemon=True)
    renewer.start()
    try:
        yield True
    finally:
        over.set()
        renewer.join()
        with suppress(DatabaseError):  # it ends by itself
            mine.update(holder="", held_until=None)
