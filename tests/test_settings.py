"""docs/settings.md and config/settings.py name the same variables."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

ROOT = Path(settings.BASE_DIR)


def test_every_variable_of_the_environment_is_documented_and_no_other() -> None:
    read = set(re.findall(r'env\.\w+\(\s*"([A-Z_]+)"', (ROOT / "config/settings.py").read_text()))
    documented = set(re.findall(r"^\| `([A-Z_]+)` \|", (ROOT / "docs/settings.md").read_text(), flags=re.MULTILINE))

    assert read == documented


@pytest.mark.parametrize(
    ("variable", "nonsense"),
    [
        ("DEBUG", "perhaps"),
        ("JUDGE_TIMEOUT", "soon"),
        ("MTURK_ORIGINS", "www.mturk.com"),
        ("DATABASE_URL", "a file somewhere"),
    ],
)
def test_nonsense_in_the_environment_is_refused_by_name(variable: str, nonsense: str, tmp_path: Path) -> None:
    environment = {**os.environ, "DATA_DIR": str(tmp_path), variable: nonsense}

    check = subprocess.run(
        [sys.executable, "manage.py", "check"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )

    assert check.returncode != 0
    assert variable in check.stderr


def test_the_secret_key_is_made_once_and_kept(tmp_path: Path) -> None:
    environment = {**os.environ, "DATA_DIR": str(tmp_path), "SECRET_KEY": ""}
    show = [sys.executable, "-c", "from config.settings import SECRET_KEY; print(SECRET_KEY)"]

    first, second = (subprocess.check_output(show, cwd=ROOT, env=environment, text=True) for _ in range(2))

    assert len(first.strip()) > 60
    assert first == second
