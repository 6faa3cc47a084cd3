from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand
from django.utils.timezone import now

from collection.importing.commands import mended_by_the_reader, progress_bar, the_first_researcher, the_user
from collection.importing.datasets.crux import import_crux
from collection.models import Collection


class Command(BaseCommand):
    help = "Import a folder of CRUX's labelling platform: its texts as a collection, its labels as a closed study."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, metavar="DIR")
        parser.add_argument("--study", required=True, metavar="NAME")
        parser.add_argument("--collection", metavar="NAME", help="default: the study's name")
        parser.add_argument(
            "--owner", metavar="USER", help="the owner of the new collection and study; default: the first researcher"
        )
        parser.add_argument("--quiet", action="store_true", help="no progress bar")

    def handle(self, *args: Any, folder: Path, **options: Any) -> None:
        name = options["collection"] or options["study"]
        stored = Collection.objects.filter(name=name).first()
        owner = the_user(options["owner"]) if options["owner"] else stored.owner if stored else the_first_researcher()
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())

        with mended_by_the_reader(), progress_bar(folder.name, size, quiet=options["quiet"]) as bar:
            imported = import_crux(
                folder=folder,
                study_name=options["study"],
                collection_name=name,
                owner=owner,
                at=now(),
                advance=bar.update,
            )

        self.stdout.write(imported.told(everything=options["verbosity"] > 1))
