from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.utils.timezone import now

from collection.importing.commands import the_user
from collection.questions.documents import BadQuestion, make_question, read_question


class Command(BaseCommand):
    help = "Store questions of your own from TOML files, all or none: docs/task-types.md shows one."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", metavar="FILE", nargs="+", type=Path, help="A question in TOML.")
        parser.add_argument("--by", required=True, metavar="USER", help="Whose questions they are.")

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        by = the_user(options["by"])
        for path in options["files"]:
            try:
                name, document = read_question(path.read_bytes(), file_name=path.name)
                made = make_question(name=name, document=document, by=by, at=now())
            except (BadQuestion, OSError) as refusal:
                raise CommandError(f"{path.name}: {refusal}") from refusal
            self.stdout.write(f"“{made}” is stored as {made.name}.")
