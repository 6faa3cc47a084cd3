from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandError, CommandParser

from collection.exporting.nugget_banks import NeedsOneTopic, exported_bank
from collection.formats.nugget_banks import FORMS
from collection.management.exporting import ExportCommand
from collection.models import BankVersion, Collection
from collection.web.commands import add


class Command(ExportCommand):
    help = "Write a version of a nugget bank to standard output, in the form that it came in or in another."
    of = "collection"
    refusals = (NeedsOneTopic,)

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        add(parser, "--bank", required=True)
        parser.add_argument("--bank-version", type=int, metavar="N", help="default: the newest")
        add(parser, "--as", choices=FORMS, help="default: the form that it came in")
        add(parser, "--topic", default="")

    def pieces(self, of: Collection, options: dict[str, Any]) -> Iterator[str]:
        versions = BankVersion.objects.filter(bank__collection=of, bank__name=options["bank"])
        if options["bank_version"] is not None:
            versions = versions.filter(number=options["bank_version"])
        version = versions.order_by("number").last()
        if version is None:
            raise CommandError(f"The collection has no bank “{options['bank']}”, or not in this version.")
        return exported_bank(version, form=options["form"], topic=options["topic"])
