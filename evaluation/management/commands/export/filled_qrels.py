from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from collection.finished_files import write_file
from collection.judgments.judged_criteria import find_criterion
from collection.web.commands import SiteCommand, add, add_study
from collection.web.options import add_options, choose
from evaluation.publishing import computing
from evaluation.publishing.filled_qrels import FilledQrels
from evaluation.publishing.hole_filling import filled_files
from evaluation.publishing.serializers import FilledChoice, filling_of
from stats.plurals import counted


class Command(SiteCommand):
    help = "Fill the holes of people's qrels with a judge's grades; every line says whose it is."

    def add_arguments(self, parser: CommandParser) -> None:
        add_study(parser)
        add_options(parser, FilledChoice)
        add(parser, "--test", help="scores on the test topics, once they are unlocked")
        add(parser, "--out")
        parser.add_argument("--lines", type=Path, metavar="FILE.csv", help="also write whose each line is")
        parser.add_argument("--provenance", type=Path, metavar="FILE", help="also write the provenance")
        parser.add_argument("--scores", type=Path, metavar="FILE.csv", help="also write scores before and after")
        parser.add_argument("--everything", type=Path, metavar="FILE.zip", help="also write all of it with a data card")

    def handle(self, **options: Any) -> None:
        chosen = choose(FilledChoice, options) | ({"part": "test"} if options["test"] else {})
        criterion = find_criterion(options["study"], options["criterion"])
        asked = filling_of(chosen)
        found = computing.filled_qrels(criterion.study, criterion=criterion.pk, **asked)
        files = {
            "out": found.text.encode(),
            "lines": found.owned.csv().encode(),
            "provenance": found.provenance_text.encode(),
            "scores": found.scored.csv().encode(),
        }
        if options["everything"]:
            files["everything"] = filled_files(found, criterion, names=chosen["names"])
        for name, content in files.items():
            if options[name] is not None:
                write_file(options[name], content)
        if options["out"] is None:
            self.stdout.write(found.text, ending="")
        self.tell(found)

    def tell(self, found: FilledQrels) -> None:
        """Say beside the file whose the lines are and what filling changes."""
        counts = found.counts
        self.note(
            f"{counted(counts['lines'], 'lines')} for {counted(counts['topics'], 'topics')}: "
            f"{counts['human_lines']:,} people’s, {counts['filled_lines']:,} by {found.judge}."
        )
        if found.agreement:
            measured = found.agreement
            both = counted(measured.n_items, measured.unit)
            kappa = "–" if measured.kappa.value is None else f"{measured.kappa.value:.3f}"
            self.note(f"Agreement with people: κ {kappa}, {measured.kappa.interval_in_words()}; {both} by both.")
        for warning in found.warnings:
            self.note(f"Note: {warning}")
        if found.no_scores:
            self.note(found.no_scores)
        for scores in found.scores:
            tau = "undefined" if scores.kendall.value is None else f"{scores.kendall.value:.3f}"
            moved = f"{len(scores.moved)} of {counted(len(scores.compared), 'systems')} move"
            self.note(f"{scores.measure}: {moved}, τ_b {tau}, {counted(scores.n_topics, 'topics')}.")
            for one in scores.systems:
                self.note(
                    f"  {one.system}: {_mean(one.before, one.reason)} ({one.low:.3f} to {one.high:.3f}), filled "
                    f"{_mean(one.after, one.reason_after)} ({one.low_after:.3f} to {one.high_after:.3f}), "
                    f"rank {one.rank or '–'} → {one.rank_after or '–'}"
                )


def _mean(mean: float | None, reason: str) -> str:
    """Return "0.725", and why a mean, or a rank, is not given."""
    shown = "–" if mean is None else f"{mean:.3f}"
    return f"{shown} [{reason}]" if reason else shown
