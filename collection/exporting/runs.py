"""Runs as TREC's files: one run a file, as `trec_eval` and the importer read it."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from tempfile import TemporaryFile

from collection.formats.trec import RunLine, written_run_line
from collection.models import Collection, RankedPassage, Run

CHUNK = 10_000
PIECE = 1 << 16


class NoSuchRun(ValueError):
    """The file's run was not named, is not there, or cannot be written; the message says what can be done."""


def chosen_run(collection: Collection, name: str, *, what: str) -> Run:
    """Return the run of this name, or the collection's only one that ranks passages. Raises NoSuchRun."""
    names = list(
        Run.objects.filter(collection=collection, ranking__isnull=False).values_list("name", flat=True).distinct()
    )
    chosen = name or (names[0] if len(names) == 1 else "")
    if chosen not in names:
        known = f" Choose one of {', '.join(names[:20])}." if names else " The collection has no rankings."
        raise NoSuchRun((f"There is no run “{name}”." if name else f"{what} is of one run.") + known)
    return Run.objects.get(collection=collection, name=chosen)


def exported_run(collection: Collection, run: str = "") -> Iterator[str]:
    """Return the run's lines `topic Q0 docno rank score tag`, by rank. Raises NoSuchRun.

    Ranks and scores stand as they came in; a tool that goes by the score, as trec_eval does, may order ties otherwise.
    """
    chosen = chosen_run(collection, run, what="A run file")
    _refuse_spaces([chosen])
    return _lines(chosen)


def exported_runs(collection: Collection, _run: str = "") -> Iterator[bytes]:
    """Return a zip with a file for each run that ranks passages. Raises NoSuchRun."""
    runs = list(Run.objects.filter(collection=collection, ranking__isnull=False).distinct().order_by("name"))
    if not runs:
        raise NoSuchRun("The collection has no rankings.")
    _refuse_spaces(runs)
    return _archive(runs)


def _lines(run: Run) -> Iterator[str]:
    ranking = RankedPassage.objects.filter(run=run).order_by("topic_id", "rank", "passage_id")
    for row in ranking.values_list("topic__topic_id", "passage_id", "rank", "score").iterator(CHUNK):
        yield written_run_line(RunLine(*row, run.name))


def _archive(runs: list[Run]) -> Iterator[bytes]:
    with TemporaryFile() as kept:
        with zipfile.ZipFile(kept, "w", zipfile.ZIP_DEFLATED) as archive:
            for run, name in zip(runs, _file_names(runs), strict=True):
                with archive.open(name, "w", force_zip64=True) as file:
                    file.writelines(line.encode() for line in _lines(run))
        kept.seek(0)
        while piece := kept.read(PIECE):
            yield piece


def _file_names(runs: list[Run]) -> Iterator[str]:
    """Yield a name for each run's file, no two alike whatever the runs are called."""
    taken: set[str] = set()
    for run in runs:
        stem = re.sub(r"[^\w.-]+", "-", run.name).strip("-.") or "run"
        name = stem if stem.lower() not in taken else f"{stem}-{run.pk}"
        taken.add(name.lower())
        yield f"{name}.run"


def _refuse_spaces(runs: list[Run]) -> None:
    """Raise NoSuchRun where a name has a space: a TREC file's columns end at the first."""
    ranked = RankedPassage.objects.filter(run__in=runs)
    spaced = (
        ("run", next((run.name for run in runs if re.search(r"\s", run.name)), None)),
        ("topic", ranked.filter(topic__topic_id__regex=r"\s").values_list("topic__topic_id", flat=True).first()),
        ("passage", ranked.filter(passage_id__regex=r"\s").values_list("passage_id", flat=True).first()),
    )
    for what, name in spaced:
        if name is not None:
            raise NoSuchRun(f"The {what} “{name}” has a space in its name, which a run file cannot hold.")
