from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from collection.importing.commands import mended_by_the_reader
from judging.prompts.placeholders import BadTemplate
from judging.prompts.template_files import read_template
from judging.prompts.template_versions import save_template


class Command(BaseCommand):
    help = "Store a prompt template from a TOML file. A different text under its name is a new version."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        with mended_by_the_reader(BadTemplate, OSError):
            template, new = save_template(read_template(path.read_bytes(), file_name=path.name))
        self.stdout.write(f"{template} is {'stored' if new else 'already stored'}.")
