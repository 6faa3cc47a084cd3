"""Who holds a job's chunks and a build's calls: processes that sign with their names, so that the dead can be told."""

from __future__ import annotations

import os
import socket
from datetime import datetime, timedelta

from judging.models import GenerationCall, GradingChunk


def holder_name(process_token: str) -> str:
    """Return how this process signs the chunks it holds: machine, process, and a token for this life of it."""
    return f"{socket.gethostname()}:{os.getpid()}:{process_token}"


def free_chunks_of_the_dead(*, at: datetime) -> int:
    """Give back what processes of this machine held when they were killed, without waiting for the lease to end."""
    here = f"{socket.gethostname()}:"
    freed = 0
    for model in (GradingChunk, GenerationCall):
        held = model._default_manager.filter(finished_at=None, holder__startswith=here)
        dead = [
            holder
            for holder in held.order_by().values_list("holder", flat=True).distinct()
            if not _alive(int(holder.removeprefix(here).partition(":")[0]))
        ]
        # Left in the past, not empty: that tells `requeue_stalled_jobs` that somebody died.
        freed += held.filter(holder__in=dead).update(leased_until=at - timedelta(seconds=1))
    return freed


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
