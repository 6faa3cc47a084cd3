"""What a process imports when it starts: commands go without large packages, servers have those of most pages."""

from __future__ import annotations

import subprocess
import sys

import pytest
from django.conf import settings

from config.imported_late import OF_MOST_PAGES

IMPORTED_LATE = {*OF_MOST_PAGES, "altair", "krippendorff", "scipy", "sklearn", "statsmodels", "vl_convert"}


@pytest.mark.parametrize(
    ("start", "absent", "present"),
    [
        # What every command imports: `check` reads the addresses too.
        ("import django; django.setup(); import config.urls", {*IMPORTED_LATE, "pyarrow"}, set()),
        ("import config.wsgi", IMPORTED_LATE - set(OF_MOST_PAGES), set(OF_MOST_PAGES)),
    ],
    ids=["command", "server"],
)
def test_a_process_starts_without_what_it_seldom_needs(start: str, absent: set[str], present: set[str]) -> None:
    started = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import os; os.environ['DJANGO_SETTINGS_MODULE'] = 'config.settings'\n{start}\n"
            "import sys; print(' '.join(sys.modules))",
        ],
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {name.split(".")[0] for name in started.stdout.split()}

    assert absent & loaded == set()
    assert present <= loaded
