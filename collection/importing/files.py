"""Several files in one import, in any order: each recognised by its content, all of them or none.

What a file refers to may be in another of them. A file that names topics or passages which are nowhere waits: it is
left out, and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from django.db import transaction

from collection.formats.problems import BrokenFile, InputFile, Problem, Waits
from collection.formats.recognition import recognised
from collection.formats.trec import read_qrels
from collection.importing.collections import import_collection
from collection.importing.datasets.clapnq import import_clapnq
from collection.importing.judgment_table import import_judgments
from collection.importing.outcomes import ImportOutcome
from collection.importing.rows import Imported
from collection.importing.studies import closed_study
from collection.importing.trec import (
    QRELS_GRADES,
    import_passages,
    import_qrels,
    import_run,
    import_topics,
    relevance_criterion_of,
)
from collection.judgments.recording import imported_rater
from collection.models import Collection, Rater, Study

# Each needs only what stands before it.
ORDER = ("assize", "topics", "passages", "clapnq", "run", "qrels", "judgments")
Advance = Callable[[int], object]
MOST_CHARACTERS = 200


@dataclass(frozen=True)
class QrelsRater:
    """Whose judgments qrels are."""

    name: str
    kind: str = Rater.Kind.ASSESSOR


def rater_of_file(written: str) -> tuple[str, str]:
    """Return the name of the file and of the rater in “FILE=NAME”. Raises ValueError."""
    file, _, rater = written.partition("=")
    if not file.strip() or not rater.strip():
        raise ValueError(f"“{written}” is not FILE=NAME.")
    if len(rater) > MOST_CHARACTERS:
        raise ValueError(f"The name of the rater of {file} has more than {MOST_CHARACTERS} characters.")
    return Path(file).name, rater.strip()


def raters_of(people: Iterable[tuple[str, str]], judges: Iterable[tuple[str, str]]) -> dict[str, QrelsRater]:
    """Return whose judgments the qrels of these files are."""
    found = {file: QrelsRater(name) for file, name in people}
    return found | {file: QrelsRater(name, Rater.Kind.JUDGE) for file, name in judges}


@dataclass(frozen=True)
class FilesOptions:
    """What files do not say themselves. `raters` are those of qrels by file name; without one it is the name's stem.

    `study` is the one that judgments go into; where none is given, qrels and written answers go into closed ones.
    """

    study: Study | None = None
    raters: Mapping[str, QrelsRater] = field(default_factory=dict)
    relevant_from: float | None = None
    with_topics: bool = False
    without_texts: bool = False

    def rater_of(self, name: str) -> QrelsRater:
        return self.raters.get(name) or QrelsRater(Path(name).stem)


@dataclass(frozen=True)
class _File:
    name: str
    path: Path
    file_format: str


@transaction.atomic
def import_files(
    *,
    files: Sequence[tuple[str, Path]],
    collection: Collection,
    options: FilesOptions,
    at: datetime,
    advance: Advance | None = None,
) -> ImportOutcome:
    """Import files, each with its name. Raises BrokenFile and ValidationError, and has then changed nothing.

    The outcome's `details["files"]` has for each file its name, format, counts, and why it waits.
    """
    known = [_File(name, path, recognised(path, name=name)) for name, path in files]
    if zipped := next((file for file in known if file.file_format == "zip"), None):
        raise BrokenFile(zipped.name, [Problem(None, "A zip among other files cannot be imported.", "Unpack it.")])
    grades = _grades_of([file for file in known if file.file_format == "qrels"])
    together, told = Imported(), []
    for file in sorted(known, key=lambda file: ORDER.index(file.file_format)):
        opened = InputFile(file.path, name=file.name, advance=advance)
        try:
            with transaction.atomic():
                imported = _import(opened, file, collection, options, grades=grades, at=at)
            waits = ""
        except Waits as waiting:
            imported = Imported()
            waits = " ".join(map(str, waiting.problems))
        together.add(imported)
        counts = ImportOutcome.of(imported).counts
        told.append({"name": file.name, "format": file.file_format, "counts": counts, "waits": waits})
    whole = ImportOutcome.of(together)
    return ImportOutcome(whole.counts, whole.remarks, whole.flaws, details={"files": told})


def _import(
    opened: InputFile,
    file: _File,
    collection: Collection,
    options: FilesOptions,
    *,
    grades: Sequence[float],
    at: datetime,
) -> Imported:
    match file.file_format:
        case "assize":
            return import_collection(file=opened, collection=collection)
        case "topics":
            return import_topics(file=opened, collection=collection)
        case "passages":
            return import_passages(file=opened, collection=collection)
        case "run":
            return import_run(file=opened, collection=collection, with_topics=options.with_topics)
        case "clapnq":
            study = study_for(options.study, collection, suffix="answers", source="CLAPNQ files")
            return telling(import_clapnq(file=opened, study=study, at=at), study, options.study)
        case "qrels":
            return _import_qrels(opened, file, collection, options, grades=grades, at=at)
        case _:
            if options.study is None:
                remedy = "Create the study with its criteria first, then choose it beside the files."
                raise Waits(file.name, [Problem(None, "A judgments table needs a study.", remedy)])
            return import_judgments(file=opened, study=options.study, at=at)


def _import_qrels(
    opened: InputFile,
    file: _File,
    collection: Collection,
    options: FilesOptions,
    *,
    grades: Sequence[float],
    at: datetime,
) -> Imported:
    study = study_for(options.study, collection, suffix="qrels", source="TREC qrels")
    criterion = relevance_criterion_of(study, grades=grades, relevant_from=options.relevant_from)
    whose = options.rater_of(file.name)
    rater = imported_rater(collection, kind=whose.kind, name=whose.name, source=file.name)
    imported = import_qrels(
        file=opened,
        criterion=criterion,
        rater=rater,
        without_texts=options.without_texts,
        with_topics=options.with_topics,
        at=at,
    )
    return telling(imported, study, options.study)


def _grades_of(qrels: Sequence[_File]) -> Sequence[float]:
    """Return the grades of a scale on which all these qrels are: the shipped one's where it has them."""
    found = {line.grade for file in qrels for _, line in read_qrels(InputFile(file.path, name=file.name))}
    return QRELS_GRADES if found <= set(QRELS_GRADES) else sorted(found)


def study_for(study: Study | None, collection: Collection, *, suffix: str, source: str) -> Study:
    """Return the study; without one the collection's closed one for such judgments, made if new."""
    if study:
        return study
    room = 100 - len(suffix) - 1
    return closed_study(f"{collection.name[:room]}-{suffix}", collection, owner=collection.owner, source=source)


def telling(imported: Imported, study: Study, chosen: Study | None) -> Imported:
    """Say into which study the judgments go that no study was chosen for."""
    if chosen is None:
        imported.remarks.append(f"The judgments go into the closed study “{study.name}”.")
    return imported
