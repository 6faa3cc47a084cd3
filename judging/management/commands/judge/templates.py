from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from collection.web.commands import SiteCommand, add
from judging.judges.registry import load_shipped
from stats.plurals import counted


class Command(SiteCommand):
    help = "Store the shipped prompt templates and the baseline judges. Running it again changes nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        add(parser, "--json")

    def handle(self, **options: Any) -> None:
        templates, judges = load_shipped()
        if options["verbosity"] and (templates or judges):
            text = f"{len(templates)} prompt templates and {counted(len(judges), 'judges')} are new."
            self.say(text, templates=list(map(str, templates)), judges=list(map(str, judges)))
