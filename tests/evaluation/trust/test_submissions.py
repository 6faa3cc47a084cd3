"""Judges' files beside people: what they say is what it would be if the judges were stored, and none is kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from collection.models import Criterion, Judgment, Rater, Study, User
from evaluation.trust.comparison import compare_judges_of
from tests.evaluation.tied import tied

__all__ = ["tied"]


def qrels_of(criterion: Criterion, name: str) -> str:
    rows = Judgment.objects.filter(criterion=criterion, rater__name=name).select_related("item__topic", "item__passage")
    return "".join(
        f"{one.item.topic.topic_id} 0 {one.item.passage} {-1 if one.grade is None else f'{one.grade:g}'}\n"
        for one in rows
    )


def compared(study: Study, *paths: Path, capsys: pytest.CaptureFixture[str], **options: Any) -> dict[str, Any]:
    capsys.readouterr()
    call_command("submitted_judges", *map(str, paths), study=study.name, json=True, **options)
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_a_submitted_judge_has_the_figures_that_it_would_have_here(
    tied: Study, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    criterion = tied.criteria.select_related("study__collection", "scale").get(name="relevance")
    (stored,) = compare_judges_of(criterion, judge=["small-judge"]).judges
    assert stored.kappa.value is not None
    assert stored.order is not None
    path = tmp_path / "elsewhere.qrels"
    path.write_text(qrels_of(criterion, "small-judge"))
    before = (Judgment.objects.count(), Rater.objects.count())

    alone = compared(tied, path, capsys=capsys, criterion="relevance")
    beside = compared(tied, path, capsys=capsys, criterion="relevance", stored=True)

    (judge,) = alone["judges"]
    assert judge["kappa"] == stored.kappa.as_dict()
    assert judge["krippendorff_alpha"] == stored.alpha.as_dict()
    assert judge["kendall"] == stored.order.kendall.as_dict()
    assert judge["tau_ap"] == stored.order.tau_ap.as_dict()
    assert (judge["judge"], judge["submitted"], judge["mark"]) == ("elsewhere", True, None)
    assert {one["judge"]: one["submitted"] for one in beside["judges"]} == {"elsewhere": True, "small-judge": False}
    assert (Judgment.objects.count(), Rater.objects.count()) == before


def test_what_a_submission_lacks_marks_it_and_minus_one_is_ungraded(
    tied: Study, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    criterion = tied.criteria.get(name="relevance")
    lines = qrels_of(criterion, "small-judge").splitlines()
    (tmp_path / "half.qrels").write_text("\n".join(lines[: len(lines) // 2]) + "\nnowhere 0 d1 1\n")
    (tmp_path / "mute.qrels").write_text("\n".join(f"{line.rpartition(' ')[0]} -1" for line in lines))

    half = compared(tied, tmp_path / "half.qrels", capsys=capsys, criterion="relevance")
    mute = compared(tied, tmp_path / "mute.qrels", capsys=capsys, criterion="relevance")

    assert half["judges"][0]["mark"] == "unfinished"
    assert "1 line about texts" in " ".join(half["notes"])
    (judge,) = mute["judges"]
    assert judge["mark"] == "failing"
    assert judge["n_ungraded"] == mute["n_items"] > 0


def test_an_evaluation_file_has_an_order_and_no_agreement(
    tied: Study, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command(
        "export_evaluation", study=tied.name, measure="nDCG@5", form="tot", out=tmp_path, source=["small-judge"]
    )
    (path,) = tmp_path.iterdir()
    capsys.readouterr()
    call_command("correlate", str(path), study=tied.name, board="nDCG@5", json=True)
    (expected,) = json.loads(capsys.readouterr().out)["comparisons"]

    (judge,) = compared(tied, path, capsys=capsys, criterion="relevance", measure="nDCG@5")["judges"]

    assert (judge["kappa"]["value"], judge["n_items"]) == (None, None)
    assert judge["kendall"] == expected["correlations"]["kendall"]
    assert judge["tau_ap"] == expected["correlations"]["tau_ap"]


def test_page_and_api_say_what_the_command_says(
    tied: Study, tmp_path: Path, client: Client, rosa: User, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "<b>.qrels"
    path.write_text(qrels_of(tied.criteria.get(name="relevance"), "small-judge"))
    expected = compared(tied, path, capsys=capsys, criterion="relevance")
    client.force_login(rosa)

    def sent() -> dict[str, Any]:
        return {"file": [SimpleUploadedFile(path.name, path.read_bytes())], "criterion": "relevance"}

    page = client.post(f"/studies/{tied.name}/submitted-judges/", sent())
    answer = client.post(f"/api/v1/studies/{tied.name}/submitted-judges/", sent())

    assert answer.json() == expected
    assert page.status_code == 200, page.context["form"].errors
    shown = page.content.decode()
    assert "&lt;b&gt;" in shown
    assert '<th scope="row">\n            <b>' not in shown
    assert page.context["result"].as_dict() == expected


def test_what_cannot_be_compared_is_refused_with_the_reason(
    tied: Study, tmp_path: Path, client: Client, rosa: User, mallory: User
) -> None:
    (tmp_path / "other.qrels").write_text("nowhere 0 d1 1\n")
    with pytest.raises(CommandError, match="None of its texts"):
        call_command("submitted_judges", str(tmp_path / "other.qrels"), study=tied.name, criterion="relevance")
    first, *_ = qrels_of(tied.criteria.get(name="relevance"), "small-judge").splitlines()
    bad = f"{first.rpartition(' ')[0]} 17\n".encode()
    client.force_login(rosa)

    page = client.post(
        f"/studies/{tied.name}/submitted-judges/",
        {"file": [SimpleUploadedFile("bad.qrels", bad)], "criterion": "relevance"},
    )
    api = client.post(
        f"/api/v1/studies/{tied.name}/submitted-judges/",
        {"file": [SimpleUploadedFile("bad.qrels", bad)], "criterion": "relevance"},
    )

    assert (page.status_code, api.status_code) == (422, 400)
    assert "17 of" in page.content.decode()
    client.force_login(mallory)
    assert client.get(f"/studies/{tied.name}/submitted-judges/").status_code == 404
