"""Which files an import has: each with its format, with its first records as they are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from collection.formats.first_records import first_records
from collection.formats.problems import BrokenFile, InputFile
from collection.formats.recognition import Named, UnclearFormat, recognised
from collection.formats.trec import QrelsLine, RunLine, read_qrels, read_run
from collection.importing.rows import Imported
from collection.models import Collection, RankedPassage, Topic

# Of what other files and the collection name, so many ids may decide what a file holds.
MOST_NAMED_IDS = 100_000


@dataclass(frozen=True)
class KnownFile:
    """A file on the disk, what messages call it, and its format."""

    name: str
    path: Path
    file_format: str


def about_file(file: KnownFile, imported: Imported, waits: str) -> dict[str, Any]:
    """Return what the outcome's `details` say of a file, and why it `waits`, if it does."""
    return {
        "name": file.name,
        "format": file.file_format,
        "asks_for_rater": imported.asks_for_rater,
        "counts": imported.counts(),
        "waits": waits,
        "records": first_records(file.path, name=file.name, file_format=file.file_format),
    }


def recognised_files(
    files: Sequence[tuple[str, Path]], collection: Collection, *, formats: Mapping[str, str], criterion: str
) -> list[KnownFile]:
    """Return the files with their formats: said in `formats`, or by their content, or by what the others name.

    AltTest's labels, which look like runs and qrels, are what a criterion is named for. Raises UnclearFormats where
    some may be of several, and BrokenFile.
    """
    known: list[KnownFile] = []
    unclear: list[tuple[str, Path]] = []
    for name, path in files:
        said = formats.get(name) or formats.get(Path(name).name)
        try:
            known.append(KnownFile(name, path, said or recognised(path, name=name)))
        except UnclearFormat as several:
            if criterion and "scores" in several.formats:
                known.append(KnownFile(name, path, "scores"))
            else:
                unclear.append((name, path))
    if not unclear:
        return known
    named, left = _named_by(known, collection), []
    for name, path in unclear:
        try:
            known.append(KnownFile(name, path, recognised(path, name=name, named=named)))
        except UnclearFormat as several:
            left.append(several)
    if left:
        raise UnclearFormats(left)
    return known


class UnclearFormats(BrokenFile):
    """Files that may each be of several formats; `formats` are these by name."""

    def __init__(self, files: Sequence[UnclearFormat]) -> None:
        self.formats = {file.name: file.formats for file in files}
        super().__init__(files[0].name, [problem for file in files for problem in file.problems])


def _named_by(files: Sequence[KnownFile], collection: Collection) -> Named:
    """Return the ids that runs and qrels beside a file name, and those that the collection has."""
    topics = set(Topic.objects.filter(collection=collection).values_list("topic_id", flat=True))
    ranked = RankedPassage.objects.filter(run__collection=collection).values_list("passage_id", flat=True)
    passages = set(ranked.distinct()[:MOST_NAMED_IDS])
    for file in files:
        opened = InputFile(file.path, name=file.name)
        found: dict[str, Iterator[tuple[int, RunLine | QrelsLine]]] = {
            "run": read_run(opened),
            "qrels": read_qrels(opened),
        }
        for _, line in islice(found.get(file.file_format, ()), MOST_NAMED_IDS):
            topics.add(line.topic_id)
            passages.add(line.passage_id)
    return Named(topics, passages)
