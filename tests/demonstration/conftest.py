from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.core.management import call_command
from django.test import override_settings


@pytest.fixture(scope="module")
def demonstrations(for_the_whole_file: None) -> Iterator[None]:
    """The demonstration's studies, loaded once for the file."""
    with override_settings(DEMONSTRATION=True):
        call_command("load_demonstration", verbosity=0)
        yield
