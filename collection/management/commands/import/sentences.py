from typing import Any

from django.core.management.base import CommandParser

from collection.importing.commands import the_collection
from collection.texts.report_sentences import split_reports
from collection.web.commands import SiteCommand, add
from stats.plurals import counted


class Command(SiteCommand):
    help = "Find the sentences of the reports that came in as one text; they are marked as found by a rule."

    def add_arguments(self, parser: CommandParser) -> None:
        add(parser, "--collection", required=True)
        add(parser, "--json")

    def handle(self, *, collection: str, **options: Any) -> None:
        n = split_reports(the_collection(collection))
        self.say(f"{counted(n, 'reports')} split into sentences.", reports=n)
