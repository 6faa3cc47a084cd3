from __future__ import annotations

import json
import logging
import re
from pathlib import Path
from subprocess import CalledProcessError
from typing import Any

import pytest
from django.conf import settings as configured
from django.core.management import call_command
from playwright.sync_api import Page
from pytest_django import Settings

from config import storage

OWN = Path(configured.BASE_DIR) / "static"
# What a browser makes of a sheet, but for white space that says nothing.
RULES = """(text) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    return [...sheet.cssRules].map((rule) => rule.cssText.replace(/\\s*([,:;(){}/])\\s*/g, "$1"));
}"""


@pytest.fixture
def collected(tmp_path: Path, settings: Settings) -> Path:
    """Where static files are collected, as `make run` does it; nothing is there yet."""
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "config.storage.HashedStaticFilesStorage"},
    }
    settings.STATIC_ROOT = tmp_path
    return tmp_path


def own_files(folder: Path, kind: str) -> dict[str, str]:
    """Collect, and return our own scripts or sheets as they are served, by the names that templates use."""
    call_command("collectstatic", interactive=False, verbosity=0)
    names = json.loads((folder / "staticfiles.json").read_text())["paths"]
    assert all(hashed.count(".") == name.count(".") + 1 for name, hashed in names.items())
    return {name: (folder / names[name]).read_text() for name in names if re.match(rf"{kind}/\w+\.{kind}$", name)}


@pytest.mark.slow
def test_a_script_holds_all_that_it_imports(collected: Path) -> None:
    scripts = own_files(collected, "js")

    assert scripts.keys() == {f"js/{module.name}" for module in (OWN / "js").glob("*.js")}
    assert not [name for name, text in scripts.items() if '"./' in text]
    assert all(word in scripts["js/site.js"] for word in ("details.menu", "htmx:sendError", "prefers-color-scheme"))


@pytest.mark.slow
@pytest.mark.browser
def test_a_sheet_says_what_its_source_and_all_that_it_imports_say(collected: Path, page: Page) -> None:
    sheets = own_files(collected, "css")
    together = [f"css/{name}.css" for name in ("tokens", "base", "components", "assignment", "battle")]

    assert sheets.keys() == {f"css/{sheet.name}" for sheet in (OWN / "css").glob("*.css")}
    rules = {name: page.evaluate(RULES, text) for name, text in sheets.items()}
    for name, of_sheet in rules.items():
        assert of_sheet == page.evaluate(RULES, storage.whole(OWN / name)), name
    assert rules["css/battle_page.css"] == [rule for name in together for rule in rules[name]]
    assert not [name for name, text in sheets.items() if "@import" in text or "/*" in text]


@pytest.mark.slow
@pytest.mark.parametrize("failure", [OSError("no such processor"), CalledProcessError(-4, "bun")])
def test_where_the_bundler_does_not_run_modules_import_one_another_by_their_hashed_names(
    collected: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, failure: Exception
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise failure

    monkeypatch.setattr(storage, "run_bun", fail)
    with caplog.at_level(logging.WARNING):
        scripts = own_files(collected, "js")

    imported = {name for text in scripts.values() for name in re.findall(r'^import [^;]*?"\./([^"]+)"', text, re.M)}
    assert imported
    assert all((collected / "js" / name).is_file() and name.count(".") == 2 for name in imported)
    assert [record.name for record in caplog.records] == ["config.storage"]
