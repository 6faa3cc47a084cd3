from __future__ import annotations

from typing import Any

from collection.web.commands import SiteCommand
from judging.judges.registry import load_shipped
from stats.plurals import counted


class Command(SiteCommand):
    help = "Store the shipped prompt templates and the baseline judges. Running it again changes nothing."

    def handle(self, **options: Any) -> None:
        templates, judges = load_shipped()
        if options["verbosity"] and (templates or judges):
            self.stdout.write(f"{len(templates)} prompt templates and {counted(len(judges), 'judges')} are new.")
