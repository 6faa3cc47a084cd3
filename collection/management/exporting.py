"""What the commands share that write a study or a collection to standard output."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, cast

from django.core.management.base import CommandParser

from collection.finished_files import write_bytes, write_text
from collection.importing.commands import the_collection, the_study
from collection.web.commands import SiteCommand, add


class ExportCommand(SiteCommand):
    """Writes what `pieces` makes of a study, or of a collection: lines of text, or bytes of a `binary` file."""

    of: ClassVar[str] = "study"

    def add_arguments(self, parser: CommandParser) -> None:
        add(parser, f"--{self.of}", required=True)

    def pieces(self, of: Any, options: dict[str, Any]) -> Iterable[str] | Iterable[bytes]:
        raise NotImplementedError

    def advice(self, options: dict[str, Any]) -> str:
        """Say what to do with pieces that are not text, and must not go to a terminal; empty where they are text."""
        return ""

    def handle(self, **options: Any) -> None:
        found = (the_study if self.of == "study" else the_collection)(options[self.of])
        pieces = self.pieces(found, options)
        if advice := self.advice(options):
            write_bytes(self.stdout, cast("Iterable[bytes]", pieces), advice=advice)
        else:
            write_text(self.stdout, cast("Iterable[str]", pieces))
