"""manage.py export_qrels: a study's judgments as a qrels file, with its provenance and its holes beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils.timezone import now

from evaluation.data.judgments import CriterionNotFound, find_criterion
from evaluation.management.base import EvaluationCommand
from evaluation.publishing.qrels import Qrels, compile_each, compile_qrels
from stats.csv_files import csv_text
from stats.plurals import counted
from stats.qrels import COMBINES, QrelsRefused, Rule
from stats.votes import TIES

# What is looked at where only the list of holes is asked for.
USUAL_TOP = 10


class Command(EvaluationCommand):
    help = "Write a study's judgments as qrels: topic 0 docno grade."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, metavar="NAME")
        parser.add_argument("--criterion", metavar="C", help="the criterion, if there are several")
        parser.add_argument(
            "--rater",
            action="append",
            default=[],
            metavar="NAME",
            help="whose judgments (default: all assessors')",
        )
        parser.add_argument("--with-simulated", action="store_true", help="include simulated assessors")
        parser.add_argument("--combine", choices=COMBINES, default=Rule.combine, help="how to aggregate several raters")
        parser.add_argument("--ties", choices=TIES, default=Rule.ties, help="undecided: tied items are left out")
        parser.add_argument(
            "--fewest-raters",
            type=int,
            default=Rule.fewest_raters,
            metavar="N",
            help="leave out items graded by fewer raters",
        )
        parser.add_argument(
            "--binary-at", type=float, metavar="G", help="1 from this grade up, else 0 (default: the grades)"
        )
        parser.add_argument(
            "--per-element",
            action="store_true",
            help="topic/element for each rubric element, instead of the highest grade",
        )
        parser.add_argument(
            "--adjudicated", action="store_true", help="use adjudicated grades instead of the assessors'"
        )
        parser.add_argument("--names", action="store_true", help="use assessors' names instead of numbers")
        parser.add_argument(
            "--holes", type=int, metavar="K", help="also report how much of each run's top K is judged (judged@K)"
        )
        parser.add_argument("--output", type=Path, metavar="FILE", help="output file (default: standard output)")
        parser.add_argument("--provenance", type=Path, metavar="FILE", help="also write the provenance of the qrels")
        parser.add_argument("--unjudged", type=Path, metavar="FILE", help="also write unlabelled passages, as CSV")
        parser.add_argument("--each", type=Path, metavar="FILE.zip", help="also write a file for each rater")

    def handle(self, **options: Any) -> None:
        holes_at = options["holes"] if options["holes"] is not None else options["unjudged"] and USUAL_TOP
        if holes_at is not None and holes_at < 1:
            raise CommandError("--holes must be a number of at least 1.")
        choice: dict[str, Any] = {
            "raters": options["rater"],
            "with_simulated": options["with_simulated"],
            "rule": Rule.chosen_by(options),
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
            f"{counted(counts['lines'], 'lines')} for {counted(counts['topics'], 'topics')} of "
            f"{counted(counts['judgments'], 'judgments')}. "
            f"Left out: {counts['ungraded_items']:,} ungraded items, "
            f"{counts['items_with_too_few_raters']:,} with too few raters."
        )
        if not_used := counts.get("adjudications_not_used"):
            self.note(f"{not_used:,} of these items are adjudicated. Use --adjudicated for these grades.")
        left_out = qrels.provenance["simulated_raters_left_out"]
        if left_out:
            self.note(f"Simulated assessors left out: {', '.join(left_out)}. Use --with-simulated to include them.")
        if holes_at is not None and not qrels.holes:
            self.note("No run ranks these passages, so judged@k is not available.")
        for found in qrels.holes:
            share = "–" if found.judged_at_k is None else f"{found.judged_at_k:.3f}"
            self.note(
                f"{found.run}: judged@{found.k} {share}; {len(found.unjudged):,} of {found.n_ranked:,} unjudged in "
                f"{counted(found.n_topics, 'topics')}, {counted(found.n_other_topics, 'topics')} without any label."
            )
