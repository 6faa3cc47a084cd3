"""A commit of the house is one thought: more than 2,000 changed lines of code are several, unless they only moved."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.house.code import GENERATED, matches

# The last commit before the rule.
BEGINNING = "23329c5"
MOST_LINES = 2_000
OF_CODE = ("*.py", "*.html", "*.js", "*.css", "Makefile", ".ci/*")


def has_commit(root: Path, name: str) -> bool:
    """Whether the history that is here holds this commit: a shallow clone may not."""
    found = subprocess.run(["git", "cat-file", "-e", f"{name}^{{commit}}"], cwd=root, capture_output=True, check=False)
    return found.returncode == 0


def large_commits(root: Path, beginning: str) -> dict[str, int]:
    """Return the commits after the beginning that change too many lines of code, with how many, by their subject.

    A moved file counts the lines in which it differs.
    """
    log = subprocess.run(
        ["git", "log", "--no-merges", "--numstat", "-M", "--format=commit %s", f"{beginning}..HEAD"],
        cwd=root, capture_output=True, text=True, check=True,
    )  # fmt: skip
    counts = {subject: sum(lines) for subject, lines in _commits(log.stdout)}
    return {subject: lines for subject, lines in counts.items() if lines > MOST_LINES}


def _commits(log: str) -> Iterator[tuple[str, list[int]]]:
    for commit in re.split(r"^commit ", log, flags=re.MULTILINE)[1:]:
        subject, *changes = commit.splitlines()
        rows = [change.split("\t") for change in changes if change]
        yield subject, [int(added) + int(gone) for added, gone, name in rows if added != "-" and _is_code(name)]


def _is_code(name: str) -> bool:
    new = re.sub(r"\{(.*?) => (.*?)\}", r"\2", name).split(" => ")[-1].replace("//", "/")
    return matches(new, *OF_CODE) and not matches(new, *GENERATED)
