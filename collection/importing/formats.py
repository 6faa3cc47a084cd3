"""The import page's imports: any format, tried out first and then done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol
from zipfile import is_zipfile

from django.core.exceptions import ValidationError
from django.db import transaction

from collection.formats.archives import unpacked
from collection.formats.problems import InputFile
from collection.importing.collections import import_collection
from collection.importing.datasets.clapnq import import_clapnq
from collection.importing.datasets.crux import import_crux
from collection.importing.files import FilesOptions, QrelsRater, import_files, study_for, telling
from collection.importing.judgment_table import import_judgments
from collection.importing.outcomes import ImportOutcome
from collection.importing.rows import Imported
from collection.importing.trec import (
    import_passages,
    import_qrels,
    import_run,
    import_topics,
    relevance_criterion_of,
)
from collection.judgments.recording import imported_rater
from collection.models import Collection, Rater, Study, Upload

FORMATS = {
    "files": ("Recognise by content", "One file or several, in any order. What belongs together is found."),
    "assize": ("Assize JSONL", "Topics, rubric elements, passages, systems, runs, reports and rankings in one file."),
    "topics": ("Topics", "JSONL with an id and a request per line, id and request separated by a tab, or TREC’s."),
    "passages": ("Passages", "JSONL with an id and a text per line: id and contents, docid and text, and similar."),
    "run": ("TREC run", "topic Q0 docno rank score tag"),
    "qrels": ("TREC qrels", "topic 0 docno grade: one rater’s judgments of relevance, 0 to 3."),
    "judgments": ("Judgments table", "CSV or JSONL: one row for each item, criterion and rater."),
    "clapnq": ("CLAPNQ", "JSONL: questions with a passage each, and the answers that people wrote in two rounds."),
    "crux": (
        "CRUX’s folder",
        "A zip of it: documents.jsonl, runs with reports, and a folder for each annotator.",
    ),
}
Advance = Callable[[int], object]


class Import(Protocol):
    """Imports an upload. Raises BrokenFile and ValidationError, and has then changed nothing."""

    def __call__(self, *, upload: Upload, at: datetime, advance: Advance | None) -> ImportOutcome: ...


@dataclass(frozen=True)
class Kind:
    """A kind of upload that another app knows how to import.

    `details` is the template of what its preview shows besides; `chosen_at` and `leads_to` are the addresses of the
    page on which it was chosen and of the one that shows what came in.
    """

    label: Callable[[Upload], str]
    bring: Import
    details: str
    chosen_at: Callable[[Upload], str]
    leads_to: Callable[[Upload, ImportOutcome], str]


# Filled by apps that this one does not know, when they are ready.
KINDS: dict[str, Kind] = {}


@transaction.atomic
def try_upload(
    *, upload: Upload, collection: Collection, at: datetime, advance: Advance | None = None
) -> ImportOutcome:
    """Import the file and take it all back: what is returned or raised is what the import would do."""
    outcome = import_upload(upload=upload, collection=collection, at=at, advance=advance)
    transaction.set_rollback(True)
    return outcome


@transaction.atomic
def import_upload(
    *, upload: Upload, collection: Collection, at: datetime, advance: Advance | None = None
) -> ImportOutcome:
    """Import the file. Raises BrokenFile and ValidationError, and has then changed nothing.

    `advance` is told the bytes that are read.
    """
    if kind := KINDS.get(upload.file_format):
        return kind.bring(upload=upload, at=at, advance=advance)
    if upload.file_format == "files":
        return _import_files(upload, collection, at=at, advance=advance)
    return ImportOutcome.of(_import(upload=upload, collection=collection, at=at, advance=advance))


def _import_files(upload: Upload, collection: Collection, *, at: datetime, advance: Advance | None) -> ImportOutcome:
    """Import the file, or those in its zip; the zip of CRUX's folder is known by what it holds."""
    options = FilesOptions(
        study=chosen_study(upload),
        raters={name: QrelsRater(**whose) for name, whose in upload.said.get("raters", {}).items()},
        relevant_from=upload.said.get("relevant_from"),
        with_topics=upload.said.get("with_topics", False),
        without_texts=upload.without_texts,
    )
    if not is_zipfile(upload.path):
        files = [(upload.name, upload.path)]
        return import_files(files=files, collection=collection, options=options, at=at, advance=advance)
    with unpacked(upload.path, name=upload.name) as folder:
        if (_outermost_with_files(folder) / "documents.jsonl").is_file():
            return ImportOutcome.of(_import_crux(upload, collection, at=at, advance=advance))
        found = sorted(path for path in folder.rglob("*") if path.is_file())
        files = [(str(path.relative_to(folder)), path) for path in found]
        return import_files(files=files, collection=collection, options=options, at=at, advance=advance)


def _import(*, upload: Upload, collection: Collection, at: datetime, advance: Advance | None) -> Imported:
    file = InputFile(upload.path, name=upload.name, advance=advance)
    match upload.file_format:
        case "assize":
            return import_collection(file=file, collection=collection)
        case "passages":
            return import_passages(file=file, collection=collection)
        case "topics":
            return import_topics(file=file, collection=collection)
        case "run":
            return import_run(
                file=file,
                collection=collection,
                run=upload.run,
                system=upload.system,
                with_topics=upload.said.get("with_topics", False),
            )
        case "judgments":
            return import_judgments(file=file, study=study_of_upload(upload), at=at)
        case "clapnq":
            chosen = chosen_study(upload)
            study = study_for(chosen, collection, suffix="answers", source="CLAPNQ files")
            return telling(import_clapnq(file=file, study=study, at=at), study, chosen)
        case "crux":
            return _import_crux(upload, collection, at=at, advance=advance)
        case _:
            return _import_qrels(upload, file, collection, at=at)


def _import_qrels(upload: Upload, file: InputFile, collection: Collection, *, at: datetime) -> Imported:
    chosen = chosen_study(upload)
    study = study_for(chosen, collection, suffix="qrels", source="TREC qrels")
    criterion = relevance_criterion_of(study, relevant_from=upload.said.get("relevant_from"))
    rater = imported_rater(collection, kind=Rater.Kind.ASSESSOR, name=upload.rater, source=upload.name)
    imported = import_qrels(
        file=file,
        criterion=criterion,
        rater=rater,
        without_texts=upload.without_texts,
        with_topics=upload.said.get("with_topics", False),
        at=at,
    )
    return telling(imported, study, chosen)


def _import_crux(upload: Upload, collection: Collection, *, at: datetime, advance: Advance | None) -> Imported:
    """Unpack the zip and import its folder, into a closed study of the collection's that is made if new."""
    with unpacked(upload.path, name=upload.name) as folder:
        return import_crux(
            folder=_outermost_with_files(folder),
            study_name=f"{collection.name[:95]}-crux",
            collection_name=collection.name,
            owner=collection.owner,
            at=at,
            advance=advance,
            name=upload.name,
        )


def _outermost_with_files(folder: Path) -> Path:
    """Return the folder, or the one in it that a zip of a folder begins with."""
    inside = list(folder.iterdir())
    return _outermost_with_files(inside[0]) if len(inside) == 1 and inside[0].is_dir() else folder


def chosen_study(upload: Upload) -> Study | None:
    """Return the study that was chosen for the upload, None where none was. Raises ValidationError if it is gone."""
    return study_of_upload(upload) if upload.study else None


def study_of_upload(upload: Upload) -> Study:
    """Return the study that the upload goes into. Raises ValidationError if it is gone."""
    study = upload.collection.studies.filter(name=upload.study).first()
    if study is None:
        raise ValidationError(f"The study “{upload.study}” no longer exists. Choose another.")
    return study
