"""With which probability an item was drawn to be judged, where the file that brings the judgments says it."""

from __future__ import annotations

from datetime import datetime

from collection.formats.problems import BrokenLine, InputFile
from collection.importing.rows import Imported
from collection.judgments.draws import draw_items
from collection.models import Draw, Study

IMPORTED = "imported"
DRAWN = ("item", "purpose", "inclusion_probability")
ONE_DRAW = "An item is drawn once: remove the line."


class DrawRows:
    """The draws of one file. Those that are stored must be the same, or their line is refused."""

    def __init__(self, study: Study, *, file: InputFile, imported: Imported, at: datetime) -> None:
        self.study = study
        self.file = file
        self.imported = imported
        self.at = at
        self.lines: dict[int, tuple[int, float]] = {}

    def add(self, number: int, item: int, probability: float | None) -> None:
        """Take what this line says of its item. Raises BrokenLine for two probabilities, or what cannot be one."""
        if probability is None:
            return
        if not 0 < probability <= 1:
            raise BrokenLine(
                f"An inclusion probability of {probability:g} is not above 0 and at most 1.", "Correct it."
            )
        self._refuse_another(self.lines.setdefault(item, (number, probability))[1], probability)

    def flush(self) -> None:
        """Store the draws that are new."""
        if not self.lines:
            return
        stored = Draw.objects.filter(item__study=self.study)
        before = {item: (purpose, probability) for item, purpose, probability in stored.values_list(*DRAWN)}
        new = {}
        for item, (number, probability) in self.lines.items():
            if item not in before:
                new[item] = probability
                continue
            with self.file.line(number):
                purpose, probability_before = before[item]
                if purpose != Draw.Purpose.SAMPLE:
                    raise BrokenLine(f"The item was drawn here as “{Draw.Purpose(purpose).label}”.", ONE_DRAW)
                self._refuse_another(probability_before, probability)
        draw_items(study=self.study, drawn=new, purpose=Draw.Purpose.SAMPLE, design=IMPORTED, at=self.at)
        self.imported.new["draws"] += len(new)
        self.imported.known["draws"] += len(self.lines) - len(new)

    def _refuse_another(self, before: float, probability: float) -> None:
        if before != probability:
            raise BrokenLine(
                f"The item was drawn with probability {before:g}; here it is {probability:g}.",
                "An item has one inclusion probability.",
            )
