from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management import CommandError, CommandParser
from django.utils import timezone

from collection.web.commands import SiteCommand
from config.demonstration.loading import PASSWORD, PEOPLE, RESEARCHER, load_demonstration


class Command(SiteCommand):
    help = "Load the demonstration collection with its open study. If it is already there, nothing changes."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--force", action="store_true", help="load it though DEMONSTRATION is not set")

    def handle(self, *, force: bool, verbosity: int, **options: Any) -> None:
        if not (settings.DEMONSTRATION or force):
            raise CommandError(
                "Nothing was loaded: the demonstration brings log-ins with a public password. "
                "Set DEMONSTRATION=true if that is intended, or use --force."
            )
        study = load_demonstration(at=timezone.now())
        if verbosity == 0:
            return
        if study is None:
            self.stdout.write("The demonstration is already there: nothing changed.")
        else:
            names = ", ".join((RESEARCHER, *PEOPLE))
            self.stdout.write(f"The demonstration is loaded. Sign in as one of {names}, password {PASSWORD}.")
