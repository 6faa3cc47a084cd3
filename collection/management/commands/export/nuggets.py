from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from collection.exporting.nugget_banks import NeedsOneTopic, exported_bank
from collection.finished_files import write_text
from collection.formats.nugget_banks import FORMS
from collection.importing.commands import the_collection
from collection.models import BankVersion


class Command(BaseCommand):
    help = "Write a version of a nugget bank to standard output, in the form that it came in or in another."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--collection", required=True, metavar="NAME")
        parser.add_argument("--bank", required=True, metavar="NAME")
        parser.add_argument("--bank-version", type=int, metavar="N", help="default: the newest")
        parser.add_argument("--form", choices=FORMS)
        parser.add_argument("--topic", default="", metavar="ID", help="this topic alone")

    def handle(self, *args: Any, collection: str, bank: str, **options: Any) -> None:
        versions = BankVersion.objects.filter(bank__collection=the_collection(collection), bank__name=bank)
        if options["bank_version"] is not None:
            versions = versions.filter(number=options["bank_version"])
        version = versions.order_by("number").last()
        if version is None:
            raise CommandError(f"The collection has no bank “{bank}”, or not in this version.")
        try:
            write_text(self.stdout, exported_bank(version, form=options["form"], topic=options["topic"]))
        except NeedsOneTopic as refused:
            raise CommandError(str(refused)) from refused
