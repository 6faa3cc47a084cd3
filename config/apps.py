from __future__ import annotations

from django.apps import AppConfig
from django.contrib.admin import apps as django_admin


class ConfigConfig(AppConfig):
    name = "config"
    default = True

    def ready(self) -> None:
        import config.checks  # noqa: F401 - registers them


class Administration(django_admin.AdminConfig):
    default_site = "config.administration.Site"
    default = False
