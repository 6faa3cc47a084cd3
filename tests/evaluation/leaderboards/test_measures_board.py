"""Several measures of the same systems side by side."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from collection.models import Rater, Run, Study, User
from collection.splits import make_split
from evaluation.leaderboards.leaderboard import measure_leaderboard
from evaluation.leaderboards.measures.board import MeasuresBoard, measure_board
from evaluation.leaderboards.measures.export import paper_table
from evaluation.leaderboards.sources import Scorer
from stats.ranking.measure_names import parse_measure
from stats.refusals import Refused
from tests.evaluation.ranked import three_systems

AT = datetime(2026, 5, 1, tzinfo=UTC)
PAGE = "/studies/bridges-study/leaderboard/measures/"
API = "/api/v1/studies/bridges-study/leaderboard/measures/"
COVERAGE, COVER, BY_JUDGE = "coverage · people", "Cover@2>=3 · people", "coverage · small-judge"
COLUMNS = [COVERAGE, COVER, BY_JUDGE]
FILES = [
    "measures.json",
    "systems.svg",
    "systems.pdf",
    "board.csv",
    "board.tex",
    "scores.csv",
    "topics.csv",
    "marks.tex",
]


@pytest.fixture
def ranked(study: Study, ada_as_rater: Rater, ben_as_rater: Rater) -> Study:
    three_systems(study, [ada_as_rater, ben_as_rater])
    return study


def board_of(study: Study, columns: list[str] = COLUMNS, **asked: object) -> MeasuresBoard:
    return measure_board(Scorer.of(study), columns, **asked)  # type: ignore[arg-type]


def order_of(board: MeasuresBoard, sort: str = "") -> list[str]:
    return [row.system for group in replace(board, sort=sort).groups() for row in group.rows]


def test_each_column_has_the_means_of_its_leaderboard(ranked: Study) -> None:
    board = board_of(ranked)

    for one in board.columns:
        alone = measure_leaderboard(Scorer.of(ranked), parse_measure(one.measure.name), sources=[one.column.name])
        assert one.column.means == alone.columns[0].means
        assert one.column.marks == alone.columns[0].marks
    assert [one.key for one in board.columns] == COLUMNS


def test_a_measure_alone_is_by_its_first_source_and_none_is_what_the_study_offers(ranked: Study) -> None:
    assert board_of(ranked, ["coverage"]).keys == [COVERAGE]
    assert board_of(ranked, []).keys[:2] == [COVERAGE, "Cover@20>=3 · people"]


def test_is_sorted_by_any_column_both_ways(ranked: Study) -> None:
    board = board_of(ranked)

    assert order_of(board) == ["best", "middle", "worst"]
    assert order_of(board, f"-{COVERAGE}") == ["worst", "middle", "best"]
    assert order_of(board, BY_JUDGE) == ["middle", "best", "worst"]
    assert order_of(board, "-system") == ["worst", "middle", "best"]


def test_best_and_worst_are_marked_and_all_that_tie_for_it(ranked: Study) -> None:
    (group,) = board_of(ranked).groups()

    marks = {row.system: [cell.mark for cell in row.cells] for row in group.rows}

    assert marks == {"best": ["best", "best", ""], "middle": ["", "best", "best"], "worst": ["worst"] * 3}


def test_what_is_set_apart_has_its_mean_and_no_say(ranked: Study) -> None:
    compared, aside = board_of(ranked, apart=["best"]).groups()

    assert [row.system for row in compared.rows] == ["middle", "worst"]
    assert compared.rows[0].cells[0].mark == "best"
    assert compared.spreads[0] is not None
    assert compared.spreads[0].marks.maximum == pytest.approx(0.6111, abs=1e-4)
    assert compared.spreads[0].marks.minimum == pytest.approx(0.2778, abs=1e-4)
    (bound,) = aside.rows
    standing = bound.cells[0].standing
    assert (bound.system, bound.cells[0].mark, aside.spreads[0]) == ("best", "", None)
    assert standing is not None
    assert (standing.mean.value, standing.rank) == (1.0, None)


def test_the_oracle_is_set_apart_unless_other_runs_are(ranked: Study) -> None:
    Run.objects.filter(name="best").update(name="oracle")

    assert [group.apart for group in board_of(ranked).groups()] == [False, True]
    assert [row.system for row in board_of(ranked, apart=["worst"]).groups()[1].rows] == ["worst"]


def test_groups_have_their_own_best_and_worst(ranked: Study) -> None:
    Run.objects.filter(name__in=("best", "middle")).update(attributes={"task": "RAG"})
    Run.objects.filter(name="worst").update(attributes={"task": "R"})

    retrieval, rag = board_of(ranked, by="task").groups()

    assert (retrieval.name, [row.system for row in retrieval.rows]) == ("R", ["worst"])
    assert (rag.name, [row.cells[0].mark for row in rag.rows]) == ("RAG", ["best", "worst"])
    assert retrieval.rows[0].cells[0].mark == ""  # alone it is neither


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"columns": ["goodness@3"]}, "There is no measure “goodness@3”"),
        ({"columns": ["coverage · nobody"]}, "“nobody” has no judgments for coverage"),
        ({"apart": ["nothing"]}, "no run “nothing” to set apart"),
        ({"by": "task"}, "cannot be grouped by “task”"),
    ],
)
def test_what_there_is_not_is_refused_with_the_reason(ranked: Study, asked: dict[str, list[str]], said: str) -> None:
    with pytest.raises(Refused, match=said):
        board_of(ranked, **asked)


def test_a_paper_s_table_has_best_in_bold_and_the_spread_below(ranked: Study) -> None:
    head, first, *_, median, _ = paper_table(board_of(ranked))

    assert head == ["system", *COLUMNS]
    assert [str(cell) for cell in first] == ["best", "1.000 ± 0.000", "0.667 ± 0.000", "0.333 ± 0.000"]
    assert median[:2] == ["Median", pytest.approx(0.6111, abs=1e-4)]


def test_the_page_shows_the_measures_and_links_to_sort_by_them(client: Client, ranked: Study, rosa: User) -> None:
    client.force_login(rosa)

    page = client.get(PAGE, {"column": [COVERAGE, COVER], "sort": COVER}).content.decode()

    assert "Cover@2 ≥ 3" in page
    assert "sort=-Cover%402%3E%3D3+%C2%B7+people" in page
    assert page.count('class="number best"') == 3  # two are alike by Cover
    assert "± 0.056" in page  # middle


def test_further_measures_come_from_a_field_of_text(client: Client, ranked: Study, rosa: User) -> None:
    client.force_login(rosa)

    response = client.get(PAGE, {"column": COVERAGE, "also": "Cover@2>=3; coverage · small-judge"})

    assert response.context["board"].keys == COLUMNS


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"column": "goodness"}, "There is no measure"),
        ({"topics": "none"}, "not a valid choice"),
        ({"column": ["coverage"] * 25}, "no more than 24"),
    ],
)
def test_the_page_says_what_it_refuses(client: Client, ranked: Study, rosa: User, asked: object, said: str) -> None:
    client.force_login(rosa)

    response = client.get(PAGE, asked)  # type: ignore[arg-type]

    assert response.status_code == 422
    assert said in response.content.decode()
    assert client.get(f"{PAGE}measures.json", asked).status_code == 404  # type: ignore[arg-type]
    assert client.get(f"{PAGE}systems.svg", asked).status_code == 404  # type: ignore[arg-type]


def test_every_file_is_there(client: Client, ranked: Study, rosa: User) -> None:
    client.force_login(rosa)

    assert {file: client.get(PAGE + file, {"column": COLUMNS}).status_code for file in FILES} == dict.fromkeys(
        FILES, 200
    )


def test_the_table_names_the_measure_of_each_score(client: Client, ranked: Study, rosa: User) -> None:
    client.force_login(rosa)

    rows = list(csv.DictReader(io.StringIO(client.get(f"{PAGE}scores.csv", {"column": COLUMNS}).content.decode())))

    assert len(rows) == 9
    middle = next(row for row in rows if (row["system"], row["source"]) == ("middle", "small-judge"))
    assert (middle["measure"], middle["rank"], middle["mark"], middle["topics"]) == ("coverage≥3", "1", "best", "6")


def test_api_and_command_answer_the_same(client: Client, ranked: Study, rosa: User, tmp_path: Path) -> None:
    client.force_login(rosa)
    out = io.StringIO()
    asked = [option for key in COLUMNS for option in ("--column", key)]
    files = {form: tmp_path / f"board.{form}" for form in ("tex", "svg", "pdf")}
    written = [option for form, path in files.items() for option in (f"--{form}", str(path))]

    call_command("measures_board", "--study", ranked.name, *asked, *written, "--json", stdout=out)

    assert json.loads(out.getvalue()) == client.get(API, {"column": COLUMNS}).json()
    assert r"\textbf{1.000 $\pm$ 0.000}" in files["tex"].read_text()
    assert files["svg"].read_text().startswith("<svg")
    assert files["pdf"].read_bytes().startswith(b"%PDF-")


def test_the_command_prints_the_table(ranked: Study) -> None:
    out = io.StringIO()

    call_command("measures_board", "--study", ranked.name, "--column", "coverage", stdout=out)

    assert re.search(r"^  worst +0\.2778", out.getvalue(), re.M)
    with pytest.raises(CommandError, match="no measure"):
        call_command("measures_board", "--study", ranked.name, "--column", "goodness")


def test_a_locked_judge_asked_for_by_name_is_not_shown(client: Client, ranked: Study, rosa: User) -> None:
    client.force_login(rosa)
    make_split(study=ranked, test_share=0.5, by=rosa, at=AT, seed="s")

    assert client.get(PAGE, {"column": BY_JUDGE, "part": "test"}).status_code == 404
    assert client.get(PAGE, {"column": BY_JUDGE}).status_code == 200
