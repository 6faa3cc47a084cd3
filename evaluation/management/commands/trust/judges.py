from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db.models import QuerySet

from collection.models import Study, User
from collection.web.commands import add
from collection.web.options import add_options, choose
from collection.web.report_commands import command_of
from evaluation.trust.overview import trust_in_judges
from evaluation.trust.reports import JudgeComparisonReport, SubmittedJudgesReport
from evaluation.trust.serializers import JudgesChoice, SubmissionsChoice


class Command(command_of(JudgeComparisonReport)):  # type: ignore[misc]  # a class that is made
    help = (
        "Judges beside people: all of them over all studies; with --study, those of a criterion on the same items; "
        "with FILEs, the judges whose qrels or evaluation files these are, beside the people of the study."
    )
    study_help = "compare the judges of this study's criterion, or the files with its people"

    def add_arguments(self, parser: CommandParser) -> None:
        add(parser, "files", nargs="*", help="with --study: qrels or evaluation files of judges")
        super().add_arguments(parser)
        parser.add_argument("--researcher", metavar="USER", help="over all studies: only those of this researcher")
        add_options(parser, JudgesChoice)
        add_options(parser, SubmissionsChoice)

    def answer(self, options: dict[str, Any]) -> tuple[dict[str, Any], str]:
        if options["files"]:
            return _of_files(options)
        answer: tuple[dict[str, Any], str] = super().answer(options) if options["study"] else _of_all(options)
        return answer


def _of_all(options: dict[str, Any]) -> tuple[dict[str, Any], str]:
    found = trust_in_judges(_studies(options["researcher"]), **choose(JudgesChoice, options))
    text = "\n".join([found.answer, "", found.table().text()])
    return found.as_dict(), text if found.rows else "No judge can be compared with humans yet."


def _studies(researcher: str | None) -> QuerySet[Study]:
    if researcher is None:
        return Study.objects.all()
    user = User.objects.filter(username=researcher, is_researcher=True).first()
    if user is None:
        names = ", ".join(
            User.objects.filter(is_researcher=True).order_by("username").values_list("username", flat=True)
        )
        raise CommandError(f"There is no researcher “{researcher}”. Researchers: {names or 'none yet'}.")
    return Study.objects.of(user)


def _of_files(options: dict[str, Any]) -> tuple[dict[str, Any], str]:
    if not options["study"]:
        raise CommandError("Name the --study whose people the files are compared with.")
    return command_of(SubmittedJudgesReport)().answer(options)
