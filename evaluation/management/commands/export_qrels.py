"""manage.py export_qrels: a study's judgments as a qrels file, with its provenance and its holes beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils.timezone import now

from evaluation.management.base import EvaluationCommand
from evaluation.qrels import COMBINES, TIES, QrelsRefused, Rule
from evaluation.services.qrels import Qrels, compile_each, compile_qrels
from evaluation.services.studies import CriterionNotFound, find_criterion
from evaluation.spreadsheets import csv_text

# What is looked at where only the list of holes is asked for.
USUAL_TOP = 10


class Command(EvaluationCommand):
    help = "Write a study's judgments as qrels: topic 0 docno grade."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, metavar="NAME")
        parser.add_argument("--criterion", metavar="C", help="which criterion, where people judged several")
        parser.add_argument(
            "--rater",
            action="append",
            default=[],
            metavar="NAME",
            help="whose judgments; all people's if left out",
        )
        parser.add_argument("--with-simulated", action="store_true", help="count simulated assessors among people")
        parser.add_argument("--combine", choices=COMBINES, default="majority", help="how several raters become one")
        parser.add_argument("--ties", choices=TIES, default="lower", help="undecided: tied items are left out")
        parser.add_argument(
            "--fewest-raters", type=int, default=1, metavar="N", help="leave out items that fewer have graded"
        )
        parser.add_argument(
            "--binary-at", type=float, metavar="G", help="1 from this grade up, else 0; grades if left out"
        )
        parser.add_argument(
            "--per-element", action="store_true", help="topic/element for each rubric element, not the highest of all"
        )
        parser.add_argument(
            "--adjudicated", action="store_true", help="what a third person decided counts instead of people's grades"
        )
        parser.add_argument("--names", action="store_true", help="call people by their names, not by numbers")
        parser.add_argument(
            "--holes", type=int, metavar="K", help="also say how much of each run's top K is judged (judged@K)"
        )
        parser.add_argument("--output", type=Path, metavar="FILE", help="where to write; standard output if left out")
        parser.add_argument("--provenance", type=Path, metavar="FILE", help="also write where the qrels come from")
        parser.add_argument("--unjudged", type=Path, metavar="FILE", help="also write what has no label, as CSV")
        parser.add_argument("--each", type=Path, metavar="FILE.zip", help="also write a file for each rater alone")

    def handle(self, **options: Any) -> None:
        holes_at = options["holes"] if options["holes"] is not None else options["unjudged"] and USUAL_TOP
        if holes_at is not None and holes_at < 1:
            raise CommandError("--holes is a number from 1 up.")
        rule = Rule(
            combine=options["combine"],
            ties=options["ties"],
            fewest_raters=options["fewest_raters"],
            binary_at=options["binary_at"],
            per_element=options["per_element"],
            adjudicated=options["adjudicated"],
        )
        choice: dict[str, Any] = {
            "raters": options["rater"],
            "with_simulated": options["with_simulated"],
            "rule": rule,
            "names": options["names"],
            "at": now(),
        }
        try:
            criterion = find_criterion(options["study"], options["criterion"])
            qrels = compile_qrels(criterion, **choice, holes_at=holes_at)
            each = compile_each(criterion, **choice) if options["each"] else b""
        except (CriterionNotFound, QrelsRefused) as error:
            raise CommandError(str(error)) from error
        files = {
            options["output"]: qrels.text.encode(),
            options["provenance"]: qrels.provenance_text.encode(),
            options["unjudged"]: csv_text(qrels.holes_table()).encode(),
            options["each"]: each,
        }
        for path, content in files.items():
            self.write_file(path, content)
        if options["output"] is None:
            self.stdout.write(qrels.text, ending="")
        self.tell(qrels, holes_at)

    def write_file(self, path: Path | None, content: bytes) -> None:
        try:
            if path is not None:
                path.write_bytes(content)
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}") from error

    def tell(self, qrels: Qrels, holes_at: int | None) -> None:
        """Say beside the file what is in it and what is not."""
        counts = qrels.provenance["counts"]
        self.note(
            f"{counts['lines']:,} lines for {counts['topics']:,} topics of {counts['judgments']:,} judgments. "
            f"Left out: {counts['ungraded_items']:,} ungraded items, "
            f"{counts['items_with_too_few_raters']:,} of too few raters."
        )
        left_out = qrels.provenance["simulated_raters_left_out"]
        if left_out:
            self.note(f"Simulated assessors left out: {', '.join(left_out)}. --with-simulated takes them in.")
        if holes_at is not None and not qrels.holes:
            self.note("No run ranks what these judgments are about, so there are no holes to count.")
        for found in qrels.holes:
            share = "–" if found.judged_at_k is None else f"{found.judged_at_k:.3f}"
            self.note(
                f"{found.run}: judged@{found.k} {share}; {len(found.unjudged):,} of {found.n_ranked:,} unjudged in "
                f"{found.n_topics:,} topics, {found.n_other_topics:,} topics without any label."
            )
