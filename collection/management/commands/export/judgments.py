from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from collection.exporting.identities import crowd_ids_of
from collection.exporting.judgments import exported_judgments, exported_parquet
from collection.finished_files import write_bytes, write_text
from collection.importing.commands import the_study

NO_TEXT = "Parquet is not text: write it to a file, with > judgments.parquet"


class Command(BaseCommand):
    help = "Write a study's judgments to standard output as a long table."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--study", required=True, metavar="NAME")
        parser.add_argument("--format", choices=["csv", "jsonl", "parquet"], default="csv")
        parser.add_argument(
            "--with-crowd-ids",
            action="store_true",
            help="add a column with the crowd workers' ids at their site: personal data, for paying them",
        )

    def handle(self, *args: Any, study: str, **options: Any) -> None:
        found = the_study(study)
        crowd_ids = crowd_ids_of(found) if options["with_crowd_ids"] else None
        if options["format"] == "parquet":
            write_bytes(self.stdout, exported_parquet(found, crowd_ids=crowd_ids), advice=NO_TEXT)
            return
        write_text(self.stdout, exported_judgments(found, table=options["format"], crowd_ids=crowd_ids))
