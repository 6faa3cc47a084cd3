from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from collection.banks.versions import changes_between
from collection.importing.commands import the_collection
from collection.models import BankVersion


class Command(BaseCommand):
    help = "Tell what changed between two versions of a nugget bank."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--collection", required=True, metavar="NAME")
        parser.add_argument("--bank", required=True, metavar="NAME")
        parser.add_argument("--before", type=int, required=True, metavar="N")
        parser.add_argument("--after", type=int, required=True, metavar="N")

    def handle(self, *args: Any, collection: str, bank: str, before: int, after: int, **options: Any) -> None:
        versions = BankVersion.objects.filter(bank__collection=the_collection(collection), bank__name=bank)
        found = {version.number: version for version in versions.filter(number__in=(before, after))}
        for number in (before, after):
            if number not in found:
                raise CommandError(f"The collection has no bank “{bank}” with a version {number}.")
        changes = changes_between(found[before], found[after])
        for one in changes:
            texts = " → ".join(entry.element.text for entry in (one.before, one.after) if entry)
            self.stdout.write("\t".join([one.topic, one.what, texts, "; ".join(one.details)]))
        if not changes:
            self.stderr.write("Nothing changed.")
