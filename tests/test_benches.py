"""The benches still run: a renamed address or module would stop them where no other test looks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SMALL = {
    "evaluation": ["--items", "100", "--judgments", "300"],
    "files": ["--items", "100", "--judgments", "50"],
    "judging": ["--pairs", "100"],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_a_bench_measures_something(name: str) -> None:
    bench = Path(__file__).parent / "bench" / f"{name}.py"
    nobody = {"POSTGRES_URL": "postgres://nobody@127.0.0.1:1/nothing"}  # SQLite alone

    done = subprocess.run(
        [sys.executable, bench, *SMALL[name], "--json"],
        env=os.environ | nobody,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)
