from typing import Any

from django.core.management.base import CommandParser
from django.utils.timezone import now

from collection.formats.problems import InputFile
from collection.formats.scores.tools import READ
from collection.importing.commands import ImportCommand, the_study
from collection.importing.datasets.scores import RATER_KINDS, import_scores
from collection.importing.rows import Imported
from collection.web.commands import add


class Command(ImportCommand):
    help = "Import another tool's scores into a study as judgments."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        add(parser, "--study", required=True)
        add(parser, "--as", default="", choices=READ, help="recognised where left out")
        add(parser, "--criterion", default="", help="instead of the file's; of Ragas's metrics, this one")
        add(parser, "--rater", default="", help="of scores that do not say whose they are")
        parser.add_argument(
            "--kind",
            default="",
            choices=list(RATER_KINDS),
            help="of raters of whom the file does not say it (human in AltTest's, LLM in others)",
        )

    def bring(self, file: InputFile, **options: Any) -> Imported:
        given = {name: options[name] for name in ("form", "criterion", "rater", "kind")}
        return import_scores(file=file, study=the_study(options["study"]), at=now(), **given)
