from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from django.utils.timezone import now

from collection.finished_files import write_file
from collection.judgments.judged_criteria import find_study
from collection.web.commands import EvaluationCommand
from collection.web.options import add_options, choose
from evaluation.rubrics.oracle import kept_as_run
from evaluation.rubrics.redundancy import redundancy_of
from evaluation.rubrics.serializers import RedundancyChoice
from stats.plurals import counted


class Command(EvaluationCommand):
    help = "Classify rated passages as CRUX does: 3 required, 2 partly and 1 fully redundant. Prints qrels."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, metavar="NAME")
        add_options(parser, RedundancyChoice)
        parser.add_argument("--output", type=Path, metavar="FILE", help="output file (default: standard output)")
        parser.add_argument("--json", action="store_true", help="print JSON instead")
        parser.add_argument("--keep-as", metavar="RUN", help="keep the required passages as a run, such as “oracle”")

    def handle(self, **options: Any) -> None:
        found = redundancy_of(find_study(options["study"]), **choose(RedundancyChoice, options))
        if options["keep_as"]:
            said, _ = kept_as_run(found, name=options["keep_as"], by=None, at=now())
            self.note(said)
        if options["json"]:
            self.print_json(found.as_dict())
            return
        if options["output"]:
            write_file(options["output"], found.qrels)
        else:
            self.stdout.write(found.qrels, ending="")
        counts = ", ".join(f"{n:,} {name}" for name, n in found.totals.items())
        self.note(f"{found.rule}: {counts} of {counted(len(found.topics), 'topics')}.")
        if found.summaries:
            self.note(found.summaries.answer)
