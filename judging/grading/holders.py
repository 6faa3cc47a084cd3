"""Who holds a job's chunks and a build: processes that sign with their names, so that the dead can be told."""

from __future__ import annotations

import os
import secrets
import socket
import threading
from datetime import datetime, timedelta

from judging.models import Build, GradingChunk

PROCESS_TOKEN = secrets.token_hex(4)


def holder_name() -> str:
    """Return how this worker signs what it holds: machine, process, a token for this life of it, and thread."""
    return f"{socket.gethostname()}:{os.getpid()}:{PROCESS_TOKEN}:{threading.get_ident()}"


def free_those_of_the_dead(*, at: datetime) -> int:
    """Give back what processes of this machine held when they were killed, without waiting for the lease to end."""
    here = f"{socket.gethostname()}:"
    freed = 0
    for model in (GradingChunk, Build):
        held = model._default_manager.filter(leased_until__isnull=False, holder__startswith=here)
        dead = [
            holder
            for holder in held.order_by().values_list("holder", flat=True).distinct()
            if not _alive(int(holder.removeprefix(here).partition(":")[0]))
        ]
        # Left in the past, not empty: that tells those who look for what is stalled that somebody died.
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
