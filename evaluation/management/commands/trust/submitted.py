from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from collection.formats.problems import BrokenFile
from collection.judgments.judged_criteria import find_criterion
from collection.web.commands import FiguresCommand, add_study
from collection.web.options import add_options, choose
from evaluation.trust.serializers import SubmissionsChoice
from evaluation.trust.submitted.submissions import compare_submissions
from stats.plurals import counted


class Command(FiguresCommand):
    help = "Compare judges' files with people: κ and α of grades, τ_b and τ_AP of the order of systems."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="qrels or an evaluation file")
        add_study(parser)
        add_options(parser, SubmissionsChoice)
        super().add_arguments(parser)

    def answer(self, options: dict[str, Any]) -> tuple[dict[str, Any], str]:
        criterion = find_criterion(options["study"], options["criterion"])
        files = [(str(path), path) for path in options["files"]]
        try:
            found = compare_submissions(criterion, files, **choose(SubmissionsChoice, options))
        except BrokenFile as broken:
            raise CommandError(str(broken)) from broken
        of = found.comparison
        on = f"{counted(of.n_items, 'items')} of {counted(of.n_topics, 'topics')} under {found.criterion}" if of else ""
        return found.as_dict(), "\n".join([*found.answer, *filter(None, [on]), found.table().text(), *found.notes])
