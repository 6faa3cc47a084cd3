from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandParser

from collection.exporting.identities import crowd_ids_of
from collection.exporting.judgments import exported_judgments, exported_parquet
from collection.management.exporting import ExportCommand
from collection.models import Study
from collection.web.commands import add


class Command(ExportCommand):
    help = "Write a study's judgments to standard output as a long table."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        add(parser, "--as", choices=["csv", "jsonl", "parquet"], default="csv")
        parser.add_argument(
            "--with-crowd-ids",
            action="store_true",
            help="add a column with the crowd workers' ids at their site: personal data, for paying them",
        )

    def file(self, of: Study, options: dict[str, Any]) -> str:
        return f"judgments.{options['form']}"

    def pieces(self, of: Study, options: dict[str, Any]) -> Iterator[str] | Iterator[bytes]:
        crowd_ids = crowd_ids_of(of) if options["with_crowd_ids"] else None
        if options["form"] == "parquet":
            return exported_parquet(of, crowd_ids=crowd_ids)
        return exported_judgments(of, table=options["form"], crowd_ids=crowd_ids)
