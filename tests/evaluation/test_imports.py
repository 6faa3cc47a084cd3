from __future__ import annotations

import subprocess
import sys

import pytest
from django.conf import settings

PURE = [
    "agreement",
    "archives",
    "bundles",
    "calibration",
    "coefficients",
    "comparison",
    "correlations",
    "coverage",
    "intervals",
    "latex",
    "pairing",
    "printing",
    "qrels",
    "ratings",
    "spreadsheets",
    "tables",
    "thresholds",
    "verification",
]


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


@pytest.mark.parametrize("module", PURE)
def test_numbers_come_from_modules_that_know_no_django(module: str) -> None:
    assert "django" not in modules_after(f"import evaluation.{module}")


def test_a_web_process_starts_without_the_heavy_libraries() -> None:
    loaded = modules_after(
        "import os; os.environ['DJANGO_SETTINGS_MODULE'] = 'config.settings'\n"
        "import django; django.setup(); import evaluation.urls, evaluation.api"
    )

    assert loaded.isdisjoint({"pandas", "statsmodels", "sklearn", "scipy", "altair", "vl_convert", "krippendorff"})
