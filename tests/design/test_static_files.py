from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from django.core.management import call_command
from pytest_django import Settings

from config.storage import FOR_READERS


@pytest.mark.slow
def test_collected_files_are_named_by_their_content_and_modules_import_them_so(
    tmp_path: Path, settings: Settings
) -> None:
    storage = {"BACKEND": "config.storage.HashedStaticFilesStorage"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": storage}
    settings.STATIC_ROOT = tmp_path

    call_command("collectstatic", interactive=False, verbosity=0)

    names = json.loads((tmp_path / "staticfiles.json").read_text())["paths"]
    own_modules = [name for name in names if name.startswith("js/")]
    imported = {
        imported
        for module in own_modules
        for imported in re.findall(r'^import [^;]*?"(\./[^"]+)"', (tmp_path / names[module]).read_text(), re.MULTILINE)
    }
    assert names["css/base.css"].count(".") == 2
    assert imported
    assert imported <= {"./" + names[module].removeprefix("js/") for module in own_modules}


@pytest.mark.slow
def test_collected_modules_and_sheets_come_without_what_stands_in_them_for_readers(
    tmp_path: Path, settings: Settings
) -> None:
    storage = {"BACKEND": "config.storage.HashedStaticFilesStorage"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": storage}
    settings.STATIC_ROOT = tmp_path

    call_command("collectstatic", interactive=False, verbosity=0)

    names = json.loads((tmp_path / "staticfiles.json").read_text())["paths"]
    own = [tmp_path / names[name] for name in names if name.startswith(("js/", "css/"))]
    assert own
    for file in own:
        text = file.read_text()
        assert text, file
        assert not re.search(r"^(\s|//|/\*|$)", text.rstrip("\n"), re.MULTILINE), file


def test_stripping_leaves_alone_what_stands_within_a_line() -> None:
    code = b'/* Says\n   why. */\n\n  const url = "http://a/*b*/"; // for the reader\n\n  // Because.\n  go(url);\n'

    assert FOR_READERS.sub(b"", code) == b'const url = "http://a/*b*/"; // for the reader\ngo(url);\n'


def test_no_module_holds_a_text_of_several_lines() -> None:
    """Stripping would change it."""
    for module in (Path(__file__).parents[2] / "static" / "js").glob("*.js"):
        for number, line in enumerate(module.read_text().splitlines(), start=1):
            assert line.count("`") % 2 == 0, f"{module.name}, line {number}"
