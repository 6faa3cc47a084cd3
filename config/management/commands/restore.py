from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from collection.web.commands import SiteCommand, add
from config.backups import BackupRefused, restore


class Command(SiteCommand):
    help = "Put a backup into an empty site, whose servers and workers are stopped."
    refusals = (BackupRefused,)
    requires_system_checks = ()  # one asks for a migrated database, which comes with the backup

    def add_arguments(self, parser: CommandParser) -> None:
        add(parser, "file", help="what manage.py backup wrote")
        add(parser, "--json")

    def handle(self, **options: Any) -> None:
        site = restore(options["file"])
        self.say(
            f"The site is as it was at {site['made_at']}, version {site['version']}. Its next start brings it to this "
            "version.",
            version=site["version"],
            made_at=site["made_at"],
        )
