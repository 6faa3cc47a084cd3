import tempfile
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction
from django.utils.timezone import now

from collection.importing.commands import add_random_sample, collection_of, progress_bar, the_study
from collection.importing.datasets.ir_dataset import Wanted, named_passages, write_files
from collection.importing.files import FilesOptions, import_files
from collection.importing.raters import raters_of
from collection.importing.serializers import FilesSerializer
from collection.models import Collection, Rater
from collection.web.commands import SiteCommand, add
from collection.web.options import add_options, choose
from stats.plurals import counted

SAID = ("criterion", "stray_grades", "relevant_from", "seed", "with_topics", "without_texts")


class FilesOfCommand(FilesSerializer):
    """What files do not say themselves; they are named one by one."""

    file = None  # type: ignore[assignment]  # DRF's way to leave a field out

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        return attrs


class Command(SiteCommand):
    help = "Import files into a collection, which is created if it is new: each is recognised by its content."

    def add_arguments(self, parser: CommandParser) -> None:
        add(parser, "files", nargs="*", help="in any order")
        add(parser, "--collection", required=True)
        add(parser, "--owner")
        people = "these qrels are people's, the others LLM judges'; called like the files"
        parser.add_argument("--people", nargs="+", default=[], metavar="FILE", help=people)
        add_random_sample(parser)
        add_options(parser, FilesOfCommand)
        add(parser, "--quiet", "--json")

    def handle(self, *, files: list[Path], quiet: bool, **options: Any) -> None:
        chosen = choose(FilesOfCommand, options)
        wanted = Wanted(chosen["ir_dataset"], chosen["with_qrels"], chosen["with_passages"])
        if not files and not wanted.ids:
            raise CommandError("Give files, or datasets with --ir-dataset ID.")
        with tempfile.TemporaryDirectory(prefix="assize-ir-") as folder:
            # Datasets are downloaded before the transaction begins.
            stored = Collection.objects.filter(name=options["collection"]).first()
            named = named_passages(stored) if stored and wanted.with_passages else set()
            files = [*files, *write_files(wanted, Path(folder), named=named)]
            size = sum(path.stat().st_size for path in files)
            with progress_bar("files", size, quiet=quiet) as bar, transaction.atomic():
                outcome = import_files(
                    files=[(path.name, path) for path in files],
                    collection=collection_of(options["collection"], options["owner"]),
                    options=FilesOptions(
                        study=the_study(chosen["study"]) if chosen["study"] else None,
                        raters=raters_of(chosen["rater"], chosen["judge"], unnamed_people=options["people"]),
                        others=Rater.Kind.JUDGE if chosen["judges"] or options["people"] else "",
                        formats=dict(chosen["format"]),
                        random_sample=options["random_sample"],
                        irrelevant=dict(chosen["irrelevant"]),
                        **{name: chosen[name] for name in SAID},
                    ),
                    at=now(),
                    advance=bar.update,
                )
        if self.as_json:
            answer = {name: getattr(outcome, name) for name in ("counts", "remarks", "flaws", "details")}
            self.say("", **answer)
            return
        for file in outcome.details["files"]:
            new = ", ".join(counted(new, name) for name, new, _ in file["counts"] if new) or "nothing new"
            result = f"not imported: {file['waits']}" if file["waits"] else new
            self.stdout.write(f"{file['name']} ({file['format']}): {result}")
        self.stdout.write("\n".join([*outcome.remarks, *outcome.flaws]))
