from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser
from django.utils.timezone import now

from collection.importing.commands import the_collection
from collection.web.commands import FiguresCommand, add
from collection.web.options import add_options, choose
from evaluation.agreement.nuggets.listing import list_as_reports
from evaluation.agreement.nuggets.report import ComparedSets, compare_sets
from evaluation.agreement.nuggets.serializers import NuggetAgreementChoice
from stats.plurals import counted


class Command(FiguresCommand):
    help = "Match the nuggets of two banks, versions or creators one to one, with precision, recall and F1 over topics."

    def add_arguments(self, parser: CommandParser) -> None:
        add(parser, "--collection", required=True)
        add_options(parser, NuggetAgreementChoice)
        parser.add_argument(
            "--list-as",
            metavar="RUN",
            help="write the second set out as the reports of this new run instead, for people or judges to match",
        )
        super().add_arguments(parser)

    def answer(self, options: dict[str, Any]) -> tuple[dict[str, Any], str]:
        collection = the_collection(options["collection"])
        chosen = choose(NuggetAgreementChoice, options)
        if options["list_as"]:
            made = list_as_reports(collection, chosen["second"], run=options["list_as"], by=None, at=now())
            n = made.reports.count()
            return {"run": made.name, "reports": n}, f"{counted(n, 'reports')} of the run “{made}” list them."
        found = compare_sets(collection, user=None, **chosen)
        return found.as_dict(), "\n".join(_lines(found))


def _lines(found: ComparedSets) -> list[str]:
    lines = [found.answer, found.rule, *(f"\n{table.text()}" for table in found.tables)]
    for topic in found.by_topic:
        lines += ["", f"{topic.topic}: F1 {topic.f1:.3f}"]
        for pair in topic.pairs:
            lines += [f"  {pair.similarity:.2f}  {pair.first.text}", f"        {pair.second.text}"]
        lines += [f"  first alone: {one.text}" for one in topic.first_alone]
        lines += [f"  second alone: {one.text}" for one in topic.second_alone]
    return lines
