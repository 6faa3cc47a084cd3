"""Files of judgments may bring the probability with which each item was drawn to be judged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils.timezone import now
from pytest_django.fixtures import Settings

from collection.judgments.declarations import declarations_of
from collection.models import Collection, Draw, Item, Study, User
from tests.collection.files import everything, refused, run_command
from tests.evaluation.judged import report_items

GOLD = "Gold passages are all that is relevant."
IMPORT = ("--study", "bridges-qrels", "--collection", "bridges", "--rater", "nist")


def qrels(folder: Path, *lines: str) -> Path:
    path = folder / "bridges.qrels"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_fifth_column_of_qrels_is_the_inclusion_probability(
    tmp_path: Path, collection: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    path = qrels(tmp_path, "t0 0 t0-p0 3 0.25", "t0 0 t0-p1 0 0.5")

    first = run_command(capsys, "import_qrels", path, *IMPORT)
    before = everything()
    again = run_command(capsys, "import_qrels", path, *IMPORT)

    drawn = Draw.objects.order_by("item__item_id").values_list(
        "item__passage__passage_id", "inclusion_probability", "purpose", "design"
    )
    assert list(drawn) == [("t0-p0", 0.25, "sample", "imported"), ("t0-p1", 0.5, "sample", "imported")]
    assert "2 draws" in first
    assert "nothing changed" in again
    assert everything() == before


def test_files_of_five_columns_are_recognised_as_qrels(tmp_path: Path, collection: Collection) -> None:
    path = qrels(tmp_path, "t0 0 t0-p0 3 0.25", "t0 0 t0-p1 0 0.5")

    call_command("import", str(path), "--collection", "bridges", "--people", path.name, "--quiet")

    assert Draw.objects.filter(item__study__name="bridges-qrels").count() == 2


@pytest.mark.parametrize("probability", ["0", "1.5", "-0.1", "often"])
def test_other_numbers_are_refused_whole(tmp_path: Path, collection: Collection, probability: str) -> None:
    path = qrels(tmp_path, "t0 0 t0-p0 3 0.25", f"t0 0 t0-p1 0 {probability}")

    said = refused("import_qrels", path, *IMPORT)

    assert "line 2" in said

    assert not Draw.objects.exists()
    assert not Study.objects.filter(name="bridges-qrels").exists()


def test_an_item_that_was_drawn_for_something_else_is_refused_by_its_line(
    tmp_path: Path, collection: Collection
) -> None:
    call_command("import_qrels", str(qrels(tmp_path, "t0 0 t0-p0 3", "t0 0 t0-p1 0")), *IMPORT)
    drawn = Item.objects.get(passage__passage_id="t0-p1")
    Draw.objects.create(item=drawn, purpose="control", inclusion_probability=1, design="all", drawn_at=now())

    message = refused("import_qrels", qrels(tmp_path, "t0 0 t0-p0 3 0.25", "t0 0 t0-p1 0 0.5"), *IMPORT)

    assert "line 2" in message
    assert Draw.objects.count() == 1


def test_another_probability_of_the_same_item_is_refused(tmp_path: Path, collection: Collection) -> None:
    call_command("import_qrels", str(qrels(tmp_path, "t0 0 t0-p0 3 0.25")), *IMPORT)

    said = refused("import_qrels", qrels(tmp_path, "t0 0 t0-p0 3 0.3"), *IMPORT)

    assert "0.25" in said
    assert Draw.objects.get().inclusion_probability == 0.25


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_the_judgments_table_has_a_column_of_them(tmp_path: Path, study: Study, ending: str) -> None:
    item = report_items(study)[0]
    path = tmp_path / f"table.{ending}"
    path.write_text(
        f'{{"item_id": "{item.item_id}", "criterion": "answerability", "rater": "x", "grade": 1, '
        '"inclusion_probability": 0.125}\n'
        if ending == "jsonl"
        else f"item_id,criterion,rater,grade,inclusion_probability\n{item.item_id},answerability,x,1,0.125\n"
    )

    call_command("import_judgments", str(path), "--study", study.name)

    assert Draw.objects.get(item=item).inclusion_probability == 0.125


def by_command(path: Path, declared: str, client: Client) -> None:
    said = ["--collection", "bridges", "--people", path.name, "--quiet"]
    call_command("import", str(path), *said, "--irrelevant", declared)


def by_api(path: Path, declared: str, client: Client) -> None:
    with path.open("rb") as file:
        sent = {"file": file, "people": path.name, "irrelevant": declared}
        response = client.post("/api/v1/collections/bridges/files/", sent)
    assert response.status_code == 201, response.content


def by_page(path: Path, declared: str, client: Client) -> None:
    with path.open("rb") as file:
        sent = {"file_format": "files", "file": file, "irrelevant": declared}
        preview = client.post("/collections/bridges/import/", sent)["Location"]
    client.post(preview, {"name-0": "NIST", "people": [path.name]})


@pytest.mark.parametrize("door", [by_command, by_api, by_page])
def test_an_import_declares_what_the_files_do_not_say(
    tmp_path: Path, collection: Collection, rosa: User, client: Client, settings: Settings, door: Callable[..., None]
) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    client.force_login(rosa)
    path = qrels(tmp_path, "t0 0 t0-p0 1", "t1 0 t1-p0 1")

    door(path, f"people={GOLD}", client)

    declared = declarations_of(Study.objects.get(name="bridges-qrels"))
    assert declared["irrelevant"] == {"people": GOLD}


@pytest.mark.parametrize("declared", ["people", "=gold", "nobody=gold"])
def test_a_declaration_that_cannot_be_is_refused_by_page_and_api(
    tmp_path: Path, collection: Collection, rosa: User, client: Client, settings: Settings, declared: str
) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    client.force_login(rosa)
    path = qrels(tmp_path, "t0 0 t0-p0 1")
    before = everything()

    with path.open("rb") as file:
        posted = client.post(
            "/api/v1/collections/bridges/files/", {"file": file, "people": path.name, "irrelevant": declared}
        )
        file.seek(0)
        page = client.post(
            "/collections/bridges/import/",
            {"file_format": "qrels", "file": file, "irrelevant": declared, "rater": "NIST"},
            follow=True,
        )

    assert posted.status_code == 400
    assert 'role="alert"' in page.content.decode()
    assert everything() == before


def test_an_import_of_a_declaration_that_cannot_be_changes_nothing(tmp_path: Path, collection: Collection) -> None:
    path = qrels(tmp_path, "t0 0 t0-p0 1")
    before = everything()

    said = refused("import", path, "--collection", "bridges", "--people", path.name, "--quiet", "--irrelevant", "x=y")

    assert "people" in said
    assert everything() == before
