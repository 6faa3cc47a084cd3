"""CRUX's labels go out as its platform writes them: a small folder of our own, and the real one where it is at hand."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils.timezone import now

from collection.exporting.labels import LabelsRefused, exported_labels, label_raters
from collection.judgments.services import withdraw_judgment
from collection.models import Exclusion, Judgment, Rater, Study, User
from tests.collection.importing.test_crux import REAL, a_folder_of_crux

pytestmark = pytest.mark.django_db
QLABELS = {
    "id": "d-1",
    "question_based_nugget": {"Who built it?": "Ann built it.", "NA": "", "When was it built?": "opened"},
    "answerability": [1, -2, 1, -2],
    "coverage": 0.5,
}


@pytest.fixture
def study(tmp_path: Path, rosa: User) -> Study:
    folder = a_folder_of_crux(tmp_path / "crux")
    call_command("import_crux", str(folder), study="crux", owner="rosa", quiet=True, verbosity=0)
    return Study.objects.get(name="crux")


def lines(study: Study, form: str, rater: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in exported_labels(study, form, rater=rater)]


def test_labels_of_reports_go_out_with_their_spans_and_masked_questions(study: Study) -> None:
    first, second = lines(study, "qlabels", "annotator1")

    assert first == QLABELS
    assert list(first["question_based_nugget"]) == ["Who built it?", "NA", "When was it built?"]  # type: ignore[call-overload]
    assert (second["id"], second["answerability"], second["coverage"]) == ("bm25_d-1", [0, -2, 1, -2], 0.25)


def test_a_label_that_is_not_there_is_unjudged_and_leaves_no_coverage(study: Study) -> None:
    label = Judgment.objects.filter(rater__name="annotator1", criterion__name="answerability").order_by("pk")[0]
    withdraw_judgment(item=label.item, criterion=label.criterion, rater=label.rater, at=now())

    first = lines(study, "qlabels", "annotator1")[0]

    assert first["answerability"] == [-1, -2, 1, -2]
    assert first["coverage"] is None


def test_one_rater_is_chosen_and_nobody_excluded_goes_out(study: Study, rosa: User) -> None:
    with pytest.raises(LabelsRefused, match=r"is of one rater\. Choose one of annotator1, annotator2"):
        exported_labels(study, "qlabels")
    with pytest.raises(LabelsRefused, match="no such labels by “ada”"):
        exported_labels(study, "qrels", rater="ada")

    with pytest.raises(LabelsRefused, match="No judge has graded passages"):
        exported_labels(study, "graded")

    rater = Rater.objects.get(name="annotator1")
    Exclusion.objects.create(study=study, rater=rater, reason="Guesses.", excluded_by=rosa, excluded_at=now())

    assert "annotator1" not in label_raters(study, "qlabels")


def test_page_api_and_command_give_the_same(study: Study, client: Client, rosa: User, mallory: User) -> None:
    printed = StringIO()
    call_command("export_labels", study="crux", form="qlabels", rater="annotator1", stdout=printed)
    asked = {"as": "qlabels", "rater": "annotator1"}
    page, api = "/collections/crux/studies/crux/labels/", "/api/v1/studies/crux/labels/"

    client.force_login(rosa)

    assert client.get(page, asked).getvalue() == client.get(api, asked).getvalue() == printed.getvalue().encode()
    assert client.get(page, {"as": "nonsense"}).status_code == 404
    assert client.get(page, {"as": "qlabels"}).status_code == 400
    assert "Choose one of" in client.get(api, {"as": "qlabels"}).json()["rater"]
    with pytest.raises(CommandError, match="Choose one of"):
        call_command("export_labels", study="crux", form="qlabels", rater="nobody")
    client.force_login(mallory)
    assert client.get(page, asked).status_code == client.get(api, asked).status_code == 404


@pytest.mark.slow
def test_the_real_labels_go_out_as_they_were_published(db: None) -> None:
    if not REAL.is_dir():
        pytest.skip(f"CRUX's labels are not at {REAL}")
    call_command("import_crux", str(REAL), "--study", "crux", quiet=True, verbosity=0)
    study = Study.objects.get()
    differing: list[tuple[str, str, dict[str, tuple[object, object]]]] = []

    for rater in ("annotator1", "annotator2", "annotator3"):
        for form in ("qlabels", "qrels"):
            published = (REAL / rater / f"{form}.jsonl").read_bytes().decode().splitlines(keepends=True)
            written = list(exported_labels(study, form, rater=rater))
            assert len(written) == len(published)
            for ours, theirs in zip(written, published, strict=True):
                if ours != theirs:
                    was = json.loads(theirs)
                    changed = {
                        name: (value, was[name]) for name, value in json.loads(ours).items() if value != was[name]
                    }
                    differing.append((rater, json.loads(ours)["id"], changed))

    # Somebody divided these two by the 13 questions that are not masked, one to nine digits; the platform by all 15.
    assert differing == [
        ("annotator1", "bm25_duc04-testb-7", {"coverage": (2 / 15, 2 / 13)}),
        ("annotator1", "bm25_duc04-testb-9", {"coverage": (10 / 15, 0.769230769)}),
    ]
