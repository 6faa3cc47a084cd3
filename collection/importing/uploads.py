"""The import page's imports: any single-file format, tried out first and then done."""

from __future__ import annotations

from datetime import datetime

from django.core.exceptions import ValidationError
from django.db import transaction

from collection.formats.files import InputFile
from collection.importing.clapnq import import_clapnq, study_for_clapnq
from collection.importing.collections import import_collection
from collection.importing.judgment_table import import_judgments
from collection.importing.rows import Imported
from collection.importing.studies import criterion_of, imported_rater
from collection.importing.trec import import_passages, import_qrels, import_run, relevance_criterion
from collection.models import Collection, Rater, Study
from collection.models.studies import TaskType
from collection.uploads import Upload

FORMATS = {
    "assize": ("Assize JSONL", "Topics, rubric elements, passages, systems, runs, reports and rankings in one file."),
    "passages": ("Passages", "JSONL with an id and a text a line: id and contents, docid and text, and the like."),
    "run": ("TREC run", "topic Q0 docno rank score tag"),
    "qrels": ("TREC qrels", "topic 0 docno grade: one rater’s judgments of relevance, 0 to 3."),
    "judgments": ("Judgments table", "CSV or JSONL: one row for each item, criterion and rater."),
    "clapnq": ("CLAPNQ", "JSONL: questions with a passage each, and the answers that people wrote in two rounds."),
}
NEED_A_STUDY = ("qrels", "judgments")
QRELS_GRADES = (0, 1, 2, 3)


@transaction.atomic
def try_upload(*, upload: Upload, collection: Collection, at: datetime) -> Imported:
    """Import the file and take it all back: what is returned or raised is what the import would do."""
    imported = import_upload(upload=upload, collection=collection, at=at)
    transaction.set_rollback(True)
    return imported


@transaction.atomic
def import_upload(*, upload: Upload, collection: Collection, at: datetime) -> Imported:
    """Import the file. Raises BrokenFile and ValidationError, and has then changed nothing."""
    file = InputFile(upload.path, name=upload.name)
    match upload.file_format:
        case "assize":
            return import_collection(file=file, collection=collection)
        case "passages":
            return import_passages(file=file, collection=collection)
        case "run":
            return import_run(file=file, collection=collection, run=upload.run, system=upload.system)
        case "judgments":
            return import_judgments(file=file, study=_study(upload, collection), at=at)
        case "clapnq":
            return import_clapnq(file=file, study=_study_of_answers(upload, collection), at=at)
        case _:
            return _import_qrels(upload, file, collection, at=at)


def _import_qrels(upload: Upload, file: InputFile, collection: Collection, *, at: datetime) -> Imported:
    study = _study(upload, collection)
    criterion = study.criteria.filter(task_type=TaskType.RELEVANCE).first()
    if criterion is None:
        criterion = criterion_of(study, TaskType.RELEVANCE, relevance_criterion("relevance", QRELS_GRADES))
    rater = imported_rater(collection, kind=Rater.Kind.ASSESSOR, name=upload.rater, source=upload.name)
    return import_qrels(file=file, criterion=criterion, rater=rater, without_texts=upload.without_texts, at=at)


def _study_of_answers(upload: Upload, collection: Collection) -> Study:
    """Return the chosen study; without a choice, the collection's study of imported answers, made if new."""
    if upload.study:
        return _study(upload, collection)
    return study_for_clapnq(
        name=f"{collection.name[:92]}-answers", collection_name=collection.name, owner=collection.owner
    )


def _study(upload: Upload, collection: Collection) -> Study:
    study = collection.studies.filter(name=upload.study).first()
    if study is None:
        raise ValidationError(f"There is no study “{upload.study}” any more. Choose another.")
    return study
