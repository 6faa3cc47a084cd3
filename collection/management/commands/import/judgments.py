from typing import Any

from django.core.management.base import CommandParser
from django.utils.timezone import now

from collection.formats.problems import InputFile
from collection.importing.commands import ImportCommand, the_study
from collection.importing.judgment_table import import_judgments
from collection.importing.rows import Imported
from collection.web.commands import add


class Command(ImportCommand):
    help = "Import a long judgments table, CSV or JSONL, into a study."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        add(parser, "--study", required=True)

    def bring(self, file: InputFile, **options: Any) -> Imported:
        return import_judgments(file=file, study=the_study(options["study"]), at=now())
