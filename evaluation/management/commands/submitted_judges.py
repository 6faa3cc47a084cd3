"""manage.py submitted_judges: judges' qrels and evaluation files beside the people of a study."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from collection.formats.problems import BrokenFile
from collection.judgments.judged_criteria import find_criterion
from collection.web.commands import FiguresCommand, add_study
from collection.web.options import add_options, choose
from evaluation.formats.text import estimate_text
from evaluation.trust.serializers import SubmissionsChoice
from evaluation.trust.submitted.submissions import SubmittedJudges, compare_submissions
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
        return found.as_dict(), "\n".join(_lines(found))


def _lines(found: SubmittedJudges) -> list[str]:
    lines = list(found.answer)
    if found.comparison:
        of = found.comparison
        lines.append(f"{counted(of.n_items, 'items')} of {counted(of.n_topics, 'topics')} under {found.criterion}")
    for one in found.submissions:
        lines.append(f"{one.name}{f' ({one.mark})' if one.mark else ''}")
        figures = {"κ": one.kappa, "α": one.alpha, "τ_b": one.kendall, "τ_AP": one.tau_ap}
        lines += [f"  {name:<6}{estimate_text(figure)}" for name, figure in figures.items()]
    return [*lines, *found.notes]
