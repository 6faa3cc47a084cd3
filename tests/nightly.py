"""What is not checked at every change, by part, with the last figures in docs/nightly.md: `make nightly`.

python -m tests.nightly [PART …]
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/nightly.md"
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
ON_ALL_PROCESSORS = ["-n", "logical", "--dist", "load"]
TITLE = """# Nightly checks

`make nightly` checks what takes too long for every change and writes the results here; `make nightly PARTS="attacks"`
checks one part. Commit the page with the figures.

| part | what it checks | result | minutes | date | commit |
| --- | --- | --- | --- | --- | --- |
"""


def with_a_full_length() -> list[str]:
    """Return the files of tests that have a short form, which the others run, and a long one."""
    imports_full = re.compile(r"^from .* import .*\bFULL\b", re.MULTILINE)
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    return [str(path.relative_to(ROOT)) for path in files if imports_full.search(path.read_text(encoding="utf-8"))]


@dataclass(frozen=True)
class Part:
    checks: str
    command: list[str]


PARTS = {
    "attacks": Part(
        "every entry point, every role at every address, the broker and builds under kills, all pages in all looks",
        [*PYTEST, *ON_ALL_PROCESSORS, "-m", "not nightly", "tests/attacks", "tests/jobs", *with_a_full_length()],
    ),
    "pipelines": Part(
        "every pipeline with the embedded model, and the largest published files", [*PYTEST, "-m", "nightly", "tests"]
    ),
    "simulations": Part("whether intervals, plans and tests keep their promises", ["make", "calibration-check"]),
    "papers": Part("the papers’ figures, written into docs/papers.md", ["make", "papers"]),
    "capacity": Part("32 assessors at once, on SQLite and PostgreSQL", [sys.executable, "tests/bench/capacity.py"]),
    "vllm": Part("the judging contract on a real vLLM, with a small real model too", ["make", "test-vllm"]),
}


def run(part: Part) -> tuple[str, bool]:
    """Run a part, and return its result in a few words and whether it succeeded."""
    environment = os.environ | {"ATTACKS": "full", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(part.command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    sys.stdout.write(done.stdout)
    return in_words(done.stdout, done.returncode), done.returncode == 0


def in_words(output: str, code: int) -> str:
    """Return what pytest counted in its last line, such as “3 passed, 1 skipped”, and whether the command succeeded."""
    counted = re.findall(r"^(?:=+ )?((?:\d+ \w+(?:, )?)+) in [\d.]+s", output, flags=re.MULTILINE)
    counted = [re.sub(r", \d+ deselected", "", line) for line in counted]
    return ", ".join([*counted[-1:], "succeeded" if code == 0 else f"failed with {code}"])


def with_row(page: str, name: str, row: str) -> str:
    """Return the page with this row in place of the part's former one."""
    rows = [line for line in page.removeprefix(TITLE).splitlines() if not line.startswith(f"| {name} |")]
    order = list(PARTS)
    rows = sorted([*rows, row], key=lambda line: order.index(line.split("|")[1].strip()))
    return TITLE + "\n".join(rows) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=list(PARTS))
    failed = False
    # Before a part writes into docs.
    commit = subprocess.check_output(["git", "describe", "--always", "--dirty"], cwd=ROOT, text=True).strip()
    for name in parser.parse_args().parts:
        part, began = PARTS[name], time.monotonic()
        result, succeeded = run(part)
        failed |= not succeeded
        minutes = (time.monotonic() - began) / 60
        today = datetime.now(UTC).date().isoformat()
        row = f"| {name} | {part.checks} | {result} | {minutes:.0f} | {today} | {commit} |"
        PAGE.write_text(with_row(PAGE.read_text() if PAGE.exists() else TITLE, name, row), encoding="utf-8")
    sys.exit(failed)


if __name__ == "__main__":
    main()
