"""What Django reads of a catalogue is compiled from the text that stands there, whatever the times of the files."""

from __future__ import annotations

import gettext
import os
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from pytest_django import Settings

from config import translations
from config.celery import say_what_is_not_translated
from config.checks import refuse_an_unsafe_start, translations_are_compiled
from config.translations import compile_catalogues, stale_catalogues

PO = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\n"\n\nmsgid "start.go"\nmsgstr "{}"\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Path:
    """A tree with one translation, into Italian, that is not compiled yet."""
    monkeypatch.setattr(translations, "ROOT", tmp_path)
    settings.LANGUAGES, settings.LOCALE_PATHS = [("en", "English"), ("it", "Italiano")], [tmp_path / "locale"]
    for language, word in (("en", "Go"), ("it", "Vai")):
        path = tmp_path / "locale" / language / "LC_MESSAGES"
        path.mkdir(parents=True)
        (path / "django.po").write_text(PO.format(word))
    return path


def said_in(folder: Path, english: str = "Go") -> str:
    with (folder / "django.mo").open("rb") as file:
        return gettext.GNUTranslations(file).gettext(english)


def test_a_catalogue_that_changed_is_compiled_even_if_it_looks_older(folder: Path) -> None:
    compile_catalogues()
    (folder / "django.po").write_text(PO.format("Andiamo"))
    os.utime(folder / "django.po", (0, 0))

    stale = stale_catalogues()
    compile_catalogues()

    assert stale == ["it"]
    assert stale_catalogues() == []
    assert said_in(folder) == "Andiamo"


def test_a_catalogue_is_compiled_again_when_its_ids_stand_for_other_words(folder: Path) -> None:
    compile_catalogues()
    (folder.parents[1] / "en/LC_MESSAGES/django.po").write_text(PO.format("Proceed"))

    compile_catalogues()

    assert said_in(folder, "Proceed") == "Vai"


@pytest.mark.parametrize("later", [0, 60])
def test_what_is_compiled_is_not_written_again(folder: Path, later: int) -> None:
    compile_catalogues()
    compiled = (folder / "django.mo").stat()
    os.utime(folder / "django.po", (compiled.st_mtime + later,) * 2)

    compile_catalogues()

    assert (folder / "django.mo").stat().st_ino == compiled.st_ino


def test_what_another_program_compiled_is_compiled_again(folder: Path) -> None:
    (folder / "django.mo").write_bytes(b"\xde\x12\x04\x95")

    compile_catalogues()

    assert said_in(folder) == "Vai"


def test_nothing_is_left_of_a_catalogue_that_cannot_be_compiled(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr("babel.messages.mofile.write_mo", fails)

    with pytest.raises(OSError, match="No space left"):
        compile_catalogues()

    assert [path.name for path in folder.iterdir()] == ["django.po"]


def test_a_check_names_what_is_stale_until_it_is_compiled(folder: Path) -> None:
    before = translations_are_compiled()
    compile_catalogues()

    assert [(found.id, found.msg.endswith(": it."), "set_up" in str(found.hint)) for found in before] == [
        ("assize.W003", True, True)
    ]
    assert translations_are_compiled() == []


@pytest.mark.parametrize("start", [refuse_an_unsafe_start, say_what_is_not_translated], ids=["web", "worker"])
def test_a_web_server_and_a_worker_say_so_and_start(
    folder: Path, capsys: pytest.CaptureFixture[str], start: Callable[[], None]
) -> None:
    start()

    assert "locale/" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize("compiled", [False, True])
def test_set_up_goes_on_where_it_cannot_write(folder: Path, compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(folder))

    if compiled:
        compile_catalogues()
    monkeypatch.setattr(translations, "NamedTemporaryFile", refused)
    errors = StringIO()

    call_command("set_up", port=0, stdout=StringIO(), stderr=errors)

    assert ("Permission denied" in errors.getvalue()) is not compiled


def test_what_pip_installed_is_compiled_into_the_data(folder: Path, settings: Settings, tmp_path: Path) -> None:
    settings.LOCALE_PATHS = [tmp_path / "data/locale"]

    compile_catalogues()

    assert said_in(tmp_path / "data/locale/it/LC_MESSAGES") == "Vai"
    assert not (folder / "django.mo").exists()
