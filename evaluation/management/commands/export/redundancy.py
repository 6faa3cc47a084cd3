from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser
from django.utils.timezone import now

from collection.finished_files import write_file
from collection.judgments.judged_criteria import find_study
from collection.web.commands import SiteCommand, add
from collection.web.options import add_options, choose
from evaluation.rubrics.oracle import kept_as_run
from evaluation.rubrics.redundancy import measure_redundancy
from evaluation.rubrics.serializers import RedundancyChoice
from stats.plurals import counted


class Command(SiteCommand):
    help = "Classify rated passages as CRUX does: 3 required, 2 partly and 1 fully redundant. Prints qrels."

    def add_arguments(self, parser: CommandParser) -> None:
        add(parser, "--study", required=True)
        add_options(parser, RedundancyChoice)
        add(parser, "--out")
        add(parser, "--json")
        parser.add_argument("--keep-as", metavar="RUN", help="keep the required passages as a run, such as “oracle”")

    def handle(self, **options: Any) -> None:
        found = measure_redundancy(find_study(options["study"]), **choose(RedundancyChoice, options))
        if options["keep_as"]:
            said, _ = kept_as_run(found, name=options["keep_as"], by=None, at=now())
            self.note(said)
        if options["json"]:
            self.print_json(found.as_dict())
            return
        if options["out"]:
            write_file(options["out"], found.qrels)
        else:
            self.stdout.write(found.qrels, ending="")
        counts = ", ".join(f"{n:,} {name}" for name, n in found.totals.items())
        self.note(f"{found.rule}: {counts} of {counted(len(found.topics), 'topics')}.")
        if found.summaries:
            self.note(found.summaries.answer)
