from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from collection.web.commands import SiteCommand, add
from judging.prompts.placeholders import BadTemplate
from judging.prompts.template_files import read_template
from judging.prompts.template_versions import save_template


class Command(SiteCommand):
    help = "Store a prompt template from a TOML file. A different text under its name is a new version."
    refusals = (BadTemplate,)

    def add_arguments(self, parser: CommandParser) -> None:
        add(parser, "file", "--json")

    def handle(self, *, file: Path, **options: Any) -> None:
        template, new = save_template(read_template(file.read_bytes(), file_name=file.name))
        self.say(f"{template} is {'stored' if new else 'already stored'}.", template=str(template), new=new)
