from __future__ import annotations

import threading

from django.apps import AppConfig
from django.contrib.admin import apps as django_admin
from django.utils.translation import trans_real


class ConfigConfig(AppConfig):
    name = "config"
    default = True

    def ready(self) -> None:
        import config.checks  # noqa: F401 - registers them
        from config.commands import register

        register()
        keep_languages_in_threads()


def keep_languages_in_threads() -> None:
    """Keep the language in force where a thread finds it at once.

    Django asks for it with every number that a page shows, and keeps it where asynchronous code finds it too: that was
    a tenth of what a task's page cost. Nothing here is asynchronous. `tests/bench/languages.py` measures it.
    """
    trans_real._active = threading.local()  # type: ignore[attr-defined]


class Administration(django_admin.AdminConfig):
    default_site = "config.administration.Site"
    default = False
