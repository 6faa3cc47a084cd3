from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from collection.models import Rater, Study
from tests.evaluation.ranked import three_systems

QRELS = "t1 0 a 2\nt1 0 b 0\nt2 0 a 1\nt2 0 b 1\nt2 0 c 0\nt3 0 c 1\n"
GOOD = "t1 Q0 a 1 9 good\nt2 Q0 a 1 9 good\nt2 Q0 b 2 8 good\nt3 Q0 c 1 5 good\n"
POOR = "t1 Q0 b 1 9 poor\nt2 Q0 c 1 9 poor\nt2 Q0 a 2 8 poor\n"


@pytest.fixture
def ranked(study: Study, ada_as_rater: Rater, ben_as_rater: Rater) -> Study:
    three_systems(study, [ada_as_rater, ben_as_rater])
    return study


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    for name, text in {"qrels": QRELS, "good.run": GOOD, "poor.run": POOR}.items():
        (tmp_path / name).write_text(text)
    return ["--qrels", str(tmp_path / "qrels"), "--runs", str(tmp_path / "good.run"), str(tmp_path / "poor.run")]


def test_prints_a_studys_leaderboard(ranked: Study, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("leaderboard", "--study", "bridges-study", "--measure", "coverage")

    said = capsys.readouterr().out
    assert re.search(r"^  middle +people .*0\.6111 .*  2 ", said, re.M)
    assert "Changed winners by coverage" in said


def test_prints_json_of_one_source(ranked: Study, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("leaderboard", study="bridges-study", measure="Cover@20>=3", source=["small-judge"], json=True)

    answer = json.loads(capsys.readouterr().out)
    [source] = answer["sources"]
    assert source["source"] == "small-judge"
    assert source["ungraded"]["n"] == 18


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "Name either a --study, or --qrels and --runs"),
        ({"study": "nothing"}, "“nothing” is not a study. Studies: bridges-study"),
        (
            {"study": "bridges-study", "measure": "KPR@10"},
            "There are no judgments for KPR@10. Available measures",
        ),
        ({"study": "bridges-study", "measure": "goodness"}, "There is no measure “goodness”"),
        ({"study": "bridges-study", "source": ["nobody"]}, "Sources that have: people, small-judge"),
    ],
)
def test_refuses_what_it_cannot_do(ranked: Study, options: dict[str, Any], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        call_command("leaderboard", **{"measure": "coverage", **options})


def test_scores_runs_against_qrels(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    call_command("leaderboard", *files, "--measure", "P@1", "--json")

    answer = json.loads(capsys.readouterr().out)
    assert [(one["system"], one["rank"], one["value"]) for one in answer["systems"]] == [
        ("good", 1, 1.0),
        ("poor", 2, 0.0),
    ]
    assert answer["n_topics"] == 3


def test_a_topic_that_a_run_lacks_scores_zero(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    call_command("leaderboard", *files, "--measure", "RR")

    assert "   2  poor                            0.1667" in capsys.readouterr().out


def test_a_broken_run_names_file_and_line(files: list[str]) -> None:
    Path(files[-1]).write_text("t1 Q0 a\n")

    with pytest.raises(CommandError, match=r"poor\.run, line 1"):
        call_command("leaderboard", *files, "--measure", "P@1")


def test_a_passage_that_a_run_ranks_twice_is_refused(files: list[str]) -> None:
    Path(files[-1]).write_text("t1 Q0 a 1 9 poor\nt1 Q0 a 2 8 poor\n")

    with pytest.raises(CommandError, match=r"poor\.run, line 2: The topic “t1” ranks “a” twice"):
        call_command("leaderboard", *files, "--measure", "P@1")


def test_two_runs_of_one_name_are_refused(files: list[str]) -> None:
    Path(files[-1]).write_text(GOOD)

    with pytest.raises(CommandError, match="same tag"):
        call_command("leaderboard", *files, "--measure", "P@1")
