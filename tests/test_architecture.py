"""What linters (pyproject.toml) cannot say: who writes judgments, how large rooms, how long templates’ lines may be."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings

ROOT = Path(settings.BASE_DIR)
APPS = ("annotate", "collection", "config", "evaluation", "judging", "stats")


def test_judgments_and_their_history_are_written_in_one_module() -> None:
    writes = ("create", "bulk_create", "get_or_create", "update_or_create")
    statements = tuple(f"{model}.objects.{write}(" for model in ("Judgment", "EarlierJudgment") for write in writes)
    elsewhere = {
        str(path.relative_to(ROOT))
        for app in APPS
        for path in (ROOT / app).rglob("*.py")
        if path != ROOT / "collection/judgments/services.py" and "migrations" not in path.parts
        if any(statement in path.read_text() for statement in statements)
    }

    assert elsewhere == set()


def test_no_folder_has_more_than_twenty_modules() -> None:
    grow = {"commands", "migrations"}
    folders = {path.parent for app in APPS for path in (ROOT / app).rglob("*.py") if not grow & set(path.parts)}
    large = {
        str(folder.relative_to(ROOT)): len(modules)
        for folder in folders
        if len(modules := [path for path in folder.glob("*.py") if path.name != "__init__.py"]) > 20
    }

    assert large == {}


def test_evaluation_and_judging_have_fewer_than_twenty_rooms() -> None:
    rooms = {
        app: [path.name for path in (ROOT / app).iterdir() if path.is_dir() and path.name != "__pycache__"]
        for app in ("evaluation", "judging")
    }

    assert {app: len(of) for app, of in rooms.items() if len(of) >= 20} == {}


def test_no_line_of_a_template_has_more_than_120_characters() -> None:
    long = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sorted((ROOT / "templates").rglob("*.*"))
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if len(line) > 120
    ]

    assert long == []
