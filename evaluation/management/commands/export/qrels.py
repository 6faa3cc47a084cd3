from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from collection.finished_files import write_file
from collection.judgments.judged_criteria import find_criterion
from collection.web.commands import SiteCommand, add, add_study
from collection.web.options import add_options, choose
from evaluation.publishing import computing
from evaluation.publishing.qrels import Qrels
from evaluation.publishing.serializers import QrelsChoice
from stats.plurals import counted
from stats.qrels import asked_of

# What is looked at where only the list of holes is asked for.
USUAL_TOP = 10


class Command(SiteCommand):
    help = "Write a study's judgments as qrels: topic 0 docno grade."

    def add_arguments(self, parser: CommandParser) -> None:
        add_study(parser)
        add_options(parser, QrelsChoice)
        add(parser, "--out")
        parser.add_argument("--provenance", type=Path, metavar="FILE", help="also write the provenance of the qrels")
        parser.add_argument("--unjudged", type=Path, metavar="FILE", help="also write unlabelled passages, as CSV")
        parser.add_argument("--each", type=Path, metavar="FILE.zip", help="also write a file for each rater")

    def handle(self, **options: Any) -> None:
        chosen = choose(QrelsChoice, options)
        holes_at = chosen.get("holes_at", USUAL_TOP if options["unjudged"] else None)
        criterion = find_criterion(options["study"], options["criterion"])
        asked = {"criterion": criterion.pk, **asked_of(chosen)}
        qrels = computing.qrels(criterion.study, holes_at=holes_at, **asked)
        each = computing.qrels_of_each(criterion.study, **asked) if options["each"] else b""
        files = {
            "out": qrels.text.encode(),
            "provenance": qrels.provenance_text.encode(),
            "unjudged": qrels.unjudged.csv().encode(),
            "each": each,
        }
        for name, content in files.items():
            if options[name] is not None:
                write_file(options[name], content)
        if options["out"] is None:
            self.stdout.write(qrels.text, ending="")
        self.tell(qrels, holes_at)

    def tell(self, qrels: Qrels, holes_at: int | None) -> None:
        """Say beside the file what is in it and what is not."""
        counts = qrels.provenance["counts"]
        if gold := qrels.provenance.get("gold"):
            left_out = f" Left out: {gold['left_out']}." if gold["left_out"] else ""
            lines = f"{counted(counts['lines'], 'lines')} for {counted(counts['topics'], 'topics')}"
            self.note(f"{lines}: {gold['in_words']}.{left_out}")
            if gold["caveat"]:
                self.note(gold["caveat"])
        else:
            self._tell_judged(qrels)
        if holes_at is not None and not qrels.holes:
            self.note("No run ranks these passages, so judged@k is not available.")
        for found in qrels.holes:
            share = "–" if found.judged_at_k is None else f"{found.judged_at_k:.3f}"
            self.note(
                f"{found.run}: judged@{found.k} {share}; {len(found.unjudged):,} of {found.n_ranked:,} unjudged in "
                f"{counted(found.n_topics, 'topics')}, {counted(found.n_other_topics, 'topics')} without any label."
            )

    def _tell_judged(self, qrels: Qrels) -> None:
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
