"""manage.py divergence: which systems two measures, or two sources of judgments, place most differently."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from evaluation.data.judgments import CriterionNotFound, find_study
from evaluation.data.visibility import NotSplit, TestPartLocked, times
from evaluation.leaderboards.divergence import MeasureDivergence, chosen_pair, compare_places
from evaluation.leaderboards.sources import StudySources
from evaluation.management.base import EvaluationCommand
from evaluation.management.leaderboards import add_rules, read_test_parts
from stats.plurals import counted
from stats.ranking.measure_names import NoLeaderboard


class Command(EvaluationCommand):
    help = "List the ranks of a study's systems by two measures, the most divergent first."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, metavar="NAME")
        parser.add_argument("--measure", required=True, metavar="M", help="Cover@20>=4, nDCG@20, coverage, …")
        parser.add_argument("--other", default="", metavar="M", help="the other measure (default: the same)")
        parser.add_argument(
            "--source", default="", metavar="NAME", help="people, or a judge (default: the first source)"
        )
        parser.add_argument("--other-source", default="", metavar="NAME", help="the other source (default: the same)")
        add_rules(parser)
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, **options: Any) -> None:
        try:
            found = _divergence(options)
        except (CriterionNotFound, NoLeaderboard, NotSplit, TestPartLocked) as refused:
            raise CommandError(str(refused)) from refused
        if options["json"]:
            self.print_json(found.as_dict())
        else:
            self.stdout.write("\n".join(_lines(found)))


def _divergence(options: dict[str, Any]) -> MeasureDivergence:
    study = find_study(options["study"])
    boards = StudySources(study, combine=options["combine"], oracle=options["oracle"], order=options["order"])
    sources = {"source": options["source"], "other_source": options["other_source"]}
    one, other = chosen_pair(boards, options["measure"], options["other"], **sources)
    if not options["test"]:
        return compare_places(boards, one, other)
    read_test_parts(boards, [one[1], other[1]])
    return compare_places(boards, one, other, part="test")


def _lines(found: MeasureDivergence) -> list[str]:
    if found.reason:
        return [found.reason]
    sight = found.sight
    read = "; ".join(f"{judge}: unlocked {times(sight.readings_of(judge))}" for judge in sight.judges)
    lines = [f"{sight.words}; test topics of {read}"] if sight.words else []
    lines += [
        f"{counted(len(found.systems), 'systems')} on {counted(len(found.topics), 'topics')}; "
        "rank 1 has the highest mean",
        f"{'places':>6}  {'system':<32}{found.one.key}; {found.other.key}",
    ]
    for one in found.systems:
        mean, other = found.means[one.system]
        lines.append(
            f"{one.places:>+6g}  {one.system:<32}{one.rank:g} ({mean:.4f}); {one.rank_by_other:g} ({other:.4f})"
        )
    return lines
