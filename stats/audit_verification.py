"""Whether an audit bundle holds: its files are those of its manifest, and its figures come out of its own tables.

Knows no Django and no database. A bundle that holds is consistent; who made it, and from what, its hashes cannot say.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from stats.audit_bundle import (
    FIGURES,
    FORMAT,
    MANIFEST,
    STUDY,
    TABLES,
    VERSION,
    BundleBroken,
    figures_of,
    read_json,
    sha256,
)

# Other machines and other versions of the libraries may differ in the last digits.
TOLERANCE = 1e-9
ABSENT = "nothing"


@dataclass(frozen=True)
class Problem:
    """Something in a bundle that does not hold. `says` is what the bundle has, `found` what was found instead."""

    what: str
    where: str
    says: Any = None
    found: Any = None

    def __str__(self) -> str:
        if self.what in ("figure", "hash"):
            return f"{self.where}: the bundle says {self.says}, but the result is {self.found}."
        return f"{self.where}: {self.found}" if self.found else f"{self.where}: {self.what}"


@dataclass
class Verdict:
    """Whether a bundle holds: every file is what the manifest says, and every figure comes out of the tables.

    `newer` names the figures that the code has learnt to compute since the bundle was written.
    """

    about: dict[str, Any] = field(default_factory=dict)
    n_files: int = 0
    n_figures: int = 0
    problems: list[Problem] = field(default_factory=list)
    newer: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Yes or no."""
        return not self.problems

    def as_dict(self) -> dict[str, Any]:
        """Return it as `manage.py export verify --json` prints it."""
        return {
            "verified": self.holds,
            **{name: self.about.get(name) for name in ("study", "created_at", "code")},
            "files": self.n_files,
            "figures": self.n_figures,
            "newer": self.newer,
            "problems": [vars(problem) for problem in self.problems],
        }


def verify(files: Mapping[str, bytes]) -> Verdict:
    """Check every hash, then compute the figures from the bundle's tables and compare."""
    verdict = Verdict()
    try:
        manifest = read_json(files, MANIFEST)
        _check_manifest(manifest)
    except BundleBroken as broken:
        verdict.problems.append(Problem("unreadable", MANIFEST, found=str(broken)))
        return verdict
    verdict.about = manifest
    verdict.n_files = len(files) - 1
    verdict.problems += _file_problems(files, manifest["files"])
    verdict.problems += _guideline_problems(files)
    try:
        computed = figures_of(files)
    except BundleBroken as broken:
        verdict.problems.append(Problem("unreadable", "tables", found=str(broken)))
        return verdict
    for name in sorted(computed.keys() | {name for name in files if name.startswith(("figures/", "qrels/"))}):
        said, found = _flat(name, files.get(name)), _flat(name, computed.get(name))
        older = name.startswith("figures/") and said and manifest.get("figures", 1) < FIGURES
        newer = _newer(said, found) if older else {}
        verdict.newer += dict.fromkeys(f"{name}: {figure}" for figure in newer.values())
        found = {where: figure for where, figure in found.items() if where not in newer}
        verdict.n_figures += len(found)
        for where in [*said, *(where for where in found if where not in said)]:
            one, other = said.get(where, ABSENT), found.get(where, ABSENT)
            if not _same(one, other):
                verdict.problems.append(Problem("figure", where, one, other))
    return verdict


def _check_manifest(manifest: Any) -> None:
    if (
        not isinstance(manifest, dict)
        or manifest.get("format") != FORMAT
        or not isinstance(manifest.get("files"), dict)
        or not isinstance(manifest.get("figures", 1), int)
    ):
        raise BundleBroken("This is not the manifest of an audit bundle.")
    if manifest.get("version") != VERSION:
        raise BundleBroken(f"Its version is {manifest.get('version')}; this code reads version {VERSION}.")


def _file_problems(files: Mapping[str, bytes], hashes: Mapping[str, Any]) -> Iterator[Problem]:
    for name in sorted({*hashes, *TABLES}):
        if name not in files:
            yield Problem("missing", name, found="The file is missing.")
        elif name in hashes and hashes[name] != (found := sha256(files[name])):
            yield Problem("hash", name, hashes[name], found)
    for name in sorted(files.keys() - hashes.keys() - {MANIFEST}):
        yield Problem("extra", name, found="The manifest does not name the file.")


def _guideline_problems(files: Mapping[str, bytes]) -> Iterator[Problem]:
    """Yield the guideline versions whose text is not the one that the study names."""
    try:
        versions = {f"guidelines/v{one['version']}.md": one["sha256"] for one in read_json(files, STUDY)["guidelines"]}
    except (BundleBroken, KeyError, TypeError):
        return  # the tables' reader says so
    for name, said in versions.items():
        if name in files and sha256(files[name]) != said:
            yield Problem("hash", name, said, sha256(files[name]))


def _newer(said: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, str]:
    """Return the figures whose name the bundle has nowhere, by where they are; each with the name that is new.

    A name is a path without the criterion and the place in a list, which the data decide.
    """
    known = {path[:end] for path in map(_path, said) for end in range(len(path) + 1)}
    newer = {}
    for where, path in ((where, _path(where)) for where in found):
        new = next((end for end in range(len(path) + 1) if path[:end] not in known), None)
        if new is not None:
            newer[where] = ".".join(path[:new])
    return newer


def _path(where: str) -> tuple[str, ...]:
    _, _, path = where.partition(": ")
    return tuple(part for part in path.split(".")[1:] if not part.isdecimal())


def _flat(name: str, content: bytes | None) -> dict[str, Any]:
    """Return every figure of a file under its own name; a qrels file is one figure a line."""
    if content is None:
        return {}
    if name.endswith(".qrels"):
        lines = (line.rpartition(" ") for line in content.decode(errors="replace").splitlines())
        return {f"{name}: {labelled}": grade for labelled, _, grade in lines}
    try:
        return dict(_leaves(json.loads(content), f"{name}: "))
    except ValueError:
        return {f"{name}: (not JSON)": content.decode(errors="replace")[:80]}


def _leaves(found: Any, where: str) -> Iterator[tuple[str, Any]]:
    if isinstance(found, (dict, list)) and found:
        pairs = found.items() if isinstance(found, dict) else enumerate(found)
        for name, inner in pairs:
            yield from _leaves(
                inner, f"{where}{name}." if isinstance(inner, (dict, list)) and inner else f"{where}{name}"
            )
    else:
        yield where, found


def _same(said: Any, found: Any) -> bool:
    if {type(said), type(found)} <= {int, float}:
        return math.isclose(said, found, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return type(said) is type(found) and bool(said == found)
