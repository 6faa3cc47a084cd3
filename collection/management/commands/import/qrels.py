from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction
from django.utils.timezone import now

from collection.formats.problems import InputFile
from collection.importing.commands import ImportCommand, add_relevant_from, the_collection, the_study
from collection.importing.rows import Imported
from collection.importing.studies import closed_study
from collection.importing.trec import QRELS_GRADES, import_qrels, relevance_criterion_of
from collection.judgments.recording import imported_rater
from collection.models import Rater, Study
from collection.web.commands import add


class Command(ImportCommand):
    help = "Import TREC qrels (topic 0 docno grade) as one rater's judgments of a study."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        add(parser, "--study", required=True)
        add(parser, "--collection", help="the study's collection, if the study is new")
        add(parser, "--criterion", default="relevance", help="the criterion, made if it is new (%(default)s)")
        parser.add_argument("--scale", type=grades, default=QRELS_GRADES, metavar="0,1,2,3", help="of a new criterion")
        add_relevant_from(parser)
        add(parser, "--rater", required=True)
        kinds: dict[str, Any] = {"choices": Rater.Kind.values, "default": Rater.Kind.ASSESSOR.value}
        parser.add_argument("--rater-kind", **kinds, help="what the rater is (%(default)s)")
        parser.add_argument("--without-texts", action="store_true", help="create missing passages with only an id")

    @transaction.atomic
    def bring(self, file: InputFile, **options: Any) -> Imported:
        study = study_of(options["study"], options["collection"])
        criterion = relevance_criterion_of(
            study, name=options["criterion"], grades=options["scale"], relevant_from=options["relevant_from"]
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
    """Return this study, made if it is new and its collection is named. Raises CommandError and ValidationError."""
    if collection_name is None:
        return the_study(name)
    collection = the_collection(collection_name)
    return closed_study(name, collection, owner=collection.owner, source="TREC qrels")
