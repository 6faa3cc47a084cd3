"""manage.py compare_judges: all judges of a study's criterion on the same items."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from collection.judgments.judged_criteria import find_criterion
from collection.web.commands import FiguresCommand, add_study
from collection.web.options import add_options, choose
from evaluation.formats.text import estimate_text
from evaluation.trust.compared_judges import JudgeComparison
from evaluation.trust.comparison import compare_judges_of
from evaluation.trust.serializers import JudgeComparisonChoice
from stats.plurals import counted


class Command(FiguresCommand):
    help = "Compare all judges of a study: the best by κ, corrected for the choice, and which judges differ."

    def add_arguments(self, parser: CommandParser) -> None:
        add_study(parser)
        add_options(parser, JudgeComparisonChoice)
        super().add_arguments(parser)

    def answer(self, options: dict[str, Any]) -> tuple[dict[str, Any], str]:
        criterion = find_criterion(options["study"], options["criterion"])
        found = compare_judges_of(criterion, **choose(JudgeComparisonChoice, options))
        return found.as_dict(), "\n".join(_lines(found))


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
    if found.best_is_named:
        lines.append(f"best: {found.best}; κ corrected for the choice: {estimate_text(found.corrected)}")
    lines += [f"left out, asked about too few items: {name}" for name in found.left_out]
    return [*lines, *([f"{found.reason}."] if found.reason else [])]
