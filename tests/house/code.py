"""What the rules of the house are asked of: the files of a checkout, its functions, its imports and its words."""

from __future__ import annotations

import ast
import subprocess
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path

APPS = ("annotate", "collection", "config", "evaluation", "judging", "stats")
# What a program writes: nobody reads its growth.
GENERATED = ("*/migrations/*", "locale/*", "static/js/words/*", "requirements*.txt", "docs/papers.md")


@dataclass(frozen=True)
class Checkout:
    """The files of a folder that git tracks or would track, by their path."""

    root: Path

    @cached_property
    def files(self) -> list[str]:
        listed = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
            cwd=self.root, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return sorted({name for name in listed.stdout.split("\0") if name and (self.root / name).is_file()})

    def of(self, *patterns: str) -> list[str]:
        return [name for name in self.files if matches(name, *patterns) and not matches(name, *GENERATED)]

    def text(self, name: str) -> str:
        return (self.root / name).read_text(encoding="utf-8")

    def lines(self, names: list[str]) -> int:
        return sum(len(self.text(name).splitlines()) for name in names)

    @cached_property
    def product(self) -> list[str]:
        """The modules of the product, without its tests."""
        return self.of(*(f"{app}/*.py" for app in APPS), "client/assize_client/*.py")

    @cached_property
    def trees(self) -> dict[str, ast.Module]:
        """The syntax trees of the product's modules."""
        return {name: ast.parse(self.text(name)) for name in self.product}

    @cached_property
    def trees_of_tests(self) -> dict[str, ast.Module]:
        return {name: ast.parse(self.text(name)) for name in self.of("tests/*.py")}


def matches(name: str, *patterns: str) -> bool:
    """Whether a path is matched whole by one of the patterns, in which `*` stands for folders too."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)
