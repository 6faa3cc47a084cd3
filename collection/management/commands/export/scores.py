from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandParser

from collection.exporting.scores import exported_scores
from collection.formats.scores.tools import LABELS, SeveralCriteria
from collection.management.exporting import ExportCommand
from collection.models import Study
from collection.web.commands import add


class Command(ExportCommand):
    help = "Write a study's judgments to standard output as scores of another tool."
    refusals = (SeveralCriteria,)

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        add(parser, "--as", required=True, choices=list(LABELS))
        add(parser, "--criterion", default="")

    def pieces(self, of: Study, options: dict[str, Any]) -> Iterator[str]:
        return exported_scores(of, options["form"], criterion=options["criterion"])
