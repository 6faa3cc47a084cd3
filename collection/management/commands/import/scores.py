from argparse import ArgumentParser
from typing import Any

from django.utils.timezone import now

from collection.formats.problems import InputFile
from collection.formats.scores.tools import READ
from collection.importing.commands import ImportCommand, the_study
from collection.importing.datasets.scores import RATER_KINDS, import_scores
from collection.importing.rows import Imported


class Command(ImportCommand):
    help = "Import another tool's scores into a study as judgments."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--study", required=True, metavar="NAME")
        parser.add_argument("--as", default="", dest="form", choices=READ, help="told from the file where left out")
        parser.add_argument(
            "--criterion", default="", metavar="C", help="instead of the file's; of Ragas's metrics, this one"
        )
        parser.add_argument("--rater", default="", metavar="NAME", help="of scores that do not say whose they are")
        parser.add_argument(
            "--kind",
            default="",
            choices=list(RATER_KINDS),
            help="of raters of whom the file does not say it (human in AltTest's, LLM in others)",
        )

    def bring(self, file: InputFile, **options: Any) -> Imported:
        said = {name: options[name] for name in ("form", "criterion", "rater", "kind")}
        return import_scores(file=file, study=the_study(options["study"]), at=now(), **said)
