"""Leaderboards as evaluation files, and correlations with such files: command, page and API."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from collection.formats.problems import InputFile
from collection.formats.scores.evaluation_files import FORMS, read_evaluation
from collection.models import Study, User
from evaluation.leaderboards.evaluation_files.values import rows_of_leaderboard
from evaluation.leaderboards.leaderboard import measure_leaderboard
from evaluation.leaderboards.sources import Scorer
from stats.ranking.measure_names import parse_measure
from tests.evaluation.tied import tied

__all__ = ["tied"]


def written(study: Study, folder: Path, *, form: str = "tot", source: str = "") -> list[Path]:
    asked = {"source": [source]} if source else {}
    call_command("export_evaluation", study=study.name, measure="nDCG@5", form=form, out=folder, **asked)
    return sorted(path for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("form", FORMS)
def test_a_leaderboard_goes_out_in_every_form_and_is_read_equal(tied: Study, tmp_path: Path, form: str) -> None:
    board = measure_leaderboard(Scorer.of(tied), parse_measure("nDCG@5"))

    files = written(tied, tmp_path / "out", form=form)

    read = [row for path in files for row in read_evaluation(InputFile(path))]
    expected = [row for rows in rows_of_leaderboard(board).values() for row in rows]
    if form == "trec_eval":
        expected = [replace(row, measure="ndcg_cut_5") for row in expected]
    assert set(read) == set(expected)
    assert len(read) == len(expected)
    assert len(files) == (2 if form != "trec_eval" else 2 * len(board.columns[0].standings))


def test_the_value_over_all_is_the_leaderboards_mean(tied: Study) -> None:
    board = measure_leaderboard(Scorer.of(tied), parse_measure("nDCG@5"))

    rows = rows_of_leaderboard(board)["people"]

    assert {row.run: row.value for row in rows if row.topic == "all"} == pytest.approx(board.columns[0].means)


def test_correlations_with_a_file_are_those_of_the_leaderboard(
    tied: Study, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agreement = measure_leaderboard(Scorer.of(tied), parse_measure("nDCG@5")).agreements[0]
    (judge,) = written(tied, tmp_path / "out", source="small-judge")
    capsys.readouterr()

    call_command("correlate", str(judge), study=tied.name, board="nDCG@5", at=["3"], json=True)

    (found,) = json.loads(capsys.readouterr().out)["comparisons"]
    assert found["correlations"]["kendall"] == agreement.kendall.as_dict()
    assert found["correlations"]["tau_ap"] == agreement.tau_ap.as_dict()
    assert found["correlations"]["spearman"] == agreement.spearman.as_dict()
    assert (found["n_runs"], found["n_topics"]) == (agreement.n_systems, agreement.n_topics)
    assert {"pearson", "kendall@3"} <= found["correlations"].keys()


def test_a_measure_and_its_name_by_trec_eval_are_held_against_one_another(
    tied: Study, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "runs.txt"
    lines = [f"{run}\t1\t{name}\t0.{place}\n" for name in ("map", "ndcg_cut_5") for place, run in enumerate("abcd")]
    file.write_text("run\ttopic\tmeasure\tvalue\n" + "".join(lines))

    call_command("correlate", str(file), study=tied.name, board="nDCG@5", source="people", json=True)

    (found,) = json.loads(capsys.readouterr().out)["comparisons"]
    assert (found["measure"], found["other_measure"]) == ("nDCG@5", "ndcg_cut_5")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "takes two evaluations"),
        ({"study": "tied"}, "together, or neither"),
        ({"study": "tied", "board": "nonsense"}, "nonsense"),
        ({"missing": "guess"}, "--missing"),
    ],
)
def test_the_command_refuses_with_the_reason(tied: Study, tmp_path: Path, options: dict[str, str], said: str) -> None:
    path = tmp_path / "one.txt"
    path.write_text("alpha map 1 0.5\n")

    with pytest.raises(CommandError, match=said):
        call_command("correlate", str(path), **options)


def an_upload(path: Path) -> SimpleUploadedFile:
    return SimpleUploadedFile(path.name, path.read_bytes())


def test_page_and_api_say_what_the_command_says(
    tied: Study, tmp_path: Path, client: Client, rosa: User, capsys: pytest.CaptureFixture[str]
) -> None:
    (judge,) = written(tied, tmp_path / "out", source="small-judge")
    capsys.readouterr()
    call_command("correlate", str(judge), study=tied.name, board="nDCG@5", json=True)
    (expected,) = json.loads(capsys.readouterr().out)["comparisons"]
    client.force_login(rosa)
    address = f"/studies/{tied.name}/leaderboard/correlate/"

    shown = client.post(address, {"file": [an_upload(judge)], "board": "nDCG@5", "at": "2, 3"})
    answer = client.post(f"/api/v1/studies/{tied.name}/correlate/", {"file": [an_upload(judge)], "board": "nDCG@5"})

    assert shown.status_code == 200, shown.context["form"].errors
    (compared,) = shown.context["result"].compared
    assert compared.correlations["kendall"].as_dict() == expected["correlations"]["kendall"]
    assert "kendall@2" in shown.content.decode()
    assert shown.context["result"].answer == answer.json()["answer"]
    assert f"{judge.name} (nDCG@5) orders the runs as" in shown.context["result"].answer
    assert "τ_b" in shown.context["result"].answer
    (said,) = answer.json()["comparisons"]
    assert said == expected | {"other": judge.name}


def test_the_page_names_the_file_and_line_that_it_cannot_read(
    tied: Study, client: Client, rosa: User, mallory: User
) -> None:
    client.force_login(rosa)
    address = f"/studies/{tied.name}/leaderboard/correlate/"
    bad = SimpleUploadedFile("bad.txt", b"alpha q1 P10 0.5\n")

    page = client.post(address, {"file": [bad], "board": "nDCG@5"})
    bad.seek(0)
    answer = client.post(f"/api/v1/studies/{tied.name}/correlate/", {"file": [bad], "board": "nDCG@5"})
    nothing = client.post(address, {})

    assert page.status_code == nothing.status_code == 422
    assert "Say which it is" in page.content.decode()
    assert answer.status_code == 400
    assert "Say which it is" in answer.content.decode()
    client.force_login(mallory)
    assert client.get(address).status_code == 404


def test_the_leaderboard_offers_its_files(tied: Study, client: Client, rosa: User) -> None:
    client.force_login(rosa)
    asked = {"measure": "nDCG@5", "form": "ir_measures"}

    page = client.get(f"/studies/{tied.name}/leaderboard/", {"measure": "nDCG@5"}).content.decode()
    zipped = client.get(f"/studies/{tied.name}/leaderboard/evaluation-files/", asked)
    of_one = client.get(f"/api/v1/studies/{tied.name}/leaderboard/evaluation/", asked | {"source": "people"})

    assert 'value="ir_measures"' in page
    names = zipfile.ZipFile(io.BytesIO(zipped.content)).namelist()
    assert [name.rpartition("5-")[2] for name in names] == ["1-people.txt", "2-small-judge.txt"]
    assert of_one["Content-Disposition"].endswith('-1-people.txt"')
    assert b"nDCG@5" in of_one.content
    assert client.get(f"/studies/{tied.name}/leaderboard/evaluation-files/", {"form": "no"}).status_code == 404


def test_every_eval_ever_has_our_intervals_as_uncertainty(tied: Study, tmp_path: Path) -> None:
    board = measure_leaderboard(Scorer.of(tied), parse_measure("nDCG@5"))

    files = written(tied, tmp_path / "out", form="every_eval_ever")

    documents = {found["model_info"]["id"]: found for path in files if (found := json.loads(path.read_text()))}
    assert documents.keys() == {one.system for one in board.columns[0].standings}
    for column, place in zip(board.columns, (0, 1), strict=True):
        for one in column.standings:
            result = documents[one.system]["evaluation_results"][place]
            details = result["score_details"]
            assert details["score"] == one.mean.value
            assert details["uncertainty"]["num_samples"] == one.n_topics == 12
            interval = details["uncertainty"]["confidence_interval"]
            assert (interval["lower"], interval["upper"]) == (one.mean.low, one.mean.high)
            assert (result["metric_config"]["min_score"], result["metric_config"]["max_score"]) == (0, 1)
            assert ("llm_scoring" in result["metric_config"]) == (place == 1)
    required = {"schema_version", "evaluation_id", "retrieved_timestamp", "source_metadata", "eval_library"}
    assert required <= documents["run1"].keys()
