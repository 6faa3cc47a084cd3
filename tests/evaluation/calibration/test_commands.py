from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from collection.models import Study
from tests.evaluation.crux_data import needs_crux, write_model, write_people
from tests.evaluation.sampled import sampled

__all__ = ["sampled"]


def said(command: str, *arguments: Any, **options: Any) -> str:
    out = StringIO()
    call_command(command, *map(str, arguments), stdout=out, stderr=StringIO(), **options)
    return out.getvalue()


def answered(command: str, *arguments: Any, **options: Any) -> Any:
    return json.loads(said(command, *arguments, "--json", **options))


def tables(folder: Path) -> tuple[Path, Path]:
    """Forty items that a judge graded, the first twenty labelled by one person, who differs on two."""
    judge = folder / "judge.csv"
    judge.write_text("item,rater,grade\n" + "".join(f"i{n},judge,{n % 6}\n" for n in range(80)))
    people = folder / "people.csv"
    people.write_text("item,rater,grade\n" + "".join(f"i{n},ada,{int(n % 6 >= 3) ^ (n < 2)}\n" for n in range(40)))
    return people, judge


def test_calibrates_a_judge_of_a_study(sampled: Study) -> None:
    arguments = ["--study", sampled.name, "--criterion", "answerability", "--judge", "stork-7b"]

    answer, text = answered("calibrate", *arguments), said("calibrate", *arguments)

    assert answer["inclusion_probabilities"] == "drawn"
    assert answer["overall"]["n_ungraded"] == 1
    rows = {line.split()[0]: " ".join(line.split()) for line in text.splitlines() if line.startswith("  ")}
    assert " 80 " in rows["heron"]
    assert rows["ibis"].startswith("ibis same family")


def test_tables_without_a_declaration_lack_the_corrected_scores(tmp_path: Path) -> None:
    people, judge = tables(tmp_path)

    answer = answered("calibrate", people, judge, "--threshold", 3)

    assert answer["overall"]["n_labelled"] == 40
    assert answer["overall"]["scores"]["ppi"]["value"] is None
    assert "the probabilities with which" in answer["overall"]["scores"]["ppi"]["reason"]
    assert answer["overall"]["scores"]["judge"]["value"] == pytest.approx(39 / 80)


def test_tables_of_a_declared_sample_have_them(tmp_path: Path) -> None:
    people, judge = tables(tmp_path)

    scores = answered("calibrate", people, judge, "--threshold", 3, "--random-sample", "--label-shift")["overall"][
        "scores"
    ]

    assert scores["people"]["value"] == pytest.approx(21 / 40)
    assert scores["ppi"]["low"] < scores["ppi"]["value"] < scores["ppi"]["high"]
    assert scores["rogan_gladen"]["value"] is not None


def test_plans_for_tables(tmp_path: Path) -> None:
    people, judge = tables(tmp_path)

    answer = answered("plan_labels", people, judge, "--threshold", 3, "--random-sample", "--half-width", 0.2)

    assert answer["plan"]["needed"] > 0
    assert answer["pilot"]["n_items"] == 80


def test_plans_for_a_study(sampled: Study) -> None:
    arguments = ["--study", sampled.name, "--criterion", "answerability"]

    wide, narrow = (said("plan_labels", *arguments, "--half-width", half_width) for half_width in (0.12, 0.03))
    apart = said("plan_labels", *arguments, "--separate", "heron", "ibis")

    assert "people must label" in wide
    assert "is not possible here: with all 160 items of these 10 topics labelled the interval is ±" in narrow
    assert "topics like these are enough if assessors label all their items" in narrow
    assert "topics like these are enough if assessors label all their questions" in apart


def test_calibrate_promises_what_the_plan_does(sampled: Study) -> None:
    arguments = ["--study", sampled.name, "--criterion", "answerability"]

    outlook = answered("calibrate", *arguments)["half_width_if_all_labelled"]
    plan = answered("plan_labels", *arguments, "--half-width", 0.03)

    assert outlook == pytest.approx(plan["plan"]["least"])
    assert f"the interval would be about ± {outlook:.3f}" in said("calibrate", *arguments)


@pytest.mark.parametrize(
    ("command", "arguments", "message"),
    [
        ("calibrate", [], "Name either"),
        ("calibrate", ["--study", "bridges-study", "--threshold", "3"], "--threshold is only for tables"),
        ("calibrate", ["--study", "nothing"], "is not a study"),
        ("calibrate", ["--study", "bridges-study", "--criterion", "answerability", "--judge", "x"], "stork-7b"),
        ("plan_labels", ["--study", "bridges-study"], "Give either"),
        (
            "plan_labels",
            ["--study", "bridges-study", "--criterion", "answerability", "--half-width", "0.1", "--system", "x"],
            "Systems: heron, ibis",
        ),
    ],
)
def test_says_what_is_wrong(sampled: Study, command: str, arguments: list[str], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        said(command, *arguments)


@needs_crux
def test_the_real_judge_finds_less_than_people_do(tmp_path: Path) -> None:
    files = write_people(tmp_path), write_model(tmp_path)

    answer = answered("calibrate", *files, "--threshold", 3, "--random-sample")

    scores = answer["overall"]["scores"]
    assert (answer["overall"]["n_items"], answer["overall"]["n_labelled"]) == (165, 157)  # 8 are masked
    assert scores["judge"]["value"] < scores["ppi"]["value"]
    assert scores["ppi"]["value"] == pytest.approx(scores["people"]["value"], abs=0.02)
