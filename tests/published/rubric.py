"""RUBRIC: the published leaderboards of TREC DL 2019, and the paper's own example."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean

import numpy as np
import pandas as pd
from django.core.management import call_command
from sklearn.metrics import cohen_kappa_score

from collection.formats.problems import InputFile
from collection.formats.rubric_workbench import read_graded
from stats.measures.grades import GradeTable
from stats.measures.question_banks import relevant_passages
from stats.measures.rubric import cover, leaderboard_marks, qrels_from_grades
from stats.measures.trec import run_of, system_scores
from stats.plurals import counted
from stats.ranking.measure_names import parse_measure
from stats.ranking.rank_correlation import kendall, spearman
from stats.ranking.scoring import SourceGrades, score_systems
from tests.published.figures import SHARED, Figure, LeftOut, Paper

DATA = SHARED / "data" / "rubric"
GRADED = DATA / "DL19-graded-t5-rating-genq-exam-qrels-runs-with-text.jsonl.gz"
COVER, QRELS = "exam-cover-leaderboard.tsv", "exam-qrels-leaderboard-dl19-qrels-genq-self-rating-3.tsv"
TITLE = "RUBRIC (Farzi and Dietz 2024)"
LEFT_OUT = (
    LeftOut(
        "Figures 2 and 3",
        "the graded runs of TREC RAG 2024 are not here; what they show of each board (SE, minimum, median, maximum, "
        "percentiles) is rebuilt above for DL 2019",
    ),
    LeftOut(
        "Tables 10 and 11",
        "the two passages and their grades are of TREC RAG 2024, and neither FLAN-T5-large nor Llama 3 is asked here; "
        "the page of a passage shows such a table of any study",
    ),
    LeftOut("bad questions", "the workbench lists them, but no count is printed for DL 2019 to compare with"),
)


def import_for_pictures() -> None:
    """Import the graded passages with NIST's relevance as the study "dl19", where they are here."""
    if GRADED.is_file():
        relevance = ("--qrels", str(DATA / "dl19.qrels"), "--assessors", "NIST")
        call_command("import_rubric", str(GRADED), "--study", "dl19", "--owner", "papers", *relevance, "--quiet")


@dataclass(frozen=True)
class DeepLearning:
    """43 topics: FLAN-T5's grades, NIST's relevance, and the rankings of 37 systems."""

    tables: dict[str, GradeTable]
    rankings: dict[str, dict[str, list[str]]]
    relevance: dict[str, dict[str, int]]


@cache
def deep_learning() -> DeepLearning:
    tables: dict[str, GradeTable] = {}
    relevance: dict[str, dict[str, int]] = {}
    ranked: dict[str, dict[str, list[tuple[int, str]]]] = {}
    with InputFile(GRADED) as file:
        for _, topic in read_graded(file):
            tables[topic.topic_id] = GradeTable.from_rows(
                (passage.passage_id, question, grade)
                for passage in topic.passages
                for grading in passage.gradings
                for question, grade in grading.grades.items()
            )
            relevance[topic.topic_id] = {passage.passage_id: passage.relevance[0] for passage in topic.passages}
            for passage in topic.passages:
                for place in passage.rankings:
                    found = ranked.setdefault(place.run, {}).setdefault(topic.topic_id, [])
                    found.append((place.rank, passage.passage_id))
    rankings = {
        run: {topic: [passage for _, passage in sorted(found)] for topic, found in topics.items()}
        for run, topics in ranked.items()
    }
    return DeepLearning(tables, rankings, relevance)


def cover_scores(
    tables: Mapping[str, GradeTable], rankings: Mapping[str, Mapping[str, list[str]]], measure: str
) -> pd.DataFrame:
    """Return Cover@k ≥ g, systems × topics, as leaderboards score it."""
    return score_systems(parse_measure(measure), SourceGrades(tables, threshold=4), rankings).table


@dataclass(frozen=True)
class PrintedSystem:
    """A system's row of a published board: score with its standard error, and the normalised score; NIST's rank."""

    score: float
    se: float
    normalised: float
    rank: str


@dataclass(frozen=True)
class PrintedBoard:
    """A published board: its systems, what all of them cover together, and correlations with NIST's order."""

    systems: Mapping[str, PrintedSystem]
    overall: float | None
    correlations: Mapping[str, float]


def published_boards(path: Path) -> dict[str, PrintedBoard]:
    """Return the published boards by the minimum rating at the foot of each."""
    boards: dict[str, PrintedBoard] = {}
    systems: dict[str, PrintedSystem] = {}
    correlations: dict[str, float] = {}
    with path.open(encoding="utf-8") as file:
        for row in csv.reader(file, delimiter="\t"):
            if row and row[0] == "method":
                systems, correlations = {}, {}
            elif len(row) > 7 and row[2] == "+/-":
                systems[row[0]] = PrintedSystem(float(row[1]), float(row[3]), float(row[4]), row[7].strip())
            elif row and row[0] in ("spearman", "kendall"):
                correlations[row[0]] = float(row[1])
            elif row and row[0] == "min_rating":
                overall = systems.pop("_overall_", None)
                boards[row[1]] = PrintedBoard(systems, overall.score if overall else None, correlations)
    return boards


def rebuild() -> Paper:
    if not GRADED.is_file():
        return Paper(TITLE, [*_example()], [LeftOut("TREC DL 2019", "the graded passages are not here"), *LEFT_OUT])
    return Paper(TITLE, [*_example(), *_people(), *_boards()], LEFT_OUT)


def _example() -> Iterator[Figure]:
    """Table 12b: the twenty passages of “pilot-competitor” with their grades of 4."""
    grades = np.zeros((20, 10))
    for passage, question in [(1, 1), (2, 3), (2, 5), (2, 10), (5, 10), (8, 3), (15, 1), (15, 5), (18, 3)]:
        grades[passage, question - 1] = 4
    passages = tuple(f"p{number:02}" for number in range(20))
    table = GradeTable(passages, tuple(f"Q{number}" for number in range(1, 11)), grades)
    yield Figure("Table 12", "pilot-competitor, cover-4", 0.4, cover(table, passages, minimum=4).value or 0.0, 1)
    runs = {"pilot": {"t": run_of(passages)}}
    precise = system_scores("P(rel=4)@20", {"t": qrels_from_grades(table)}, runs).to_numpy()[0, 0]
    yield Figure("Table 12", "pilot-competitor, passages of 20 that answer something", 6, 20 * float(precise), 0)


def _people() -> Iterator[Figure]:
    found = deep_learning()
    both = [
        (found.relevance[topic][passage] >= 2, grade)
        for topic, table in found.tables.items()
        for passage, grade in qrels_from_grades(table).items()
    ]
    people = [person for person, _ in both]
    for what, printed, person, model in (
        ("both", 1949, True, True),
        ("the model only", 2916, False, True),
        ("people only", 552, True, False),
        ("neither", 3843, False, False),
    ):
        n = sum(said == person and (grade >= 3) == model for said, grade in both)
        yield Figure("data", f"DL 2019, highest grade ≥ 3, NIST’s relevance ≥ 2: {what}", printed, n, 0)
    relevant = {topic: {one: grade >= 2 for one, grade in of.items()} for topic, of in found.relevance.items()}
    uncovered = sum(one.state == "uncovered" for one in relevant_passages(found.tables, relevant, minimum=3))
    yield Figure("data", "DL 2019, relevant passages that no question covers at grade ≥ 3", 552, uncovered, 0)
    for at, printed_kappa in ((3, 0.268), (4, 0.292)):
        kappa = cohen_kappa_score(people, [grade >= at for _, grade in both])
        yield Figure("data", f"DL 2019, κ of highest grade ≥ {at} with NIST", printed_kappa, float(kappa), 3)


def _boards() -> Iterator[Figure]:
    found = deep_learning()
    for grade, board in published_boards(DATA / COVER).items():
        table = cover_scores(found.tables, found.rankings, f"Cover@20>={grade}")
        yield from _cover_board(board, table, grade, found)
    qrels: Mapping[str, Mapping[str, int]] = {topic: qrels_from_grades(table) for topic, table in found.tables.items()}
    runs = {
        system: {topic: run_of(ranking) for topic, ranking in topics.items()}
        for system, topics in found.rankings.items()
    }
    board = published_boards(DATA / QRELS)["3"]
    ours = dict(system_scores("P(rel=3)@20", qrels, runs).mean(axis=1))
    yield from _systems("qrels board, P@20 at grade 3", board, ours)
    yield from _correlations("qrels board, P@20 at grade 3", board, ours)


def _cover_board(board: PrintedBoard, table: pd.DataFrame, grade: str, found: DeepLearning) -> Iterator[Figure]:
    """A cover board's mean, spread and correlations; of grades 3 and 4, which the paper reports, every system."""
    where, ours = f"cover board, grade ≥ {grade}", dict(table.mean(axis=1))
    widest = max(abs(ours[system] - one.score) for system, one in board.systems.items())
    note = f"no system differs by more than {widest:.3f}"
    mean = fmean(one.score for one in board.systems.values())
    yield Figure(
        where, f"mean of {len(board.systems)} systems", round(mean, 3), float(table.mean(axis=1).mean()), 3, note
    )
    errors = table.std(axis=1, ddof=1) / np.sqrt(table.shape[1])
    printed_error = round(fmean(one.se for one in board.systems.values()), 3)
    yield Figure(where, "standard error over topics, mean of the systems", printed_error, float(errors.mean()), 3)
    together = {topic: float((of.grades >= float(grade)).any(axis=0).mean()) for topic, of in found.tables.items()}
    if board.overall is not None:
        yield Figure(where, "all systems together", board.overall, fmean(together.values()), 3)
    normalised = table.div(pd.Series(together), axis=1).mean(axis=1).mean()
    printed_normalised = round(fmean(one.normalised for one in board.systems.values()), 3)
    nothing = [topic for topic, share in together.items() if not share]
    with_them = float(normalised) * (1 - len(nothing) / len(together))
    note = f"{counted(len(nothing), 'topics')} without any answer left out; with them as 0: {with_them:.3f}" * bool(
        nothing
    )
    yield Figure(where, "normalised by what all cover together, mean", printed_normalised, float(normalised), 3, note)
    yield from _marks(where, board, ours)
    yield from _correlations(where, board, ours)
    if grade in ("3", "4"):
        yield from _systems(where, board, ours)


def _marks(where: str, board: PrintedBoard, ours: Mapping[str, float]) -> Iterator[Figure]:
    """What Figures 2 and 3 mark on a board."""
    printed = leaderboard_marks({system: one.score for system, one in board.systems.items()})
    computed = leaderboard_marks({system: ours[system] for system in board.systems})
    assert printed is not None
    assert computed is not None
    for name in ("minimum", "median", "maximum", "percentile_75", "percentile_85"):
        what = f"{name.replace('_', ' ')} of the systems"
        yield Figure(where, what, round(getattr(printed, name), 3), getattr(computed, name), 3)


def _correlations(where: str, board: PrintedBoard, ours: Mapping[str, float]) -> Iterator[Figure]:
    ranked = [system for system, one in board.systems.items() if one.rank]
    order = [-float(board.systems[system].rank) for system in ranked]
    for name, coefficient in (("spearman", spearman), ("kendall", kendall)):
        of_printed = coefficient(order, [board.systems[system].score for system in ranked]).value or 0.0
        of_ours = coefficient(order, [ours[system] for system in ranked]).value or 0.0
        note = f"of the printed scores: {of_printed:.3f}"
        yield Figure(where, f"{name.title()} with NIST’s order", board.correlations[name], of_ours, 3, note)


def _systems(where: str, board: PrintedBoard, ours: Mapping[str, float]) -> Iterator[Figure]:
    for system, printed in sorted(board.systems.items()):
        yield Figure(where, system, printed.score, float(ours[system]), 3)
