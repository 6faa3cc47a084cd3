"""The Celery application. Each app keeps its jobs in its own `celery_tasks.py`."""

import os
from importlib import import_module
from typing import Any

from celery import Celery
from celery.signals import worker_init, worker_process_init
from kombu.transport import TRANSPORT_ALIASES

from config.imported_late import import_now

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

# An address with the name that the default had before goes on to mean the default.
TRANSPORT_ALIASES |= dict.fromkeys(("embedded", "filesystem"), "config.broker:Transport")

app = Celery("assize")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(related_name="celery_tasks")


@worker_init.connect
def import_figures(sender: Any, **_: Any) -> None:
    """Import it before there are processes, which share it: no page waits for it."""
    if sender.pool_cls.__module__.endswith("prefork"):
        import_module("collection.web.reports").import_computations()
        import_now()


@worker_init.connect
def say_what_is_not_translated(**_: Any) -> None:
    """Workers write to people in their language, and may run where no web server says it."""
    checks = import_module("config.checks")
    checks.say(checks.translations_are_compiled())


@worker_process_init.connect
def leave_the_group(**_: Any) -> None:
    """Leave a pool process's end to its worker: what stops a process group would signal both at once."""
    os.setpgrp()
