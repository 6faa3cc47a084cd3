from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.db import transaction
from django.utils.timezone import now

from collection.formats.files import InputFile
from collection.importing.origins import judge_of_a_file
from collection.importing.rows import Imported
from collection.importing.studies import criterion_of
from collection.importing.trec import import_qrels, relevance_criterion
from collection.management.importing import ImportCommand, the_study
from collection.models.studies import TaskType
from judging.importing.ratings import import_ratings

FORMATS = ("crux-ratings", "qrels")


class Command(ImportCommand):
    help = "Import another tool's grades as those of a judge, with file, hash and tool recorded."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--format", choices=FORMATS, required=True, help="qrels: four columns, as UMBRELA writes")
        parser.add_argument("--study", required=True, metavar="NAME")
        parser.add_argument("--judge", required=True, metavar="NAME", help="how the judge is called")
        parser.add_argument("--tool", required=True, metavar="NAME", help="what graded: a program and its version")
        parser.add_argument("--criterion", default="relevance", metavar="NAME", help="of qrels")
        parser.add_argument("--without-texts", action="store_true", help="qrels: make passages that are missing")

    @transaction.atomic
    def bring(self, file: InputFile, **options: Any) -> Imported:
        study = the_study(options["study"])
        # The file is opened first: if it cannot be read, that is said as for every import.
        with file:
            for _ in file.lines():
                break
        judge = judge_of_a_file(study.collection, name=options["judge"], tool=options["tool"], path=file.path)
        if options["format"] == "crux-ratings":
            return import_ratings(file=file, study=study, rater=judge, at=now())
        criterion = study.criteria.filter(name=options["criterion"], task_type=TaskType.RELEVANCE).first()
        if criterion is None:
            criterion = criterion_of(study, TaskType.RELEVANCE, relevance_criterion(options["criterion"], (0, 1, 2, 3)))
        return import_qrels(
            file=file, criterion=criterion, rater=judge, without_texts=options["without_texts"], at=now()
        )
