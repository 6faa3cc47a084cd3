from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction
from django.utils.timezone import now

from collection.importing.commands import add_relevant_from, reading, say_imported, the_user
from collection.importing.datasets.rubric import import_graded, import_question_bank
from collection.importing.origins import QrelsRater
from collection.importing.rows import Imported
from collection.importing.studies import closed_study_in
from collection.importing.trec import import_qrels, relevance_criterion_of
from collection.web.commands import SiteCommand, add


class Command(SiteCommand):
    help = (
        "Import a graded file of the RUBRIC workbench: its texts and rankings as a collection, its grades as a study."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        add(parser, "file", help="graded passages (.jsonl.gz)")
        add(parser, "--study", required=True, help="the study that its judgments become")
        add(parser, "--owner", required=True, help="the owner of the new collection and study")
        add(parser, "--collection", help="default: the study's name")
        parser.add_argument(
            "--bank", type=Path, metavar="FILE", help="the question bank: texts of topics and questions"
        )
        parser.add_argument(
            "--qrels", type=Path, metavar="FILE", help="read relevance from here, not from the graded file"
        )
        parser.add_argument("--assessors", default="NIST", metavar="NAME", help="whose relevance it is (NIST)")
        add_relevant_from(parser)
        add(parser, "--quiet", "--json")

    @transaction.atomic
    def handle(self, *, file: Path, bank: Path | None, qrels: Path | None, **options: Any) -> None:
        people, quiet, at = QrelsRater(options["assessors"]), options["quiet"], now()
        relevant_from, together = options["relevant_from"], Imported()
        study = closed_study_in(
            options["collection"] or options["study"],
            name=options["study"],
            owner=the_user(options["owner"]),
            source="files of the RUBRIC workbench",
        )
        if bank:
            with reading(bank, quiet=quiet) as opened:
                together.add(import_question_bank(file=opened, collection=study.collection))
        with reading(file, quiet=quiet) as opened:
            rater, with_topics = None if qrels else people, bank is None
            graded = {"rater": rater, "relevant_from": relevant_from, "with_topics": with_topics}
            together.add(import_graded(file=opened, study=study, **graded, at=at))
        if qrels:
            with reading(qrels, quiet=quiet) as opened:
                criterion = relevance_criterion_of(study, relevant_from=relevant_from)
                rater_of_qrels = people.stored(study.collection, source=f"the relevance in {qrels.name}")
                together.add(
                    import_qrels(file=opened, criterion=criterion, rater=rater_of_qrels, without_texts=True, at=at)
                )
        say_imported(self, together, options)
