from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction
from django.utils.timezone import now

from collection.importing.commands import add_new_study, reading, say_imported, the_first_researcher, the_user
from collection.importing.datasets.clapnq import import_clapnq
from collection.importing.studies import closed_study_in
from collection.web.commands import SiteCommand, add


class Command(SiteCommand):
    help = (
        "Import CLAPNQ files: questions with their passages as a collection, answers as both rounds of a closed study."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        add(parser, "files")
        add_new_study(parser)

    @transaction.atomic
    def handle(self, *, files: list[Path], study: str, **options: Any) -> None:
        owner = the_user(options["owner"]) if options["owner"] else the_first_researcher()
        name = options["collection"] or study
        into = closed_study_in(name, name=study, title="CLAPNQ", owner=owner, source="CLAPNQ files")
        for path in files:
            with reading(path, quiet=options["quiet"]) as file:
                imported = import_clapnq(file=file, study=into, at=now())
            say_imported(self, imported, options, file=path.name)
