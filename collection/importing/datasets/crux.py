"""CRUX's labelling files: a collection, and a closed study with the people's labels and a model's grades."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from django.db import transaction

from collection.collections.sharing import make_collection
from collection.formats import crux
from collection.formats.jsonl import RankingLine, ReportLine, RubricElementLine, RunLine, SystemLine, TopicLine
from collection.formats.problems import BrokenLine
from collection.formats.trec import read_passages, read_run
from collection.importing.collections import CollectionRows
from collection.importing.datasets.crux_judgments import import_judgments
from collection.importing.rows import Imported
from collection.importing.studies import closed_study
from collection.models import Collection, RubricElement, Study, User

HUMAN_SUMMARY = "human_summary"
OVERLAP = 3
RANK_REMARK = (
    "The runs’ rank and score are the same for all passages of a topic: ranks are taken from the order of the lines, "
    "scores as they stand."
)
TIME_REMARK = "The files do not say when anything was judged: judged_at is the time of this import."


@transaction.atomic
def import_crux(
    *,
    folder: Path,
    study_name: str,
    collection_name: str,
    owner: User,
    at: datetime,
    advance: Callable[[int], object] | None = None,
    name: str = "",
) -> Imported:
    """Bring a folder of CRUX's labelling platform in. `name` is what messages call it.

    Raises BrokenFile, and ValidationError for a name that is no name or taken; nothing has changed then.
    """
    source = crux.Folder(folder, advance, name=name)
    stored = Collection.objects.filter(name=collection_name).first()
    collection = stored or make_collection(name=collection_name, title="CRUX", owner=owner)
    imported = Imported(remarks=[RANK_REMARK, TIME_REMARK])

    _import_texts(source, collection, imported)
    study = closed_study(study_name, collection, owner=owner, source="CRUX labelling files", overlap=OVERLAP)
    import_judgments(source, study, imported, at=at)
    _keep_flaws(study, imported)

    return imported


def _keep_flaws(study: Study, imported: Imported) -> None:
    """Write into the study how often each flaw of the files occurs."""
    flaws = {what: len(places) for what, places in imported.flaws.items()}
    if study.attributes.get("flaws_of_the_files") != flaws:
        study.attributes["flaws_of_the_files"] = flaws
        study.save(update_fields=["attributes"])


# --- Texts ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Kept:
    """A report with the place it was read from."""

    name: str
    number: int
    report: crux.CruxReport


def _import_texts(source: crux.Folder, collection: Collection, imported: Imported) -> None:
    kept = _reports(source, imported)
    topics: dict[str, _Kept] = {}
    for one in kept:
        topics.setdefault(one.report.topic_id, one)
    _import_passages(source, collection, imported)
    for name in source.topic_files:
        with source.open(name) as file:
            rows = CollectionRows(collection, file=file, imported=imported)
            for one in topics.values():
                if one.name == name:
                    _add_topic(rows, one.number, one.report)
            rows.flush()
    for run in source.runs:
        _import_run(source, run, collection, imported)
    for name in source.topic_files:
        with source.open(name) as file:
            rows = CollectionRows(collection, file=file, imported=imported)
            for one in kept:
                if one.name == name:
                    report = one.report
                    rows.add(one.number, ReportLine(report.run, report.topic_id, report.text, report.attributes))
                    if report.summary and topics[report.topic_id] is one:
                        _add_summary(rows, one.number, report)
            rows.flush()


def _import_passages(source: crux.Folder, collection: Collection, imported: Imported) -> None:
    with source.open("documents.jsonl") as file:
        rows = CollectionRows(collection, file=file, imported=imported)
        for number, line in read_passages(file):
            with file.line(number):
                rows.add(number, line)
        rows.flush()


def _reports(source: crux.Folder, imported: Imported) -> list[_Kept]:
    """Return one report for each run and topic.

    Where files disagree about a report, the line whose id names the run is the one that people saw:
    their spans stand in it. The other text is kept in the report's attributes.
    """
    kept: dict[tuple[str, str], _Kept] = {}
    topics: dict[str, crux.CruxReport] = {}
    for run in source.runs:
        with source.open(f"{run}.jsonl") as file:
            for number, report in crux.read_reports(file, run=run, runs=source.runs):
                with file.line(number):
                    _refuse_another_topic(topics.setdefault(report.topic_id, report), report)
                    one = _Kept(file.name, number, report)
                    before = kept.get((report.run, report.topic_id))
                    kept[report.run, report.topic_id] = _the_judged(before, one, imported) if before else one
    return list(kept.values())


def _refuse_another_topic(first: crux.CruxReport, report: crux.CruxReport) -> None:
    for name in ("request", "questions", "summary"):
        if getattr(first, name) != getattr(report, name):
            raise BrokenLine(
                f"The {name} of the topic “{report.topic_id}” differs from that of the other lines.",
                "Correct one of them.",
            )


def _the_judged(one: _Kept, other: _Kept, imported: Imported) -> _Kept:
    judged, left = (one, other) if one.report.names_its_run else (other, one)
    if judged.report.text != left.report.text:
        judged.report.attributes[f"text in {left.name}"] = left.report.text
        imported.flaw(
            "reports that have another text in another file (judged: the one whose id names the run)",
            f"{left.name} line {left.number}, {left.report.topic_id}",
        )
    return judged


def _add_topic(rows: CollectionRows, number: int, report: crux.CruxReport) -> None:
    rows.add(number, TopicLine(report.topic_id, report.request))
    for position, question in enumerate(report.questions):
        rows.add(
            number,
            RubricElementLine(
                topic_id=report.topic_id,
                kind=RubricElement.Kind.SUB_QUESTION,
                element_id=str(position),
                text=question or "",
                position=position,
                masked=question is None,
            ),
        )


def _add_summary(rows: CollectionRows, number: int, report: crux.CruxReport) -> None:
    if (HUMAN_SUMMARY,) not in rows.runs.pks:
        rows.add(number, SystemLine("human"))
        rows.add(number, RunLine(HUMAN_SUMMARY, "human"))
        rows.runs.flush()
    rows.add(number, ReportLine(HUMAN_SUMMARY, report.topic_id, report.summary))


def _import_run(source: crux.Folder, run: str, collection: Collection, imported: Imported) -> None:
    with source.open(f"{run}.run") as file:
        rows = CollectionRows(collection, file=file, imported=imported)
        rows.add(1, SystemLine(run))
        rows.add(1, RunLine(run, run))
        places: dict[str, int] = {}
        for number, line in read_run(file):
            with file.line(number):
                places[line.topic_id] = places.get(line.topic_id, 0) + 1
                rows.add(number, RankingLine(run, line.topic_id, line.passage_id, places[line.topic_id], line.score))
        rows.flush()
