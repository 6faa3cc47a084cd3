"""CRUX's folder as a zip: unpacked with care, looked at, and imported through the page."""

from __future__ import annotations

import io
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils.timezone import now
from pytest_django.asserts import assertContains, assertNotContains, assertRedirects
from pytest_django.fixtures import Settings

from collection.formats import archives
from collection.formats.archives import unpacked
from collection.formats.problems import BrokenFile
from collection.importing.background import work_on_upload
from collection.importing.formats import import_upload
from collection.importing.outcomes import ImportOutcome
from collection.importing.uploads import keep_upload
from collection.judgments.declarations import declarations_of
from collection.models import Collection, Judgment, Rater, Study, Upload, User
from tests.collection.files import everything, run_command
from tests.collection.importing.test_crux import REAL, a_folder_of_crux


@pytest.fixture(autouse=True)
def _media(settings: Settings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"


@pytest.fixture
def as_rosa(client: Client, rosa: User) -> Client:
    client.force_login(rosa)
    return client


def zipped(path: Path, under: str = "") -> bytes:
    """Zip what lies in the folder, in a folder of this name if one is given."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(path.rglob("*")):
            if file.is_file():
                archive.write(file, f"{under}{file.relative_to(path)}")
    return packed.getvalue()


def send(client: Client, content: bytes, name: str = "crux.zip") -> Any:
    return client.post(
        "/collections/bridges/import/", {"file_format": "crux", "file": SimpleUploadedFile(name, content)}
    )


def preview_of(client: Client, content: bytes) -> str:
    """Upload the zip, have the worker look at it, and return where its preview is."""
    preview = str(send(client, content)["Location"])
    work()
    return preview


def work() -> None:
    """Do what the worker does when the newest message reaches it."""
    upload = Upload.objects.latest("pk")
    work_on_upload(pk=upload.pk, generation=upload.generation, at=now())


def confirm(client: Client, preview: str) -> Any:
    client.post(preview)
    work()
    return client.get(preview)


# --- Through the page ---------------------------------------------------------------------------


@pytest.mark.parametrize("under", ["", "crux/", "data/crux/"])
def test_a_zip_is_looked_at_and_imported(as_rosa: Client, collection: Collection, tmp_path: Path, under: str) -> None:
    before = everything()
    preview = preview_of(as_rosa, zipped(a_folder_of_crux(tmp_path / "crux"), under))

    looked_at = as_rosa.get(preview)
    untouched = everything() == before
    confirmed = confirm(as_rosa, preview)

    assertContains(looked_at, "Contents of the file")
    assertContains(looked_at, f"{under}documents.jsonl")
    assert untouched
    assertRedirects(confirmed, "/collections/bridges/")
    assert Judgment.objects.of_study(Study.objects.get(name="bridges-crux")).exists()


def test_the_same_zip_twice_changes_nothing(as_rosa: Client, collection: Collection, tmp_path: Path) -> None:
    content = zipped(a_folder_of_crux(tmp_path / "crux"))
    confirm(as_rosa, preview_of(as_rosa, content))

    assertContains(as_rosa.get(preview_of(as_rosa, content)), "importing it would change nothing")


def test_the_command_says_what_a_zip_of_it_brought(
    collection: Collection, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "crux.zip"
    path.write_bytes(zipped(a_folder_of_crux(tmp_path / "crux")))

    written = run_command(capsys, "import", path, "--collection", "bridges", "--random-sample", "--quiet")

    assert "crux.zip (crux): " in written
    assert declarations_of(Study.objects.get(name="bridges-crux"))["random_sample"]


def test_the_api_says_what_a_zip_of_it_brought(as_rosa: Client, collection: Collection, tmp_path: Path) -> None:
    file = SimpleUploadedFile("crux.zip", zipped(a_folder_of_crux(tmp_path / "crux")))

    as_rosa.post("/api/v1/collections/bridges/files/", {"file": file})
    work()

    details = ImportOutcome.read(Upload.objects.get().outcome).details
    assert [(file["name"], file["waits"]) for file in details["files"]] == [("crux.zip", "")]
    assert details["studies"] == ["bridges-crux"]


def test_a_broken_line_is_told_with_the_name_of_its_file(
    as_rosa: Client, collection: Collection, tmp_path: Path
) -> None:
    path = a_folder_of_crux(tmp_path / "crux")
    with (path / "documents.jsonl").open("a") as file:
        file.write("nonsense\n")

    response = as_rosa.get(preview_of(as_rosa, zipped(path)))

    assertContains(response, "1 problem in documents.jsonl")
    assertNotContains(response, ">Import</button>")


def test_a_zip_of_something_else_is_refused(as_rosa: Client, collection: Collection, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear Rosa")

    response = as_rosa.get(preview_of(as_rosa, zipped(tmp_path)))

    assertContains(response, "This is not a folder of CRUX")
    assertNotContains(response, str(tmp_path))


def test_what_is_no_zip_is_refused(as_rosa: Client, collection: Collection) -> None:
    response = as_rosa.get(preview_of(as_rosa, b"no zip at all"))

    assertContains(response, "This zip cannot be read")


def test_only_a_zip_is_taken(as_rosa: Client, collection: Collection) -> None:
    assertContains(send(as_rosa, b"{}", "documents.jsonl"), "Zip the folder", status_code=422)


@pytest.mark.skipif(not REAL.is_dir(), reason=f"the labels of CRUX are not at {REAL}")
def test_cruxs_own_labels_come_in_as_a_zip(collection: Collection, rosa: User) -> None:
    chosen = {"file_format": "crux"}
    file = SimpleUploadedFile("crux.zip", zipped(REAL, "crux/"))
    upload = keep_upload(file=file, collection=collection, by=rosa, chosen=chosen, at=now())

    imported = import_upload(upload=Upload.objects.get(pk=upload.pk), collection=collection, at=now())

    judgments = Judgment.objects.of_study(Study.objects.get(name="bridges-crux"))
    people = judgments.filter(rater__kind=Rater.Kind.ASSESSOR)
    assert people.filter(criterion__name="answerability").count() == 3 * 435
    assert imported.flaws


# --- With care ----------------------------------------------------------------------------------


@pytest.fixture
def archive(tmp_path: Path) -> Callable[..., Path]:
    """Make a zip of names with their contents."""

    def make(**files: bytes) -> Path:
        path = tmp_path / "made.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
            for name, content in files.items():
                made.writestr(name, content)
        return path

    return make


def refusal_of(path: Path) -> str:
    with pytest.raises(BrokenFile) as refused, unpacked(path, name="made.zip"):
        pytest.fail("The zip was taken.")
    return str(refused.value)


def test_files_lie_where_the_zip_says_and_are_gone_afterwards(archive: Callable[..., Path]) -> None:
    with unpacked(archive(**{"a/b.txt": b"x", "c.txt": b"y"}), name="made.zip") as folder:
        found = {str(path.relative_to(folder)) for path in folder.rglob("*.txt")}

    assert found == {"a/b.txt", "c.txt"}
    assert not folder.exists()


def test_what_systems_add_to_a_zip_is_left_out(archive: Callable[..., Path]) -> None:
    with unpacked(archive(**{"__MACOSX/._a.txt": b"x", ".DS_Store": b"x", "a.txt": b"y"}), name="m.zip") as folder:
        assert [path.name for path in folder.rglob("*")] == ["a.txt"]


@pytest.mark.parametrize("name", ["/etc/passwd", "a/../../b.txt", "C:/b.txt", "a\\..\\b.txt"])
def test_a_name_that_leads_elsewhere_is_refused(archive: Callable[..., Path], tmp_path: Path, name: str) -> None:
    before = set(tmp_path.parent.rglob("*"))

    assert "“" in refusal_of(archive(**{"fine.txt": b"x", name: b"x"}))
    assert set(tmp_path.parent.rglob("*")) - before == {tmp_path / "made.zip"}


def test_a_link_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "made.zip"
    link = zipfile.ZipInfo("link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(path, "w") as made:
        made.writestr(link, "/etc/passwd")

    assert "not a plain file but a link" in refusal_of(path)


def test_a_file_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "made.zip"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("a.txt", "x")
        with pytest.warns(UserWarning, match="Duplicate"):
            made.writestr("a.txt", "y")

    assert "twice" in refusal_of(path)


def test_a_file_in_the_place_of_a_folder_is_refused(archive: Callable[..., Path]) -> None:
    assert "cannot be unpacked" in refusal_of(archive(**{"a": b"x", "a/b": b"x"}))


def test_too_many_files_are_refused(archive: Callable[..., Path]) -> None:
    assert "2,001 files" in refusal_of(archive(**{f"{n}.txt": b"" for n in range(2_001)}))


def test_a_zip_that_says_it_is_too_large_is_refused_before_it_is_unpacked(
    archive: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "MOST_BYTES", 1_000_000)
    path = archive(zeros=bytes(1_000_001))

    assert path.stat().st_size < 2_000
    assert "larger than" in refusal_of(path)


def test_a_zip_that_lies_about_its_size_is_stopped_while_it_is_unpacked(
    archive: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = archive(zeros=bytes(3_000_000))
    content = path.read_bytes().replace((3_000_000).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    path.write_bytes(content)
    monkeypatch.setattr(archives, "MOST_BYTES", 1_000_000)

    assert "zip" in refusal_of(path)


def test_a_locked_zip_is_refused(archive: Callable[..., Path]) -> None:
    path = archive(**{"a.txt": b"x"})
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(bytes(content))

    assert "password" in refusal_of(path)


def test_a_cut_off_zip_is_refused(archive: Callable[..., Path]) -> None:
    path = archive(**{"a.txt": b"x" * 1_000})
    path.write_bytes(path.read_bytes()[:-30])

    assert "cannot be read" in refusal_of(path)
