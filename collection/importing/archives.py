"""Zips among the files of an import: what they hold takes their place; the zip of CRUX's folder is known by that."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from zipfile import is_zipfile

from collection.formats.archives import unpacked
from collection.formats.problems import BrokenFile, Problem
from collection.importing.datasets.crux import import_crux
from collection.importing.rows import Imported
from collection.importing.studies import refuse_who_assesses
from collection.models import Collection, User

Advance = Callable[[int], object]

# What says something about data, and is in many a folder of them.
NOT_DATA = re.compile(r"(readme|licen[cs]e|citation)\b|.*\.md$", re.IGNORECASE)


@contextmanager
def without_zips(files: Sequence[tuple[str, Path]]) -> Iterator[list[tuple[str, Path]]]:
    """Yield the files, each with its name, with those of a zip in its place; gone afterwards. Raises BrokenFile.

    A zip that holds nothing but a zip, as one that was zipped again, is unpacked twice.
    """
    with ExitStack() as stack:
        plain: list[tuple[str, Path]] = []
        for name, path in files:
            found = [(name, path)]
            for _ in range(2):
                if len(found) == 1 and is_zipfile(found[0][1]):
                    found = _data_in(stack.enter_context(unpacked(found[0][1], name=found[0][0])), name)
            plain += found
        yield plain


def _data_in(folder: Path, name: str) -> list[tuple[str, Path]]:
    if (folder / "[Content_Types].xml").is_file():
        problem = Problem(None, "This is an Office document.", "Save its table as CSV or as text with tabs.")
        raise BrokenFile(name, [problem])
    found = sorted(path for path in folder.rglob("*") if path.is_file() and not NOT_DATA.match(path.name))
    if not found:
        raise BrokenFile(name, [Problem(None, "There is no file in the zip.", "Choose another.")])
    return [(str(path.relative_to(folder)), path) for path in found]


@contextmanager
def crux_folder(files: Sequence[tuple[str, Path]]) -> Iterator[Path | None]:
    """Yield CRUX's folder where a zip of it is the only file, else None."""
    if len(files) != 1 or not is_zipfile(files[0][1]):
        yield None
        return
    with unpacked(files[0][1], name=files[0][0]) as folder:
        outermost = _outermost_with_files(folder)
        yield outermost if (outermost / "documents.jsonl").is_file() else None


def import_crux_folder(
    folder: Path, *, name: str, collection: Collection, by: User | None, at: datetime, advance: Advance | None
) -> Imported:
    """Import CRUX's folder into a closed study of the collection's that is made if new.

    Raises BrokenFile, and ValidationError where who imports assesses in it.
    """
    study_name = f"{collection.name[:95]}-crux"
    if stored := collection.studies.filter(name=study_name).first():
        refuse_who_assesses(stored, by)
    imported = import_crux(
        folder=folder,
        study_name=study_name,
        collection_name=collection.name,
        owner=collection.owner,
        at=at,
        advance=advance,
        name=name,
    )
    imported.studies.append(study_name)
    return imported


def import_crux_zip(
    path: Path, *, name: str, collection: Collection, by: User | None, at: datetime, advance: Advance | None
) -> Imported:
    """Unpack the zip and import its folder, whatever it holds. Raises what `import_crux_folder` does."""
    with unpacked(path, name=name) as folder:
        found = _outermost_with_files(folder)
        return import_crux_folder(found, name=name, collection=collection, by=by, at=at, advance=advance)


def _outermost_with_files(folder: Path) -> Path:
    """Return the folder, or the one in it that a zip of a folder begins with."""
    inside = list(folder.iterdir())
    return _outermost_with_files(inside[0]) if len(inside) == 1 and inside[0].is_dir() else folder
