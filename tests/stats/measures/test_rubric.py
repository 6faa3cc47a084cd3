from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from django.conf import settings
from sklearn.metrics import cohen_kappa_score, confusion_matrix

from collection.formats.problems import InputFile
from collection.formats.rubric_workbench import WorkbenchTopic, read_graded
from stats.measures.grades import GradeTable
from stats.measures.rubric import cover, leaderboard_marks, qrels_from_grades
from stats.measures.trec import run_of, system_scores
from stats.ranking.leaderboard import leaderboard
from stats.ranking.rank_correlation import kendall, spearman
from tests.published.rubric import cover_scores

RUBRIC = Path(settings.BASE_DIR).parent / "shared" / "data" / "rubric"
GRADED = RUBRIC / "DL19-graded-t5-rating-genq-exam-qrels-runs-with-text.jsonl.gz"
needs_rubric = pytest.mark.skipif(not RUBRIC.is_dir(), reason=f"the graded TREC DL 2019 passages are not at {RUBRIC}")


@dataclass
class DeepLearning2019:
    """43 topics, 9,260 passages with NIST's relevance, FLAN-T5's grades and the rankings of 37 systems."""

    tables: dict[str, GradeTable]
    rankings: dict[str, dict[str, list[str]]]
    relevance: dict[str, dict[str, int]]


@pytest.fixture(scope="module")
def dl19() -> DeepLearning2019:
    tables: dict[str, GradeTable] = {}
    ranked: dict[str, dict[str, list[tuple[int, str]]]] = {}
    relevance: dict[str, dict[str, int]] = {}
    with InputFile(GRADED) as file:
        for _, topic in read_graded(file):
            tables[topic.topic_id] = GradeTable.from_rows(grade_rows(topic))
            relevance[topic.topic_id] = {passage.passage_id: passage.relevance[0] for passage in topic.passages}
            for passage in topic.passages:
                for place in passage.rankings:
                    ranked.setdefault(place.run, {}).setdefault(topic.topic_id, []).append(
                        (place.rank, passage.passage_id)
                    )
    rankings = {
        run: {topic: [passage for _, passage in sorted(found)] for topic, found in topics.items()}
        for run, topics in ranked.items()
    }
    return DeepLearning2019(tables, rankings, relevance)


def grade_rows(topic: WorkbenchTopic) -> Iterator[tuple[str, str, float | None]]:
    for passage in topic.passages:
        for grading in passage.gradings:
            for question, grade in grading.grades.items():
                yield passage.passage_id, question, grade


def published_boards(path: Path) -> dict[str, dict[str, tuple[float, str]]]:
    """The score and NIST's rank of each system, by the minimum rating at the foot of each board."""
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


def a_table(grades: list[list[float]], passages: tuple[str, ...] = ("p1", "p2", "p3")) -> GradeTable:
    array = np.array(grades, dtype=np.float64)
    return GradeTable(passages, tuple(f"q{number}" for number in range(array.shape[1])), array)


def test_cover_of_the_papers_example_is_four_of_ten() -> None:
    # Table 12b of the paper: the twenty passages of "pilot-competitor" and their grades of at least 1.
    grades = np.zeros((20, 10))
    for passage, question in [(1, 1), (2, 3), (2, 5), (2, 10), (5, 10), (8, 3), (15, 1), (15, 5), (18, 3)]:
        grades[passage, question - 1] = 4
    passages = tuple(f"p{number}" for number in range(20))
    table = GradeTable(passages, tuple(f"Q{number}" for number in range(1, 11)), grades)

    assert cover(table, passages, k=20, minimum=4).value == 0.4
    assert cover(table, passages, k=2, minimum=4).value == 0.1
    assert cover(table, passages, k=20, minimum=5).value == 0.0


def test_the_papers_example_has_six_relevant_passages_of_twenty() -> None:
    qrels = {f"p{number}": 4 if number in {1, 2, 5, 8, 15, 18} else 0 for number in range(20)}
    ranking = run_of(list(qrels))

    found = {
        measure: system_scores(measure, {"t": qrels}, {"pilot": {"t": ranking}}).loc["pilot", "t"]
        for measure in ("P(rel=4)@20", "P(rel=5)@20")
    }

    assert found == {"P(rel=4)@20": pytest.approx(6 / 20), "P(rel=5)@20": 0.0}


def test_precision_divides_by_twenty_whatever_was_returned() -> None:
    found = system_scores("P(rel=4)@20", {"t": {"p1": 5, "p2": 3}}, {"short": {"t": run_of(["p1", "p2"])}})

    assert found.loc["short", "t"] == pytest.approx(1 / 20)


def test_cover_counts_every_question_and_says_what_may_be_missing() -> None:
    table = a_table([[4, np.nan, 0], [np.nan, 1, 0], [0, 0, 5]])

    found = cover(table, ["p1", "p2"], minimum=4)

    assert (found.value, found.ungraded) == (1 / 3, 1)
    assert found.settings == {"k": 20, "minimum": 4}


def test_cover_without_questions_is_undefined_and_without_passages_zero() -> None:
    without_questions = cover(GradeTable((), (), np.empty((0, 0))), ["p1"])

    assert (without_questions.value, without_questions.reason) == (None, "The rubric has no questions.")
    assert cover(a_table([[5], [5], [5]]), []).value == 0.0


def test_a_system_without_a_ranking_for_a_topic_scores_zero_there() -> None:
    tables = {"t1": a_table([[5], [0], [0]]), "t2": a_table([[5], [0], [0]])}

    found = cover_scores(tables, {"s": {"t1": ["p1"]}}, "Cover@20>=4")

    assert list(found.loc["s"]) == [1.0, 0.0]


def test_a_label_is_the_highest_grade_and_an_ungraded_passage_is_a_hole() -> None:
    labels = qrels_from_grades(a_table([[0, 4, np.nan], [np.nan, np.nan, np.nan], [0, 0, 0]]))

    assert labels == {"p1": 4, "p3": 0}
    assert qrels_from_grades(GradeTable((), ("q",), np.empty((0, 1)))) == {}


def test_marks_of_a_leaderboard() -> None:
    scores = {f"s{number}": number / 20 for number in range(21)}

    marks = leaderboard_marks(scores)

    assert marks is not None
    assert (marks.minimum, marks.median, marks.maximum) == (0.0, 0.5, 1.0)
    assert (marks.percentile_75, marks.percentile_85) == pytest.approx((0.75, 0.85))
    assert marks.above(scores, percentile=85) == ["s20", "s19", "s18"]
    assert leaderboard_marks({}) is None


@pytest.mark.parametrize(
    ("systems", "above"), [(1, (0, 0)), (3, (0, 0)), (4, (1, 0)), (6, (2, 0)), (7, (2, 1)), (21, (5, 3))]
)
def test_a_percentile_needs_a_whole_system_above_it(systems: int, above: tuple[int, int]) -> None:
    scores = {f"s{number}": 1 - number / 10 for number in range(systems)}

    marks = leaderboard_marks(scores)

    assert marks is not None
    found = [marks.above(scores, percentile=percentile) for percentile in (75, 85)]
    assert found == [[f"s{place}" for place in range(n)] for n in above]


@needs_rubric
def test_cover_at_grade_three_is_the_published_leaderboard(dl19: DeepLearning2019) -> None:
    board = published_boards(RUBRIC / "exam-cover-leaderboard.tsv")["3"]

    ours = {one.system: one.mean for one in leaderboard(cover_scores(dl19.tables, dl19.rankings, "Cover@20>=3"))}

    assert len(board) == 37
    assert ours.keys() == board.keys()
    assert max(abs((ours[system].value or 0) - score) for system, (score, _) in board.items()) < 0.012
    assert ours["TUW19-p3-f"].value == pytest.approx(0.726, abs=0.0005)
    assert ours["TUW19-p3-f"].se == pytest.approx(0.031, abs=0.0005)


@needs_rubric
def test_flan_t5_against_people_over_all_passages(dl19: DeepLearning2019) -> None:
    labels = {topic: qrels_from_grades(table) for topic, table in dl19.tables.items()}
    both = [
        (dl19.relevance[topic][passage] >= 2, grade)
        for topic, found in labels.items()
        for passage, grade in found.items()
    ]
    people, grades = [person for person, _ in both], [grade for _, grade in both]

    at_three = confusion_matrix(people, [grade >= 3 for grade in grades])

    assert len(both) == 9260
    assert at_three.tolist() == [[3843, 2916], [552, 1949]]
    assert cohen_kappa_score(people, [grade >= 3 for grade in grades]) == pytest.approx(0.268, abs=0.0005)
    assert cohen_kappa_score(people, [grade >= 4 for grade in grades]) == pytest.approx(0.292, abs=0.0005)


@needs_rubric
def test_the_published_qrels_board_against_the_order_of_nist() -> None:
    board = published_boards(RUBRIC / "exam-qrels-leaderboard-dl19-qrels-genq-self-rating-3.tsv")["3"]
    ranked = {system: (score, -float(rank)) for system, (score, rank) in board.items() if rank}
    scores, order = zip(*ranked.values(), strict=True)

    assert len(ranked) == 36
    assert spearman(order, scores).value == pytest.approx(0.908, abs=0.0005)
    assert kendall(order, scores).value == pytest.approx(0.754, abs=0.0005)


@needs_rubric
def test_rubric_qrels_give_the_published_board_to_the_last_digit(dl19: DeepLearning2019) -> None:
    board = published_boards(RUBRIC / "exam-qrels-leaderboard-dl19-qrels-genq-self-rating-3.tsv")["3"]
    qrels: Mapping[str, Mapping[str, int]] = {topic: qrels_from_grades(table) for topic, table in dl19.tables.items()}
    runs = {
        system: {topic: run_of(ranking) for topic, ranking in topics.items()}
        for system, topics in dl19.rankings.items()
    }

    means = system_scores("P(rel=3)@20", qrels, runs).mean(axis=1)

    assert len(board) == 37
    assert max(abs(float(means[system]) - score) for system, (score, _) in board.items()) < 0.00055
