"""Topics, qrels and passages of the package ir_datasets become files, or take the place of an upload that names them.

The package is optional. It downloads what it is asked for, once, into its own folder (IR_DATASETS_HOME).
"""

from __future__ import annotations

import importlib
import json
import re
import tempfile
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from django.core.files.base import ContentFile

from collection.formats.problems import BrokenFile, Problem
from collection.models import Collection, RankedPassage, Upload

FORMAT = "ir_datasets"
INSTALL = "Ask who runs this site to install it: pip install ir_datasets, then restart."
REQUESTS = ("text", "query", "description", "title")
TEXTS = ("text", "body", "abstract")
IDS = re.compile(r"[\s,]+")
MOST_ID = 200


@dataclass(frozen=True)
class Wanted:
    """Datasets by id, of which topics come in, and qrels and passages if asked."""

    ids: Sequence[str]
    with_qrels: bool = False
    with_passages: bool = False


def ids_in(written: str) -> list[str]:
    """Return the ids in a text, separated by spaces or commas, each once. Raises ValueError."""
    ids = list(dict.fromkeys(filter(None, IDS.split(written))))
    if too_long := next((one for one in ids if len(one) > MOST_ID), None):
        raise ValueError(f"“{too_long[:40]}…” is not the id of a dataset.")
    return ids


def write_files(wanted: Wanted, folder: Path, *, named: Set[str]) -> list[Path]:
    """Write the datasets' topics, and what else is asked for, into the folder. Raises BrokenFile.

    Of passages, those come in that `named` or the datasets' qrels name.
    """
    return [path for one in wanted.ids for path in _write(one, wanted, folder, named)]


def _write(dataset_id: str, wanted: Wanted, folder: Path, named: Set[str]) -> Iterator[Path]:
    dataset = dataset_of(dataset_id)
    name = dataset_id.replace("/", "-")
    with told(dataset_id):
        if not dataset.has_queries():
            raise _refused(dataset_id, "The dataset has no topics.", "Choose one of its parts.")
        yield _write_lines(folder / f"{name}.topics.jsonl", (_topic(query) for query in dataset.queries_iter()))
        judged: set[str] = set()
        if dataset.has_qrels() and (wanted.with_qrels or wanted.with_passages):
            qrels = list(dataset.qrels_iter())
            judged = {line.doc_id for line in qrels}
            if wanted.with_qrels:
                lines = (f"{line.query_id} 0 {line.doc_id} {line.relevance}" for line in qrels)
                yield _write_lines(folder / f"{name}.qrels", lines)
        elif wanted.with_qrels:
            raise _refused(dataset_id, "The dataset has no qrels.", "Leave them out, or choose one of its parts.")
        if wanted.with_passages:
            if not dataset.has_docs():
                raise _refused(dataset_id, "The dataset has no passages.", "Leave them out.")
            ids = sorted({*judged, *named})
            found = (_passage(doc) for doc in dataset.docs_store().get_many_iter(ids))
            path = _write_lines(folder / f"{name}.passages.jsonl", found)
            if path.stat().st_size:
                yield path


def dataset_of(dataset_id: str) -> Any:
    """Return the package's dataset of this id. Raises BrokenFile."""
    try:
        package = importlib.import_module("ir_datasets")
    except ImportError as error:
        raise _refused(dataset_id, "The package ir_datasets is not installed here.", INSTALL) from error
    try:
        return package.load(dataset_id)
    except KeyError as error:
        reason = f"There is no dataset “{dataset_id}”."
        raise _refused(dataset_id, reason, "The ids are listed at https://ir-datasets.com.") from error


@contextmanager
def told(dataset_id: str) -> Iterator[None]:
    """Say in a sentence what the package could not read or download."""
    try:
        yield
    except BrokenFile:
        raise
    except (OSError, EOFError, RuntimeError, LookupError, ValueError) as error:
        reason = f"The dataset could not be read: {str(error)[:300] or type(error).__name__}."
        remedy = "Try again, or download it on the server first (ir_datasets export)."
        raise _refused(dataset_id, reason, remedy) from error


def _topic(query: Any) -> str:
    fields = _texts(query)
    request = next((name for name in REQUESTS if fields.get(name)), "")
    about = {"qid": query.query_id, "request": fields.pop(request, "") or query.default_text()}
    return json.dumps({name: value for name, value in fields.items() if name != "query_id"} | about)


def title_and_text(doc: Any) -> tuple[str, str]:
    """Return the title, or nothing, and the text of a document as the package gives it."""
    fields = _texts(doc)
    text = next((fields[name] for name in TEXTS if fields.get(name)), "") or doc.default_text()
    return fields.get("title", "")[:500], text


def _passage(doc: Any) -> str:
    title, text = title_and_text(doc)
    return json.dumps({"docid": doc.doc_id, "text": text, "title": title})


def _texts(row: Any) -> dict[str, str]:
    """Return the fields of the package's named tuple that are texts and say something."""
    return {name: value for name in row._fields if isinstance(value := getattr(row, name), str) and value.strip()}


def _write_lines(path: Path, lines: Iterator[str]) -> Path:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)
    return path


def _refused(dataset_id: str, reason: str, remedy: str) -> BrokenFile:
    return BrokenFile(dataset_id, [Problem(None, reason, remedy)])


def named_passages(collection: Collection) -> set[str]:
    """Return the ids of passages that runs rank, and of those that are here without a text."""
    ranked = RankedPassage.objects.filter(run__collection=collection).values_list("passage_id", flat=True)
    without = collection.passages.filter(text=None).values_list("passage_id", flat=True)
    return {*ranked.distinct(), *without}


def request_for(wanted: Wanted) -> ContentFile[bytes]:
    """Return what is kept of datasets until a worker has fetched them: their ids, named like a zip."""
    return ContentFile("\n".join(wanted.ids).encode(), name=f"{wanted.ids[0].replace('/', '-')}.zip")


def fetch(upload: Upload) -> None:
    """Put the datasets' files into the upload, which is then one of several files. Raises BrokenFile.

    Fetching may take long, so no transaction may be open.
    """
    wanted = Wanted(**upload.said[FORMAT])
    named = named_passages(upload.collection) if wanted.with_passages else set()
    with tempfile.TemporaryDirectory(prefix="assize-ir-") as folder:
        paths = write_files(wanted, Path(folder), named=named)
        packed = Path(folder) / "all.zip"
        with ZipFile(packed, "w", ZIP_DEFLATED) as archive:
            for path in paths:
                archive.write(path, path.name)
        upload.size = sum(path.stat().st_size for path in paths)
        upload.path.write_bytes(packed.read_bytes())
    upload.file_format = "files"
    upload.name = ", ".join(wanted.ids)[:255]
    upload.save(update_fields=["file_format", "name", "size"])
