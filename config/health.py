"""Two addresses for what watches the site: whether a web process answers, and whether the site can do its work.

Neither asks who somebody is, and neither says more of what is wrong than its kind: the log has the rest.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable
from functools import cache

from celery import current_app
from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from collection.finished_files import LEFT_FREE
from config.broker import Channel

OK = "ok"
BROKER_SECONDS = 2

logger = logging.getLogger(__name__)


@never_cache
@require_safe
def health(_: HttpRequest) -> JsonResponse:
    """Answer. It asks nothing else, so a process that does not answer this needs a new start."""
    return JsonResponse({"status": OK})


@never_cache
@require_safe
def ready(_: HttpRequest) -> JsonResponse:
    """Answer 200 if the site can do its work, else 503 with which part cannot."""
    found = {name: check() for name, check in CHECKS.items()}
    is_ready = set(found.values()) == {OK}
    return JsonResponse({"status": OK if is_ready else "not ready", **found}, status=200 if is_ready else 503)


def _database() -> str:
    try:
        connection.ensure_connection()
        applied = MigrationRecorder(connection).applied_migrations()
    except DatabaseError as error:
        logger.warning("The database does not answer: %s", error)
        return "does not answer"
    waiting = _newest_migrations() - applied.keys()
    return f"not migrated: {', '.join(sorted({app for app, _ in waiting}))}" if waiting else OK


@cache
def _newest_migrations() -> frozenset[tuple[str, str]]:
    """Return the last migration of each app: it is applied after all others. The files are read once in a process."""
    return frozenset(MigrationLoader(None).graph.leaf_nodes())


def _broker() -> str:
    # Redis would wait for as long as the network does.
    timeouts = {"socket_connect_timeout": BROKER_SECONDS, "socket_timeout": BROKER_SECONDS}
    try:
        with current_app.connection_for_write(transport_options=timeouts) as messages:
            messages.ensure_connection(max_retries=1, timeout=BROKER_SECONDS)
            if isinstance(messages.default_channel, Channel):  # the others asked their server
                messages.default_channel.store.size("celery")
    except Exception as error:  # each transport has errors of its own
        logger.warning("The broker does not answer: %s", error)
        return "does not answer"
    return OK


def _disk() -> str:
    free = shutil.disk_usage(settings.DATA_DIR).free
    return OK if free >= LEFT_FREE else f"less than {LEFT_FREE // 1024**2} MB free"


CHECKS: dict[str, Callable[[], str]] = {"database": _database, "broker": _broker, "disk": _disk}
