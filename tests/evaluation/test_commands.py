from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, ManagementUtility, call_command

from collection.models import Rater, Study
from tests.evaluation.judged import a_ranking, criterion_of, judge_items, passage_items

PEOPLE = "item,rater,grade,topic\n" + "".join(
    f"i{number},{rater},{grade},t{number // 2}\n"
    for rater, grades in (("ada", "54302150"), ("ben", "53312141"))
    for number, grade in enumerate(grades)
)
JUDGE = "item,rater,grade,topic\n" + "".join(
    f"i{number},judge,{grade},t{number // 2}\n" for number, grade in enumerate("54203051")
)


@pytest.fixture
def tables(tmp_path: Path) -> tuple[str, str]:
    people, judge = tmp_path / "people.csv", tmp_path / "judge.csv"
    people.write_text(PEOPLE)
    judge.write_text(JUDGE)
    return str(people), str(judge)


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    call_command(*arguments, "--json")
    parsed: dict[str, Any] = json.loads(capsys.readouterr().out)
    return parsed


def manage(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run manage.py as a person does."""
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        env=os.environ,
        check=False,
    )


def test_agreement_has_the_keys_that_are_promised(tables: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    agreement = answer(capsys, "agreement", tables[0], "--scale", "0,1,2,3,4,5")

    assert list(agreement) == ["n_items", "n_raters", "n_ratings", "level", "scale", "statistics"]
    assert (agreement["n_items"], agreement["n_raters"], agreement["n_ratings"]) == (8, 2, 16)
    assert (agreement["level"], agreement["scale"]) == ("ordinal", [0, 1, 2, 3, 4, 5])
    statistics = agreement["statistics"]
    pairs = statistics.pop("cohen_kappa")
    assert set(statistics) == {
        "percent_agreement",
        "fleiss_kappa",
        "randolph_kappa",
        "gwet_ac1",
        "gwet_ac2",
        "krippendorff_alpha",
    }
    assert all(set(figure) >= {"value", "low", "high", "n_topics", "n_items"} for figure in statistics.values())
    assert set(pairs[0]) >= {"raters", "value", "low", "high", "linear", "quadratic"}
    assert pairs[0]["raters"] == ["ada", "ben"]


def test_undefined_coefficients_are_null_with_a_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "one.csv"
    path.write_text("item,rater,grade\na,ada,1\nb,ada,2\n")

    agreement = answer(capsys, "agreement", str(path))

    assert agreement["statistics"]["fleiss_kappa"] == {"value": None, "reason": "one rater only"}
    assert agreement["statistics"]["cohen_kappa"] == []


def test_comparison_has_the_keys_that_are_promised(tables: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    comparison = answer(capsys, "compare", *tables, "--threshold", "3")

    promised = {
        "n_items",
        "kappa",
        "kappa_quadratic",
        "krippendorff_alpha",
        "spearman",
        "kendall",
        "threshold",
        "coverage",
        "by_rater",
    }
    assert promised <= set(comparison)
    for name in ("kappa", "kappa_quadratic", "krippendorff_alpha"):
        assert set(comparison[name]) >= {"value", "low", "high", "n_topics", "n_items"}
    assert comparison["threshold"]["at"] == 3
    assert set(comparison["threshold"]["positive"]) == {"precision", "recall", "f1"}
    assert set(comparison["coverage"]) == {"spearman", "kendall"}
    assert set(comparison["by_rater"]) == {"ada", "ben"}
    assert comparison["spearman"] == pytest.approx(comparison["by_rater"]["ada"]["spearman"], abs=0.5)


def test_another_threshold_for_people_means_another_scale(
    tables: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    comparison = answer(capsys, "compare", *tables, "--threshold", "3", "--human-threshold", "2")

    assert comparison["threshold"]["human_at"] == 2
    assert comparison["kappa"]["value"] is None


def test_a_judge_is_chosen_from_several(tables: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CommandError, match="several raters: ada, ben"):
        call_command("compare", tables[1], tables[0], "--threshold", "3")

    comparison = answer(capsys, "compare", tables[1], tables[0], "--threshold", "3", "--judge", "ben")

    assert comparison["n_items"] == 8


def test_figures_are_readable_without_json(tables: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    call_command("agreement", tables[0])
    call_command("compare", *tables, "--threshold", "3")

    out = capsys.readouterr().out
    assert "Fleiss’ κ" in out
    assert "Recall of yes" in out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["agreement", "nothing.csv", "--json"], "nothing.csv: No such file or directory"),
        (["agreement", "nothing.csv", "--level", "weird"], "invalid choice: 'weird'"),
        (["agreement", "--json"], "Name either a TABLE or a --study"),
        (["compare", "one.csv", "--json"], "Name either a HUMAN_TABLE and a JUDGE_TABLE, or a --study"),
        (["compare", "one.csv", "two.csv", "--threshold", "high"], "invalid finite value"),
        (["compare", "one.csv", "two.csv", "--threshold", "nan"], "invalid finite value"),
        (["compare", "one.csv", "two.csv"], "Give --threshold"),
        (["export_qrels"], "--study"),
    ],
)
def test_errors_go_to_standard_error_with_status_1(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    # As manage.py does it, once Django is set up.
    with pytest.raises(SystemExit) as ended:
        ManagementUtility().fetch_command(arguments[0]).run_from_argv(["manage.py", *arguments])

    printed = capsys.readouterr()
    assert ended.value.code == 1
    assert printed.out == ""
    assert complaint in printed.err
    assert "Traceback" not in printed.err


def test_only_the_json_goes_to_standard_output(tmp_path: Path) -> None:
    path = tmp_path / "gaps.csv"
    path.write_text("item,rater,grade\na,ada,1\na,ben,1\nb,ada,\nb,ben,2\n")

    finished = manage("agreement", str(path), "--json")

    assert finished.returncode == 0
    assert json.loads(finished.stdout)["n_ratings"] == 3
    assert "1 of 4 rows have no grade" in finished.stderr


def test_a_studys_agreement_is_peoples(judged: Study, capsys: pytest.CaptureFixture[str]) -> None:
    agreement = answer(capsys, "agreement", "--study", judged.name)

    assert (agreement["n_items"], agreement["n_raters"], agreement["level"]) == (6, 2, "nominal")
    assert agreement["statistics"]["percent_agreement"]["value"] == pytest.approx(4 / 6)


def test_a_studys_people_are_compared_with_its_judge(judged: Study, capsys: pytest.CaptureFixture[str]) -> None:
    comparison = answer(capsys, "compare", "--study", judged.name, "--judge", "small-judge")

    assert (comparison["n_items"], comparison["n_ungraded"]) == (6, 1)


def test_qrels_are_written_with_their_provenance(judged: Study, tmp_path: Path) -> None:
    qrels, provenance = tmp_path / "a.qrels", tmp_path / "a.json"

    call_command("export_qrels", "--study", judged.name, "--output", str(qrels), "--provenance", str(provenance))

    assert qrels.read_text() == "t0 0 alpha-1 1\nt1 0 alpha-1 1\n"
    assert json.loads(provenance.read_text())["counts"]["lines"] == 2


def test_qrels_go_to_standard_output_without_a_file(judged: Study, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("export_qrels", "--study", judged.name, "--rater", "ben", "--per-element")

    assert capsys.readouterr().out.splitlines()[0] == "t0/t0-q0 0 alpha-1 1"


def test_qrels_that_cannot_be_made_say_why(judged: Study) -> None:
    with pytest.raises(CommandError, match="No rater “eve”"):
        call_command("export_qrels", "--study", judged.name, "--rater", "eve")


def test_holes_are_told_beside_the_qrels(
    judged: Study, ada_as_rater: Rater, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judge_items(criterion_of(judged, "rating"), ada_as_rater, passage_items(judged), [5, 1, 2, 0])
    a_ranking(judged, {"t0": ["t0-p0", "other"]})
    unjudged, each = tmp_path / "unjudged.csv", tmp_path / "each.zip"
    choice = ("--study", judged.name, "--criterion", "rating", "--binary-at", "3", "--ties", "higher")

    call_command("export_qrels", *choice, "--holes-at", "2", "--unjudged", str(unjudged), "--each", str(each))

    told = capsys.readouterr()
    assert told.out == "t0 0 t0-p0 1\nt1 0 t1-p0 0\n"
    assert "alpha-1: judged@2 0.500; 1 of 2 unjudged in 1 topic," in told.err
    assert unjudged.read_text() == "run,topic,docno,place\nalpha-1,t0,other,2\n"
    assert zipfile.is_zipfile(each)


def test_holes_of_reports_are_none_and_said_to_be(judged: Study, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("export_qrels", "--study", judged.name, "--holes-at", "5")

    assert "judged@k is not available" in capsys.readouterr().err


def test_holes_in_no_top_are_refused(judged: Study) -> None:
    with pytest.raises(CommandError, match="--holes-at: Ensure this value is greater than or equal to 1"):
        call_command("export_qrels", "--study", judged.name, "--holes-at", "0")
