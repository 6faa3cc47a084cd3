"""manage.py bank_check: bad questions, relevant passages that no question covers, and questions asked twice."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from collection.judgments.judged_criteria import find_study
from collection.web.commands import FiguresCommand
from collection.web.options import add_options, choose
from evaluation import computations
from evaluation.rubrics.bank_check import BankCheck
from evaluation.rubrics.serializers import BankCheckChoice
from stats.plurals import counted

MOST_PRINTED = 20


class Command(FiguresCommand):
    help = "Show what is wrong with a bank of questions: bad ones, relevant passages not covered, and duplicates."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, metavar="NAME")
        add_options(parser, BankCheckChoice)
        super().add_arguments(parser)

    def answer(self, options: dict[str, Any]) -> tuple[dict[str, Any], str]:
        found = computations.bank_check(find_study(options["study"]), **choose(BankCheckChoice, options))
        return found.as_dict(), "\n".join(_lines(found))


def _lines(found: BankCheck) -> list[str]:
    lines = [found.graded.answer if found.graded else found.reason]
    if found.graded and found.graded.simulated:
        lines.append("Some of these judgments were made by a simulation.")
    lines += [
        f"  {one.topic}  {one.n_wrongly:,} of {one.n_not_relevant:,}  {text or one.question}"
        for one, text in found.shown_bad[:MOST_PRINTED]
    ]
    lines.append(f"{counted(len(found.duplicates), 'pairs')} of questions with ROUGE-L above {found.likeness:g}.")
    lines += [
        f"  {one.topic}  {one.likeness:.2f}  {first}  =  {second}"
        for one, first, second in found.shown_duplicates[:MOST_PRINTED]
    ]
    return lines
