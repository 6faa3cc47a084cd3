import tempfile
from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils.timezone import now

from collection.importing.commands import (
    add_declarations,
    add_relevant_from,
    collection_of,
    mended_by_the_reader,
    progress_bar,
    the_study,
)
from collection.importing.datasets.ir_dataset import Wanted, named_passages, write_files
from collection.importing.files import FilesOptions, import_files
from collection.importing.raters import rater_of_file, raters_of
from collection.importing.stray_grades import CHOICES
from collection.models import Collection, Rater
from stats.plurals import counted

SAID = ("criterion", "stray_grades", "relevant_from", "seed", "with_topics", "without_texts")


class Command(BaseCommand):
    help = "Import files into a collection, which is created if it is new: each is recognised by its content."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="in any order")
        parser.add_argument(
            "--ir-dataset",
            action="append",
            default=[],
            metavar="ID",
            help="a dataset of the package ir_datasets, of which topics come in",
        )
        parser.add_argument("--with-qrels", action="store_true", help="the datasets' qrels too")
        parser.add_argument(
            "--with-passages", action="store_true", help="the passages that their qrels or the collection's runs name"
        )
        parser.add_argument("--collection", required=True, metavar="NAME")
        parser.add_argument("--owner", metavar="USER", help="the owner, if the collection is new")
        parser.add_argument("--study", metavar="NAME", help="the study that judgments go into")
        parser.add_argument(
            "--criterion", default="", metavar="C", help="of scores whose file names none of the study's"
        )
        for kind, who in (("rater", "person, or people,"), ("judge", "LLM judge")):
            parser.add_argument(
                f"--{kind}",
                action="append",
                default=[],
                type=named,
                metavar="FILE=NAME",
                help=f"the {who} whose judgments these qrels are; a single file is otherwise of people called like it",
            )
        parser.add_argument(
            "--people", nargs="+", default=[], metavar="FILE", help="these qrels are people's, the others LLM judges'"
        )
        parser.add_argument(
            "--judges", action="store_true", help="all other qrels are of LLM judges called like the files"
        )
        parser.add_argument(
            "--format",
            action="append",
            default=[],
            type=named,
            metavar="FILE=FORMAT",
            help="where it may be of several",
        )
        parser.add_argument(
            "--stray-grades",
            choices=CHOICES,
            default=CHOICES[0],
            help="what becomes of grades that one file alone has, in fewer than 1 %% of its lines",
        )
        add_relevant_from(parser)
        parser.add_argument(
            "--seed", type=int, default=0, metavar="N", help="of the unanswerable Natural Questions that are drawn"
        )
        parser.add_argument("--with-topics", action="store_true", help="create missing topics with only an id")
        parser.add_argument("--without-texts", action="store_true", help="create missing passages with only an id")
        add_declarations(parser)
        parser.add_argument("--quiet", action="store_true", help="no progress bar")

    def handle(self, *args: Any, files: list[Path], quiet: bool, **options: Any) -> None:
        wanted = Wanted(options["ir_dataset"], options["with_qrels"], options["with_passages"])
        if not files and not wanted.ids:
            raise CommandError("Give files, or datasets with --ir-dataset ID.")
        with mended_by_the_reader(OSError), tempfile.TemporaryDirectory(prefix="assize-ir-") as folder:
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
                        study=the_study(options["study"]) if options["study"] else None,
                        raters=raters_of(options["rater"], options["judge"], unnamed_people=options["people"]),
                        others=Rater.Kind.JUDGE if options["judges"] or options["people"] else "",
                        formats=dict(options["format"]),
                        random_sample=options["random_sample"],
                        irrelevant=dict(options["irrelevant"]),
                        **{name: options[name] for name in SAID},
                    ),
                    at=now(),
                    advance=bar.update,
                )
        for file in outcome.details["files"]:
            new = ", ".join(counted(new, name) for name, new, _ in file["counts"] if new) or "nothing new"
            said = f"not imported: {file['waits']}" if file["waits"] else new
            self.stdout.write(f"{file['name']} ({file['format']}): {said}")
        self.stdout.write("\n".join([*outcome.remarks, *outcome.flaws]))


def named(written: str) -> tuple[str, str]:
    try:
        return rater_of_file(written)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from error
