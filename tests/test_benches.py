"""The benches still run: a renamed address or module would stop them where no other test looks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.attacks.mutations import FULL

SMALL = {
    "evaluation": ["--items", "100", "--judgments", "300"],
    "cited_reports": ["--runs", "3"],
    "judges": ["--judges", "2"],
}
# Longer ones, which `make nightly` runs.
LONG = {
    "capacity": [
        *("--seconds", "1", "--assessors", "3", "--reports", "400", "--questions", "3", "--databases", "sqlite"),
        *("--workers", "1", "--kinds", "answerability", "citation_support", "sentence_nugget", "battle"),
    ],
    "files": ["--items", "100", "--judgments", "50"],
    "judging": ["--pairs", "100"],
    "retrieval": ["--passages", "200", "--queries", "3"],
}
SMALL |= LONG if FULL else {}


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
    rows = json.loads(done.stdout)
    assert rows
    if name == "capacity":
        worked = [row for row in rows if "lost" in row]
        assert [row["what"] for row in worked] == [
            "3 sub-questions a report",
            "3 citations a cited report",
            "3 nuggets beside a sentence",
            "1 battle of two reports",
        ]
        assert all(row["answers"] > 0 and (row["lost"], row["surplus"]) == (0, 0) for row in worked)
