"""Documents in a folder: below the operator's, never beside it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from django.core.exceptions import ValidationError
from pytest_django.fixtures import Settings

from collection.documents.folder_source import MOST_BYTES, FolderDocuments, folder_named
from collection.documents.found import FetchFailed, SourceFailed


@pytest.fixture
def root(tmp_path: Path, settings: Settings) -> Path:
    folder = tmp_path / "documents"
    (folder / "web").mkdir(parents=True)
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "documents-too").mkdir()
    settings.DOCUMENTS_FOLDER = str(folder)
    return folder


def test_a_document_is_a_file_named_by_its_id(root: Path) -> None:
    (root / "web" / "d1.txt").write_text("Of stone. 🌉")
    (root / "web" / "a%2Fb.txt").write_text("Of oak.")
    (root / "web" / "d1.json").write_text('{"body": "Of iron.", "name": "Bridge"}')

    plain, packed = FolderDocuments("web"), FolderDocuments("web", text_field="body", title_field="name")

    assert plain.fetch("d1").text == "Of stone. 🌉"
    assert plain.fetch("a/b").text == "Of oak."
    assert (packed.fetch("d1").title, packed.fetch("d1").text) == ("Bridge", "Of iron.")


@pytest.mark.parametrize("written", ["..", "../documents-too", "/etc", "web/../..", "nowhere", "out", "web\0", "~"])
def test_no_folder_outside_is_read_and_none_is_told_of(root: Path, written: str) -> None:
    (root / "out").symlink_to(root.parent)

    with pytest.raises(ValidationError, match="There is no folder"):
        folder_named(written)


@pytest.mark.parametrize("docno", ["../secret", "../../secret", "/etc/passwd", "..", "d1\0", "x" * 300, "link", "pipe"])
def test_no_id_leads_out_of_the_folder(root: Path, docno: str) -> None:
    (root / "web" / "link.txt").symlink_to(root.parent / "secret.txt")
    os.mkfifo(root / "web" / "pipe.txt")

    with pytest.raises(FetchFailed):
        FolderDocuments("web").fetch(docno)


def test_a_large_file_is_refused(root: Path) -> None:
    (root / "web" / "d1.txt").write_bytes(b"x" * (MOST_BYTES + 1))

    with pytest.raises(FetchFailed, match="more than 5 MB"):
        FolderDocuments("web").fetch("d1")


def test_folders_are_off_by_default(root: Path, settings: Settings) -> None:
    settings.DOCUMENTS_FOLDER = ""

    with pytest.raises(SourceFailed, match="switched off"):
        FolderDocuments("web")
