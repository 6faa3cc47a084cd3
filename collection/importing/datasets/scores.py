"""Scores of tools for LLM applications into a study: through the judgments table, by its rules."""

from __future__ import annotations

import json
import tempfile
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from django.db import transaction

from collection.formats.problems import BrokenFile, BrokenLine, InputFile, Problem
from collection.formats.scores.rows import SCORED_BY, RaterKind, ScoreRow, Unsaid
from collection.formats.scores.tools import read_scores
from collection.importing.judgment_table import import_judgments
from collection.importing.rows import Imported
from collection.models import Criterion, Item, Judgment, Rater, Study
from collection.models.studies import TaskType
from collection.models.texts import text_hash

RATER_KINDS: dict[RaterKind, str] = {"human": "assessor", "LLM": "judge", "code": "judge"}
NAMED = "The file names its raters, but does not say whether they are people: of what is asked, only that counts."
NOT_ASKED = "The study asks about no such text for this query."
AMBIGUOUS = "The study asks several questions about this text."
Texts = dict[tuple[str, str], str | None]


@transaction.atomic
def import_scores(
    *,
    file: InputFile,
    study: Study,
    at: datetime,
    form: str = "",
    criterion: str = "",
    rater: str = "",
    kind: RaterKind | Literal[""] = "",
) -> Imported:
    """Bring in the file's scores as judgments of imported raters. Raises BrokenFile, and has then changed nothing.

    The form is told from the file where it is not said. A target is an item's id, or found by its query and text.
    `criterion` takes the place of the file's (of Ragas's metrics it chooses one); `rater` and `kind` are those of
    scores that name nobody, or do not say of which kind. Rationales are kept beside the judgments.
    """
    unsaid, texts = Unsaid(criterion, rater, kind), _Texts(study)
    criteria = {one.name: one for one in study.criteria.select_related("scale")}
    lines: list[int] = []
    code: set[str] = set()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / (Path(file.name).name or "scores")
        with path.open("w", encoding="utf-8") as table, file:
            for number, row in read_scores(file, form, unsaid):
                with file.line(number):
                    name = criterion or row.criterion
                    found = _judgment(row, row.target or texts.item(row), name, criteria.get(name))
                    table.write(json.dumps(found, ensure_ascii=False) + "\n")
                    lines.append(number)
                    code |= {row.rater} if row.kind == "code" else set()
        if not lines:
            raise BrokenFile(file.name, [Problem(None, "There is no score in the file.")])
        imported = _imported(path, file.name, lines, study, at=at)
    _note_code(study, code)
    imported.asks_for_rater = bool(unsaid.asked)
    if unsaid.asked == {"kind"}:
        imported.remarks.append(NAMED)
    return imported


def _imported(path: Path, name: str, lines: list[int], study: Study, *, at: datetime) -> Imported:
    """Import the table; what is wrong with it is told by the lines of the file that it was made of."""
    try:
        return import_judgments(file=InputFile(path, name=name), study=study, at=at)
    except BrokenFile as broken:
        told = [Problem(one.line and lines[one.line - 1], one.reason, one.remedy) for one in broken.problems]
        raise BrokenFile(name, told) from broken


def _note_code(study: Study, names: set[str]) -> None:
    """Note which raters are pieces of code: judges here, and scores of code when they go out again."""
    for rater in Rater.objects.filter(collection=study.collection, kind=Rater.Kind.JUDGE, name__in=names):
        rater.attributes = {**rater.attributes, SCORED_BY: "code"}
        rater.save(update_fields=["attributes"])


class _Texts:
    """The study's items by the request and the hash of the text; they are read when the first is asked for."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.known: Texts | None = None

    def item(self, row: ScoreRow) -> str:
        """Return the id of the only item of this text. Raises BrokenLine."""
        if self.known is None:
            self.known = {**self._of("report"), **self._of("passage", task_type=TaskType.RELEVANCE)}
        key = row.query, text_hash(row.text)
        if key not in self.known:
            raise BrokenLine(NOT_ASKED, "Both texts must be those of the collection.")
        found = self.known[key]
        if found is None:
            raise BrokenLine(AMBIGUOUS, "Give the item’s id in a column item_id.")
        return found

    def _of(self, text: str, **only: str) -> Texts:
        items = Item.objects.filter(study=self.study, other_report=None, **only, **{f"{text}__text__isnull": False})
        found: Texts = {}
        for request, sha256, item in items.values_list("topic__request", f"{text}__text_sha256", "item_id"):
            found[request, sha256] = None if (request, sha256) in found else item
        return found


def _judgment(row: ScoreRow, target: str, name: str, criterion: Criterion | None) -> dict[str, Any]:
    """Return a row of the judgments table. Raises BrokenLine for a label that is none of the criterion's grades."""
    found: dict[str, Any] = {
        "item_id": target,
        "criterion": name,
        "rater": row.rater,
        "rater_kind": RATER_KINDS[row.kind],
        "grade": _grade(row.label, criterion) if row.label and criterion else row.value,
    }
    if row.value is None and not row.label:
        known = set(Judgment.Ungraded.values)
        found["ungraded"] = row.ungraded if row.ungraded in known else Judgment.Ungraded.UNREADABLE
    if row.at:
        found["judged_at"] = row.at
    if row.rationale.strip():
        found["highlights"] = [{"purpose": "rationale", "quote": row.rationale}]
    return found


def _grade(label: str, criterion: Criterion) -> float:
    """Return the grade that the criterion's scale calls so."""
    by_name = {point["name"].casefold(): float(point["value"]) for point in criterion.scale.points}
    try:
        return by_name[label.strip().casefold()]
    except KeyError:
        names = ", ".join(point["name"] for point in criterion.scale.points)
        raise BrokenLine(f"“{label}” is not a grade of “{criterion.name}”.", f"Its grades are {names}.") from None
