"""What is not asked at every change, part by part, with the figures of the last run in docs/nightly.md: `make nightly`.

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
SIMULATIONS = ("calibration", "judges", "labels", "planner", "sampled_labels", "corrected_scores")
TITLE = """# What is asked by night

`make nightly` asks what takes too long for every change and writes the results here; `make nightly PARTS="attacks"`
asks one part. Commit the page with the figures.

| part | what it asks | result | minutes | date | commit |
| --- | --- | --- | --- | --- | --- |
"""


@dataclass(frozen=True)
class Part:
    asks: str
    commands: tuple[list[str], ...]


PARTS = {
    "attacks": Part(
        "every entry point, every role at every address, the broker and builds under kills, all pages in all looks",
        (
            [
                *PYTEST, *ON_ALL_PROCESSORS, "tests/attacks", "tests/jobs", "tests/design/test_accessible_pages.py",
                "tests/annotate/work/test_actions_in_browser.py", "tests/annotate/assignments/test_designs.py",
                "tests/annotate/task_types/test_together.py", "tests/judging/building/test_builds.py",
                "tests/test_benches.py", "tests/test_judges_of_every_origin.py",
                "tests/evaluation/leaderboards/test_nothing_judged.py",
            ],
        ),
    ),
    "pipelines": Part(
        "every pipeline with the embedded model, and the largest published files",
        ([*PYTEST, "-m", "nightly", "tests"],),
    ),
    "simulations": Part(
        "whether intervals, plans and tests keep their promises",
        tuple([sys.executable, f"tests/{name}_check.py"] for name in SIMULATIONS),
    ),
    "papers": Part("the papers’ figures, written into docs/papers.md", ([sys.executable, "tests/papers.py"],)),
    "capacity": Part("32 assessors at once, on SQLite and PostgreSQL", ([sys.executable, "tests/bench/capacity.py"],)),
    "vllm": Part("the judging contract on a real vLLM, with a small real model too", ([*PYTEST, "tests/vllm"],)),
}  # fmt: skip


def run(part: Part) -> str:
    """Run the commands of a part one after the other, and return their results in a few words."""
    results = []
    for command in part.commands:
        environment = os.environ | {"ATTACKS": "full", "OPENBLAS_NUM_THREADS": "1"}
        done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=False)
        sys.stdout.write(done.stdout)
        results.append(in_words(done.stdout, done.returncode))
    return "; ".join(dict.fromkeys(results))


def in_words(output: str, code: int) -> str:
    """Return what pytest counted in its last line, such as “3 passed, 1 skipped”, or whether the command succeeded."""
    counted = re.findall(r"^(?:=+ )?((?:\d+ \w+(?:, )?)+) in [\d.]+s", output, flags=re.MULTILINE)
    if counted:
        return str(counted[-1])
    return "succeeded" if code == 0 else f"failed ({code})"


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
    for name in parser.parse_args().parts:
        part, began = PARTS[name], time.monotonic()
        result = run(part)
        failed |= "failed" in result or "error" in result
        minutes = (time.monotonic() - began) / 60
        commit = subprocess.check_output(["git", "describe", "--always", "--dirty"], cwd=ROOT, text=True).strip()
        today = datetime.now(UTC).date().isoformat()
        row = f"| {name} | {part.asks} | {result} | {minutes:.0f} | {today} | {commit} |"
        PAGE.write_text(with_row(PAGE.read_text() if PAGE.exists() else TITLE, name, row), encoding="utf-8")
    sys.exit(failed)


if __name__ == "__main__":
    main()
