from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from django.utils.timezone import now

from collection.importing.commands import add_new_study, progress_bar, say_imported, the_first_researcher, the_user
from collection.importing.datasets.crux import import_crux
from collection.models import Collection
from collection.web.commands import SiteCommand


class Command(SiteCommand):
    help = "Import a folder of CRUX's labelling platform: its texts as a collection, its labels as a closed study."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, metavar="DIR", help="the folder")
        add_new_study(parser)

    def handle(self, *, folder: Path, study: str, **options: Any) -> None:
        name = options["collection"] or study
        stored = Collection.objects.filter(name=name).first()
        owner = the_user(options["owner"]) if options["owner"] else stored.owner if stored else the_first_researcher()
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        into: dict[str, Any] = {"study_name": study, "collection_name": name, "owner": owner}
        with progress_bar(folder.name, size, quiet=options["quiet"]) as bar:
            imported = import_crux(folder=folder, **into, at=now(), advance=bar.update)
        say_imported(self, imported, options)
