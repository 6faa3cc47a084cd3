"""manage.py divergence: which systems two measures, or two sources of judgments, place most differently."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from collection.judgments.judged_criteria import find_study
from collection.web.commands import FiguresCommand
from collection.web.options import add_options, choose
from evaluation.leaderboards.divergence import MeasureDivergence, chosen_pair, compare_places
from evaluation.leaderboards.serializers import DivergenceChoice
from evaluation.leaderboards.sources import StudySources
from evaluation.management.leaderboards import add_test, read_test_parts
from stats.plurals import counted, times


class Command(FiguresCommand):
    help = "List the ranks of a study's systems by two measures, the most divergent first."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, metavar="NAME")
        add_options(parser, DivergenceChoice)
        add_test(parser)
        super().add_arguments(parser)

    def answer(self, options: dict[str, Any]) -> tuple[dict[str, Any], str]:
        chosen = choose(DivergenceChoice, options)
        study = find_study(options["study"])
        boards = StudySources(study, combine=chosen["combine"], oracle=chosen["oracle"], order=chosen["order"])
        sources = {name: chosen[name] for name in ("source", "other_source")}
        one, other = chosen_pair(boards, chosen["measure"], chosen["other"], **sources)
        if options["test"]:
            read_test_parts(boards, [one[1], other[1]])
        found = compare_places(boards, one, other, part="test" if options["test"] else "development")
        return found.as_dict(), "\n".join(_lines(found))


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
