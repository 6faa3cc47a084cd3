"""The Celery application of `config`, on the database that a test has made."""

from __future__ import annotations

import os

from django.conf import settings

from config.celery import app

settings.DATABASES["default"]["NAME"] = os.environ["TEST_DATABASE"]
app.conf.update(task_default_queue=os.environ["QUEUE"], task_queues=None, task_routes=None)
