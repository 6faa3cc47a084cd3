"""The figures that the real CRUX labels give; independent code found the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from tests.evaluation.crux_data import CRUX, needs_crux, write_model, write_people, write_ratings

pytestmark = needs_crux


def answer(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> dict[str, Any]:
    call_command(*map(str, arguments), "--json")
    parsed: dict[str, Any] = json.loads(capsys.readouterr().out)
    return parsed


def test_people_agree_on_answerability_as_published(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    agreement = answer(capsys, "agreement", write_people(tmp_path), "--level", "nominal", "--scale", "0,1")

    statistics = agreement["statistics"]
    assert (agreement["n_items"], agreement["n_raters"]) == (435, 3)
    assert statistics["fleiss_kappa"]["value"] == pytest.approx(0.5157, abs=5e-5)
    assert statistics["randolph_kappa"]["value"] == pytest.approx(0.5157, abs=5e-5)
    assert statistics["krippendorff_alpha"]["value"] == pytest.approx(0.5161, abs=5e-5)
    kappas = [pair["value"] for pair in statistics["cohen_kappa"]]
    assert kappas == pytest.approx([0.512, 0.500, 0.542], abs=0.0005)


def test_two_people_hardly_agree_on_ratings_of_passages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    agreement = answer(capsys, "agreement", write_ratings(tmp_path), "--scale", "0,1,2,3,4,5")

    pair = agreement["statistics"]["cohen_kappa"][0]
    assert agreement["n_ratings"] == 230
    assert pair["raters"] == ["annotator1", "annotator2"]
    assert pair["value"] == pytest.approx(0.14, abs=0.005)
    assert pair["quadratic"]["value"] == pytest.approx(0.325, abs=0.0005)


def test_the_model_stands_to_people_as_published(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    comparison = answer(capsys, "compare", write_people(tmp_path), write_model(tmp_path), "--threshold", "3")

    people = [comparison["by_rater"][f"annotator{number}"] for number in (1, 2, 3)]
    positive = [one["threshold"]["positive"] for one in people]
    assert [one["coverage"]["spearman"] for one in people] == pytest.approx([0.97, 0.79, 0.84], abs=0.005)
    assert [one["threshold"]["kappa"]["value"] for one in people] == pytest.approx([0.75, 0.615, 0.655], abs=0.0005)
    assert [one["precision"] for one in positive] == pytest.approx([0.96, 0.78, 0.80], abs=0.005)
    assert [one["recall"] for one in positive] == pytest.approx([0.76, 0.73, 0.76], abs=0.005)
    assert comparison["threshold"]["human_at"] == 1.0
    assert comparison["kappa"] == {"value": None, "reason": "people and judge grade on different scales"}


def test_the_imported_folder_gives_the_same_figures(db: None, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("import_crux", str(CRUX), "--study", "crux", "--quiet")
    capsys.readouterr()

    agreement = answer(capsys, "agreement", "--study", "crux", "--criterion", "answerability")
    comparison = answer(capsys, "compare", "--study", "crux", "--criterion", "answerability")

    assert agreement["n_items"] == 435
    assert agreement["statistics"]["fleiss_kappa"]["value"] == pytest.approx(0.5157, abs=5e-5)
    coverage = [comparison["by_rater"][f"annotator{number}"]["coverage"]["spearman"] for number in (1, 2, 3)]
    assert coverage == pytest.approx([0.97, 0.79, 0.84], abs=0.005)


def means(capsys: pytest.CaptureFixture[str], measure: str) -> dict[str, float]:
    board = answer(capsys, "leaderboard", "--study", "crux", "--measure", measure, "--source", "people")
    return {one["system"]: round(one["value"], 3) for one in board["sources"][0]["systems"] if one["value"] is not None}


def test_density_of_reports_is_against_the_oracles_context(db: None, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("import_crux", str(CRUX), "--study", "crux", "--quiet")
    capsys.readouterr()

    assert means(capsys, "density") == {"oracle": 0.817, "bm25": 0.593, "dr_rankfirst": 0.611}
    assert means(capsys, "density(tokens=whitespace)") == {"oracle": 0.815, "bm25": 0.589, "dr_rankfirst": 0.607}
