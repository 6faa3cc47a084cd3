from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db.models import QuerySet

from collection.models import Study, User
from collection.web.commands import FiguresCommand
from collection.web.options import add_options, choose
from evaluation.trust.overview import trust_in_judges
from evaluation.trust.serializers import JudgesChoice


class Command(FiguresCommand):
    help = "How far each judge can be trusted: every judge compared with assessors, over all studies."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--researcher", metavar="USER", help="only the studies of this researcher")
        add_options(parser, JudgesChoice)
        super().add_arguments(parser)

    def answer(self, options: dict[str, Any]) -> tuple[dict[str, Any], str]:
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
