"""What an import would bring or brought, or what is wrong with its file, as a page shows it and a row keeps it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from collection.formats.problems import Problem
from collection.importing.rows import Imported
from stats.plurals import counted


@dataclass(frozen=True)
class ImportOutcome:
    """`counts` has a row for each sort of thing: its name in the plural, how many are new, how many known.

    `file` is the one of several files in which the problems stand; `details` is what the kind of file tells besides.
    """

    counts: Sequence[tuple[str, int, int]] = ()
    remarks: Sequence[str] = ()
    flaws: Sequence[str] = ()
    problems: Sequence[Problem] = ()
    file: str = ""
    details: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, imported: Imported) -> ImportOutcome:
        return cls(imported.counts(), list(imported.remarks), imported.flaw_lines())

    @classmethod
    def read(cls, stored: Any) -> ImportOutcome:
        """Return what `as_json` wrote."""
        return cls(
            [(name, new, known) for name, new, known in stored["counts"]],
            stored["remarks"],
            stored["flaws"],
            [Problem(**problem) for problem in stored["problems"]],
            stored["file"],
            stored.get("details", {}),
        )

    @property
    def changed(self) -> bool:
        """Whether anything is new."""
        return any(new for _, new, _ in self.counts)

    @property
    def waits(self) -> bool:
        """Whether a file was left out because it refers to what is not here."""
        return any(file["waits"] for file in self.details.get("files", []))

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    def told(self, name: str) -> str:
        """Return in a sentence what the file of this name brought."""
        if not self.changed:
            return f"Everything in “{name}” was already there: nothing changed."
        new = ", ".join(counted(count, what) for what, count, _ in self.counts if count)
        return f"“{name}” is imported: {new}."
