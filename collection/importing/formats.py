"""The import page's imports: any format, tried out first and then done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from django.core.exceptions import ValidationError
from django.db import transaction

from collection.formats.problems import InputFile
from collection.importing.archives import Advance, import_crux_zip
from collection.importing.files import FilesOptions, declare_said, import_as, import_files
from collection.importing.origins import QrelsRater
from collection.importing.outcomes import ImportOutcome
from collection.importing.raters import supposed_assigner
from collection.importing.studies import refuse_who_assesses
from collection.models import Collection, Rater, Study, Upload

FORMATS = {
    "files": ("Recognise by content", "One file or several, in any order. What belongs together is found."),
    "assize": ("Assize JSONL", "Topics, rubric elements, passages, systems, runs, reports and rankings in one file."),
    "topics": ("Topics", "JSONL with an id and a request per line, id and request separated by a tab, or TREC’s."),
    "passages": ("Passages", "JSONL with an id and a text per line: id and contents, docid and text, and similar."),
    "run": ("TREC run", "topic Q0 docno rank score tag"),
    "reports": ("Cited reports", "Sentences with citations, as TREC RAG, RAGTIME, AutoJudge and others write them."),
    "pools": ("Candidate pool", "JSONL: a query with its candidates a line, as rerankers exchange them."),
    "nuggets": (
        "Nugget bank",
        "AutoNuggetizer’s or TREC RAG’s nuggets, NuggetBank’s questions and claims, rubrics with weights.",
    ),
    "assignments": ("Nugget assignments", "JSONL: which nuggets each answer supports, as AutoNuggetizer writes it."),
    "qrels": ("TREC qrels", "topic 0 docno grade: one rater’s judgments of relevance, 0 to 3."),
    "judgments": ("Judgments table", "CSV or JSONL: one row for each item, criterion and rater."),
    "scores": (
        "Scores of other tools",
        "Langfuse, Phoenix, MLflow, OpenTelemetry, Inspect, Ragas, UMBRELA or AltTest; reasons are kept.",
    ),
    "summaries": (
        "Summaries with documents",
        "JSONL: a human summary and its documents a line, as in Multi-News: one ||||| another.",
    ),
    "natural_questions": (
        "Natural Questions",
        "JSONL: questions with their page and annotations; those with a long answer alone become topics, as CLAPNQ’s.",
    ),
    "clapnq": ("CLAPNQ", "JSONL: questions with a passage each, and the answers that people wrote in two rounds."),
    "ir_datasets": ("ir_datasets", "Topics by a dataset’s id, and its qrels and passages if you ask for them."),
    "questions": ("RUBRIC question bank", "The workbench’s topics with their questions or nuggets, plain or gzipped."),
    "graded": ("RUBRIC graded file", "Passages with rankings, self-ratings and relevance, plain or gzipped."),
    "crux": (
        "CRUX’s folder",
        "A zip of it: documents.jsonl, runs with reports, and a folder for each annotator.",
    ),
}


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
# So are these: the address of the page that shows what a study's imported judgments are for, if the app has one.
ANSWERS: list[Callable[[Study], str | None]] = []


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
    match upload.file_format:
        case "files":
            files, options = [(upload.name, upload.path)], options_of(upload)
            return import_files(files=files, collection=collection, options=options, at=at, advance=advance)
        case "crux":
            name = upload.name
            imported = import_crux_zip(
                upload.path, name=name, collection=collection, by=upload.user, at=at, advance=advance
            )
            declare_said(imported, options_of(upload))
            return ImportOutcome.of(imported)
        case file_format:
            file = InputFile(upload.path, name=upload.name, advance=advance)
            options = options_of(upload)
            return import_as(file_format, file=file, collection=collection, options=options, at=at)


def options_of(upload: Upload) -> FilesOptions:
    """Return what was said of the upload. Raises ValidationError if its study is gone."""
    said = upload.said.get("raters")
    asked = upload.file_format in ("assignments", "scores")
    kind = supposed_assigner(upload.name).kind if asked else Rater.Kind.ASSESSOR
    raters = {upload.name: QrelsRater(upload.rater, kind)} if upload.rater else None
    return FilesOptions(
        study=study_of_upload(upload) if upload.study else None,
        raters=raters if said is None else {name: QrelsRater(**whose) for name, whose in said.items()},
        others=upload.said.get("others", ""),
        formats=upload.said.get("formats", {}),
        stray_grades=upload.said.get("stray_grades") or "ungraded",
        relevant_from=upload.said.get("relevant_from"),
        with_topics=upload.said.get("with_topics", False),
        without_texts=upload.without_texts,
        run=upload.run,
        system=upload.system,
        criterion=upload.said.get("criterion", ""),
        by=upload.user,
        seed=upload.said.get("seed") or 0,
        irrelevant=upload.said.get("irrelevant", {}),
    )


def study_of_upload(upload: Upload) -> Study:
    """Return the study that the upload goes into. Raises ValidationError if it is gone, or closed to its sender."""
    study = upload.collection.studies.filter(name=upload.study).first()
    if study is None:
        raise ValidationError(f"The study “{upload.study}” no longer exists. Choose another.")
    refuse_who_assesses(study, upload.user)
    return study
