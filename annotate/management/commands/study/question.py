from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction
from django.utils.timezone import now

from collection.importing.commands import the_user
from collection.questions.documents import BadQuestion, make_question, read_question
from collection.web.commands import SiteCommand, add


class Command(SiteCommand):
    help = "Store questions of your own from TOML files, all or none: docs/task-types.md shows one."
    refusals = (BadQuestion,)

    def add_arguments(self, parser: CommandParser) -> None:
        add(parser, "files")
        add(parser, "--by", required=True)
        add(parser, "--json")

    def handle(self, **options: Any) -> None:
        by, made = the_user(options["by"]), []
        with transaction.atomic():
            for path in options["files"]:
                name, document = read_question(path.read_bytes(), file_name=path.name)
                try:
                    made.append(make_question(name=name, document=document, by=by, at=now()))
                except BadQuestion as refusal:
                    raise BadQuestion(f"{path.name}: {refusal}") from refusal
        self.say("\n".join(f"“{one}” is stored as {one.name}." for one in made), questions=[one.name for one in made])
