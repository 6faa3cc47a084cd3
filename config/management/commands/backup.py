from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from collection.web.commands import SiteCommand, add
from config.backups import BackupRefused, back_up


class Command(SiteCommand):
    help = "Write the whole site into one file, also while people label: database, files that came in, secret key."
    refusals = (BackupRefused,)

    def add_arguments(self, parser: CommandParser) -> None:
        add(parser, "file", help="a new file; keep it safe, for it holds every secret of the site")
        add(parser, "--json")

    def handle(self, **options: Any) -> None:
        file: Path = options["file"]
        site = back_up(file)
        n_bytes = file.stat().st_size
        self.say(
            f"{file}: {n_bytes / 1e6:.1f} MB, version {site['version']}.",
            file=str(file), bytes=n_bytes, version=site["version"], made_at=site["made_at"],
        )  # fmt: skip
