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
from stats.measures.rubric import cover, qrels_from_grades
from stats.measures.trec import run_of, system_scores
from stats.ranking.measure_names import parse_measure
from stats.ranking.rank_correlation import kendall, spearman
from stats.ranking.scoring import SourceGrades, score_systems
from tests.published.figures import SHARED, Figure, LeftOut, Paper

DATA = SHARED / "data" / "rubric"
GRADED = DATA / "DL19-graded-t5-rating-genq-exam-qrels-runs-with-text.jsonl.gz"
COVER, QRELS = "exam-cover-leaderboard.tsv", "exam-qrels-leaderboard-dl19-qrels-genq-self-rating-3.tsv"
TITLE = "RUBRIC (Farzi and Dietz 2024)"
LEFT_OUT = (
    LeftOut("Figures 2 and 3, Tables 10 and 11", "the graded runs of TREC RAG 2024 are not here; their measures are"),
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


def published_boards(path: Path) -> dict[str, dict[str, tuple[float, str]]]:
    """Return the score and NIST's rank of each system, by the minimum rating at the foot of each board."""
    boards: dict[str, dict[str, tuple[float, str]]] = {}
    rows: dict[str, tuple[float, str]] = {}
    with path.open(encoding="utf-8") as file:
        for row in csv.reader(file, delimiter="\t"):
            if row and row[0] == "method":
                rows = {}
            elif len(row) > 7 and row[2] == "+/-" and row[0] != "_overall_":
                rows[row[0]] = (float(row[1]), row[7].strip())
            elif row and row[0] == "min_rating":
                boards[row[1]] = rows
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
    for at, printed_kappa in ((3, 0.268), (4, 0.292)):
        kappa = cohen_kappa_score(people, [grade >= at for _, grade in both])
        yield Figure("data", f"DL 2019, κ of highest grade ≥ {at} with NIST", printed_kappa, float(kappa), 3)


def _boards() -> Iterator[Figure]:
    found = deep_learning()
    for grade, board in published_boards(DATA / COVER).items():
        ours = dict(cover_scores(found.tables, found.rankings, f"Cover@20>={grade}").mean(axis=1))
        widest = max(abs(ours[system] - printed) for system, (printed, _) in board.items())
        means = fmean(printed for printed, _ in board.values()), fmean(ours[system] for system in board)
        note = f"no system differs by more than {widest:.3f}"
        yield Figure(
            "cover board", f"grade ≥ {grade}, mean of {len(board)} systems", round(means[0], 3), means[1], 3, note
        )
        if grade == "3":
            yield from _systems("cover board, grade ≥ 3", board, ours)
    qrels: Mapping[str, Mapping[str, int]] = {topic: qrels_from_grades(table) for topic, table in found.tables.items()}
    runs = {
        system: {topic: run_of(ranking) for topic, ranking in topics.items()}
        for system, topics in found.rankings.items()
    }
    board = published_boards(DATA / QRELS)["3"]
    yield from _systems(
        "qrels board, P@20 at grade 3", board, dict(system_scores("P(rel=3)@20", qrels, runs).mean(axis=1))
    )
    ranked = {system: (score, -float(rank)) for system, (score, rank) in board.items() if rank}
    scores, order = zip(*ranked.values(), strict=True)
    yield Figure("data", "qrels board with NIST’s order: Spearman", 0.908, spearman(order, scores).value or 0.0, 3)
    yield Figure("data", "qrels board with NIST’s order: Kendall", 0.754, kendall(order, scores).value or 0.0, 3)


def _systems(where: str, board: Mapping[str, tuple[float, str]], ours: Mapping[str, float]) -> Iterator[Figure]:
    for system, (printed, _) in sorted(board.items()):
        yield Figure(where, system, printed, float(ours[system]), 3)
