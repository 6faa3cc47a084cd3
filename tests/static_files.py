"""Static files as `make run` collects, names and compresses them, once for all tests of a process."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from django.test import override_settings

COLLECTED = {**settings.STORAGES, "staticfiles": {"BACKEND": "config.storage.HashedStaticFilesStorage"}}


@pytest.fixture(scope="session")
def collected_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where they are; nothing changes them."""
    folder = tmp_path_factory.mktemp("static")
    with override_settings(STORAGES=COLLECTED, STATIC_ROOT=folder):
        call_command("collectstatic", interactive=False, verbosity=0)
    return folder
