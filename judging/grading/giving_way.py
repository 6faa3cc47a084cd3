"""Turns that end before their time because somebody waits: for a trial run, a probe or the words for a nugget.

Where jobs have all threads of a worker, what was asked is taken up when one of them is free. So one turn of each
process ends for each thing that no thread took up; the job goes on with the next turn, behind it.
"""

from __future__ import annotations

import threading
import time
from datetime import timedelta

from django.utils.timezone import now

from collection.models import NuggetWording
from judging.models import Errand

# A thread that has nothing to do takes up what was asked within that.
TAKEN_UP_WITHIN = timedelta(seconds=1)
# Where the turn's end was of no use, another one ends after so long.
AGAIN_SECONDS = 3.0

_ended_for: dict[tuple[str, int], float] = {}
_lock = threading.Lock()


def is_to_end() -> bool:
    """Whether the turn that asks is to end for something that somebody waits for."""
    asked_before = now() - TAKEN_UP_WITHIN
    waiting = [
        (what._meta.label, pk)
        for what in (Errand, NuggetWording)
        for pk in what.objects.filter(
            state=what.State.AT_WORK,
            begun_at=None,
            asked_at__range=(asked_before - NuggetWording.PATIENCE, asked_before),
        ).values_list("pk", flat=True)
    ]
    at = time.monotonic()
    with _lock:
        for done in _ended_for.keys() - waiting:
            del _ended_for[done]
        due = [one for one in waiting if at - _ended_for.get(one, float("-inf")) > AGAIN_SECONDS]
        _ended_for.update(dict.fromkeys(due[:1], at))
    return bool(due)
