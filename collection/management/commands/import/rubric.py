from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand
from django.db import transaction
from django.utils.timezone import now

from collection.importing.commands import add_relevant_from, mended_by_the_reader, reading, the_user
from collection.importing.datasets.rubric import import_graded, import_question_bank
from collection.importing.origins import QrelsRater
from collection.importing.rows import Imported
from collection.importing.studies import closed_study_in
from collection.importing.trec import import_qrels, relevance_criterion_of


class Command(BaseCommand):
    help = (
        "Import a graded file of the RUBRIC workbench: its texts and rankings as a collection, its grades as a study."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="graded passages (.jsonl.gz)")
        parser.add_argument("--study", required=True, metavar="NAME")
        parser.add_argument("--owner", required=True, metavar="USER", help="the owner of the new collection and study")
        parser.add_argument("--collection", metavar="NAME", help="default: the study's name")
        parser.add_argument(
            "--bank", type=Path, metavar="FILE", help="the question bank: texts of topics and questions"
        )
        parser.add_argument(
            "--qrels", type=Path, metavar="FILE", help="read relevance from here, not from the graded file"
        )
        parser.add_argument("--assessors", default="NIST", metavar="NAME", help="whose relevance it is (NIST)")
        add_relevant_from(parser)
        parser.add_argument("--quiet", action="store_true", help="no progress bar")

    @transaction.atomic
    def handle(self, *args: Any, file: Path, bank: Path | None, qrels: Path | None, **options: Any) -> None:
        people, quiet, at = QrelsRater(options["assessors"]), options["quiet"], now()
        together = Imported()
        with mended_by_the_reader():
            study = closed_study_in(
                options["collection"] or options["study"],
                name=options["study"],
                owner=the_user(options["owner"]),
                source="files of the RUBRIC workbench",
            )
            if bank:
                with reading(bank, quiet=quiet) as opened:
                    together.add(import_question_bank(file=opened, collection=study.collection))
            relevant_from = options["relevant_from"]
            with reading(file, quiet=quiet) as opened:
                graded = import_graded(
                    file=opened,
                    study=study,
                    rater=None if qrels else people,
                    relevant_from=relevant_from,
                    with_topics=bank is None,
                    at=at,
                )
            together.add(graded)
            if qrels:
                with reading(qrels, quiet=quiet) as opened:
                    criterion = relevance_criterion_of(study, relevant_from=relevant_from)
                    rater = people.stored(study.collection, source=f"the relevance in {qrels.name}")
                    told = import_qrels(file=opened, criterion=criterion, rater=rater, without_texts=True, at=at)
                together.add(told)
        self.stdout.write(together.told(everything=options["verbosity"] > 1))
