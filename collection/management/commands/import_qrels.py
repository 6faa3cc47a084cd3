from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.db import transaction
from django.utils.timezone import now

from collection.formats.files import InputFile
from collection.importing.rows import Imported
from collection.importing.studies import criterion_of, imported_rater
from collection.importing.trec import import_qrels, relevance_criterion
from collection.management.importing import ImportCommand, the_collection, the_study
from collection.models import Rater, Study
from collection.models.studies import TaskType


class Command(ImportCommand):
    help = "Import TREC qrels (topic 0 docno grade) as one rater's judgments of a study."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--study", required=True, metavar="NAME")
        parser.add_argument("--collection", metavar="NAME", help="on which the study is made if it is new")
        parser.add_argument("--criterion", default="relevance", metavar="NAME")
        parser.add_argument("--scale", type=grades, default=[0, 1, 2, 3], metavar="0,1,2,3", help="of a new criterion")
        parser.add_argument("--rater", required=True, metavar="NAME")
        parser.add_argument("--rater-kind", choices=Rater.Kind.values, default=Rater.Kind.ASSESSOR.value)
        parser.add_argument("--without-texts", action="store_true", help="make passages that are missing, by id alone")

    @transaction.atomic
    def bring(self, file: InputFile, **options: Any) -> Imported:
        study = study_of(options["study"], options["collection"])
        criterion = study.criteria.filter(name=options["criterion"], task_type=TaskType.RELEVANCE).first()
        if criterion is None:
            criterion = criterion_of(
                study, TaskType.RELEVANCE, relevance_criterion(options["criterion"], options["scale"])
            )
        rater = imported_rater(
            study.collection, kind=options["rater_kind"], name=options["rater"], source=file.path.name
        )
        return import_qrels(
            file=file, criterion=criterion, rater=rater, without_texts=options["without_texts"], at=now()
        )


def grades(written: str) -> list[float]:
    """Read the grades of a scale."""
    return [float(grade) for grade in written.split(",")]


def study_of(name: str, collection_name: str | None) -> Study:
    """Return this study, made if it is new and its collection is told. Raises CommandError and ValidationError."""
    if collection_name is None:
        return the_study(name)
    collection = the_collection(collection_name)
    study = Study.objects.filter(name=name).first()
    if study is None:
        study = Study(
            name=name, collection=collection, state=Study.State.CLOSED, overlap=1, created_by=collection.owner
        )
        study.full_clean()
        study.save()
    if study.collection_id != collection.pk:
        raise CommandError(f"The study “{name}” is on another collection, “{study.collection.name}”.")
    return study
