"""What the commands share that write a study or a collection to standard output."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, cast

from django.core.management.base import CommandParser

from collection.exporting.exports import EXPORTS, Export
from collection.finished_files import write_bytes, write_text
from collection.importing.commands import the_collection, the_study
from collection.web.commands import SiteCommand, add

NOT_TEXT = {"parquet": "Parquet is not text", "zip": "A zip is not text"}


class ExportCommand(SiteCommand):
    """Writes what `pieces` makes of a study, or of a collection: lines of text, or the bytes of a file."""

    of: ClassVar[str] = "study"

    def add_arguments(self, parser: CommandParser) -> None:
        add(parser, f"--{self.of}", required=True)

    def pieces(self, of: Any, options: dict[str, Any]) -> Iterable[str] | Iterable[bytes]:
        raise NotImplementedError

    def file(self, of: Any, options: dict[str, Any]) -> str:
        """Return what the file may be called: its ending says whether it is text."""
        return ""

    def handle(self, **options: Any) -> None:
        found = (the_study if self.of == "study" else the_collection)(options[self.of])
        pieces, name = self.pieces(found, options), self.file(found, options)
        if what := NOT_TEXT.get(name.rpartition(".")[2]):
            advice = f"{what}: write it to a file, with > {name}"
            write_bytes(self.stdout, cast("Iterable[bytes]", pieces), advice=advice)
        else:
            write_text(self.stdout, cast("Iterable[str]", pieces))


class DeclaredExport(ExportCommand):
    export: ClassVar[Export]

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        if self.export.forms:
            add(parser, "--as", required=True, choices=list(self.export.forms))
        for name, about in self.export.options.items():
            several = {"action": "append", "default": []} if name in self.export.repeated else {"default": ""}
            add(parser, f"--{name.replace('_', '-')}", help=about, **several)

    def pieces(self, of: Any, options: dict[str, Any]) -> Iterable[str] | Iterable[bytes]:
        asked = [*self.export.options, *(["form"] if self.export.forms else [])]
        return self.export.pieces(of, self.note, **{name: options[name] for name in asked})

    def file(self, of: Any, options: dict[str, Any]) -> str:
        return self.export.file(of, options.get("form", ""))


def command_of(name: str) -> type[DeclaredExport]:
    """Return the command of an export."""
    export = EXPORTS[name]
    parts = {"export": export, "help": export.about, "of": export.of, "refusals": export.refusals}
    return type("Command", (DeclaredExport,), parts)
