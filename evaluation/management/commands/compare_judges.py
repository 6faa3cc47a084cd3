"""manage.py compare_judges: all judges of a study's criterion on the same items."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from evaluation.data.judgments import CriterionNotFound, find_criterion
from evaluation.formats.text import estimate_text
from evaluation.management.base import EvaluationCommand
from evaluation.trust.comparison import JudgeComparison, JudgeNotCompared, compare_judges_of
from stats.plurals import counted


class Command(EvaluationCommand):
    help = "Compare all judges of a study: the best by κ, corrected for the choice, and which judges differ."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", metavar="NAME", required=True)
        parser.add_argument("--criterion", metavar="C", help="the criterion, if there are several")
        parser.add_argument(
            "--against", default="", metavar="JUDGE", help="differences from this judge instead of the best"
        )
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, **options: Any) -> None:
        try:
            criterion = find_criterion(options["study"], options["criterion"])
            found = compare_judges_of(criterion, against=options["against"])
        except (CriterionNotFound, JudgeNotCompared) as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.print_json(found.as_dict())
        else:
            self.stdout.write("\n".join(_lines(found)))


def _lines(found: JudgeComparison) -> list[str]:
    part = ", development topics" if found.development else ""
    lines = [f"{counted(found.n_items, 'items')} of {counted(found.n_topics, 'topics')}{part}; κ of yes and no"]
    width = max((len(one.completeness.after(one.name)) for one in found.judges), default=0)
    for one in found.judges:
        line = f"  {one.completeness.after(one.name):<{width}}  {estimate_text(one.kappa)}"
        if one.difference is not None and one.low is not None and one.high is not None:
            mark = "  differs" if one.told_apart else ""
            line += f"  {one.difference:+.3f} ({one.low:+.3f} to {one.high:+.3f}) to {found.against}{mark}"
        lines.append(line)
    if found.best:
        lines.append(f"best: {found.best}; κ corrected for the choice: {estimate_text(found.corrected)}")
    lines += [f"left out, asked about too few items: {name}" for name in found.left_out]
    return [*lines, *([f"{found.reason}."] if found.reason else [])]
