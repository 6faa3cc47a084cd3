from typing import Any

from django.core.management.base import CommandError, CommandParser

from collection.banks.versions import changes_between
from collection.importing.commands import the_collection
from collection.models import BankVersion
from collection.web.commands import SiteCommand, add


class Command(SiteCommand):
    help = "Say what changed between two versions of a nugget bank."

    def add_arguments(self, parser: CommandParser) -> None:
        add(parser, "--collection", "--bank", required=True)
        add(parser, "--json", help="print a JSON object per line")
        for name in ("before", "after"):
            parser.add_argument(f"--{name}", type=int, required=True, metavar="N", help=f"the version {name}")

    def handle(self, *, collection: str, bank: str, before: int, after: int, **options: Any) -> None:
        versions = BankVersion.objects.filter(bank__collection=the_collection(collection), bank__name=bank)
        found = {version.number: version for version in versions.filter(number__in=(before, after))}
        for number in (before, after):
            if number not in found:
                raise CommandError(f"The collection has no bank “{bank}” with a version {number}.")
        changes = changes_between(found[before], found[after])
        for one in changes:
            texts = " → ".join(entry.element.text for entry in (one.before, one.after) if entry)
            text = "\t".join([one.topic, one.what, texts, "; ".join(one.details)])
            self.say(text, topic=one.topic, what=one.what, texts=texts, details=list(one.details))
        if not changes:
            self.stderr.write("Nothing changed.")
