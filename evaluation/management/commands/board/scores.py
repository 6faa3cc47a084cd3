from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from django.core.management.base import CommandError, CommandParser

from collection.formats.problems import BrokenLine, InputFile
from collection.formats.trec import read_qrels, read_run
from collection.rankings import Order, Ranked, in_order
from collection.web.options import choose
from collection.web.report_commands import command_of
from evaluation.formats.text import interval_text
from evaluation.leaderboards.columns import Standings
from evaluation.leaderboards.export import system_as_dict
from evaluation.leaderboards.reports import LeaderboardReport
from evaluation.leaderboards.serializers import LeaderboardChoice
from stats.measures.grades import GradeTable
from stats.measures.trec import Qrels, Run, run_of
from stats.pattern_intervals import Estimate
from stats.plurals import counted
from stats.ranking.measure_names import NoLeaderboard, parse_measure
from stats.ranking.scoring import SourceGrades, score_systems


class Command(command_of(LeaderboardReport)):  # type: ignore[misc]  # a class that is made
    help = "Rank systems by a measure: from a study's judgments, or from qrels and runs."
    study_help = "score this study's systems, with every source of judgments"

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--qrels", type=Path, metavar="FILE", help="TREC qrels, instead of a study")
        parser.add_argument("--runs", type=Path, nargs="+", default=[], metavar="FILE", help="TREC runs, with --qrels")

    def answer(self, options: dict[str, Any]) -> tuple[dict[str, Any], str]:
        if bool(options["study"]) == bool(options["qrels"] and options["runs"]):
            raise CommandError("Name either a --study, or --qrels and --runs.")
        answer: tuple[dict[str, Any], str] = super().answer(options) if options["study"] else _of_files(options)
        return answer


def _of_files(options: dict[str, Any]) -> tuple[dict[str, Any], str]:
    chosen = choose(LeaderboardChoice, options)
    if options["test"]:
        raise CommandError("Files have no test topics; --test is only for a study.")
    qrels = qrels_of(options["qrels"])
    runs = dict(run_of_file(path, order=chosen["order"]) for path in options["runs"])
    if len(runs) < len(options["runs"]):
        raise CommandError("Two runs have the same tag. Give each run its own tag.")
    board = score_files(chosen["measure"], qrels, runs)
    answer = {
        "measure": board.scored.shown,
        "order": chosen["order"],
        "n_topics": len(qrels),
        "marks": vars(board.marks) if board.marks else None,
        "systems": [system_as_dict(board, one) for one in board.standings],
        "pairs": [
            {"first": pair.first, "second": pair.second, **pair.difference.as_dict()}
            | {"p": pair.p, "p_holm": pair.p_holm, "significant": pair.significant}
            for pair in board.pairs
        ],
    }
    return answer, "\n".join([board.scored.shown, *standings_lines(board)])


def score_files(measure: str, qrels: Qrels, runs: Mapping[str, Run]) -> Standings:
    """Return the runs under the measure, on all topics of the qrels. Raises UnknownMeasure and NoLeaderboard."""
    if "η" in measure or "eta" in measure:
        raise NoLeaderboard("Qrels have no threshold: give the lowest relevant grade, as in P(rel=2)@5.")
    labels = {
        topic: GradeTable(tuple(found), ("",), np.array(list(found.values()), dtype=np.float64)[:, None])
        for topic, found in qrels.items()
    }
    rankings = {
        run: {topic: sorted(found, key=lambda docno: -found[docno]) for topic, found in of_run.items()}
        for run, of_run in runs.items()
    }
    scale = tuple(sorted({0.0, *(float(grade) for found in qrels.values() for grade in found.values())}))
    scored = score_systems(parse_measure(measure), SourceGrades(labels, threshold=1, scale=scale), rankings)
    return Standings(scored=scored, topics=tuple(qrels))


def qrels_of(path: Path) -> dict[str, dict[str, int]]:
    """Read qrels by topic and docno. Raises BrokenFile, and CommandError for grades that are not whole."""
    qrels: dict[str, dict[str, int]] = {}
    with InputFile(path, name=str(path)) as file:
        for number, line in read_qrels(file):
            if line.grade != int(line.grade):
                raise CommandError(f"{path}, line {number}: {line.grade:g} is not a whole number, as qrels require.")
            qrels.setdefault(line.topic_id, {})[line.passage_id] = int(line.grade)
    if not qrels:
        raise CommandError(f"{path} contains no judgments.")
    return qrels


def run_of_file(path: Path, *, order: Order) -> tuple[str, dict[str, dict[str, float]]]:
    """Read a run's tag, and by topic and docno scores that fall in this order. Raises BrokenFile."""
    lines: dict[str, dict[str, Ranked]] = defaultdict(dict)
    tag = ""
    with InputFile(path, name=str(path)) as file:
        for number, line in read_run(file):
            tag = tag or line.tag
            with file.line(number):
                if line.passage_id in lines[line.topic_id]:
                    raise BrokenLine(
                        f"The topic “{line.topic_id}” ranks “{line.passage_id}” twice.", "Remove one line."
                    )
            lines[line.topic_id][line.passage_id] = Ranked(line.passage_id, line.rank, line.score)
    return tag or path.stem, {topic: run_of(in_order(found.values(), order)) for topic, found in lines.items()}


def standings_lines(column: Standings) -> list[str]:
    """Return a line for each system: its rank, mean and judged@k, or why it has none."""
    lines = [column.unordered] if column.unordered else []
    for one in column.standings:
        reason = column.why_not(one.system) if not column.unordered or one.mean.value is None else ""
        judged = column.judged(one.system)
        rank = "–" if one.rank is None else str(one.rank)
        shown = f"  judged {judged:.0%}" if judged is not None else ""
        lines.append(f"{rank:>4}  {one.system:<32}{mean_text(one.mean, reason)}{shown}")
        if (micro := column.micro.get(one.system)) and micro.value is not None:
            lines.append(f"{'':<38}{micro.value:.4f} micro  {interval_text(micro)}".rstrip())
        if bounds := column.bounds.get(one.system):
            place = f"; its place is open: {bounds.best} to {bounds.worst}" if bounds.open else ""
            unjudged = counted(bounds.unjudged, "judgments")
            lines.append(f"{'':<38}{bounds.low:.4f} to {bounds.high:.4f} by {unjudged} not made{place}")
    return [*lines, *([f"{column.open_in_words}."] if column.open_in_words else [])]


def mean_text(mean: Estimate, reason: str) -> str:
    """Return "0.7256 ± 0.0310  [0.6630, 0.7882] (43 topics)", and why there is no mean, interval or rank."""
    if mean.value is None:
        return f"– ({reason})"
    error = f" ± {mean.se:.4f}" if mean.se is not None and mean.low is not None else ""
    return "  ".join(filter(None, (f"{mean.value:.4f}{error}", interval_text(mean), reason and f"({reason})")))
