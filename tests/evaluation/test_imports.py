from __future__ import annotations

import subprocess
import sys

from django.conf import settings


def modules_after(statement: str) -> set[str]:
    """Return what is imported in a fresh process once the statement has run."""
    finished = subprocess.run(
        [sys.executable, "-c", f"{statement}\nimport sys\nprint(' '.join(sys.modules))"],
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=True,
    )
    return {name.split(".")[0] for name in finished.stdout.split()}


def test_a_web_process_starts_without_the_heavy_libraries() -> None:
    loaded = modules_after(
        "import os; os.environ['DJANGO_SETTINGS_MODULE'] = 'config.settings'\n"
        "import django; django.setup(); import evaluation.urls, evaluation.api"
    )

    assert loaded.isdisjoint(
        {"pandas", "statsmodels", "sklearn", "scipy", "altair", "vl_convert", "krippendorff", "pyarrow"}
    )
