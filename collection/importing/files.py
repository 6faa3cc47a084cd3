"""Several files in one import, in any order: each recognised by its content, all of them or none.

What a file refers to may be in another of them. A file that names topics or passages which are nowhere waits: it is
left out, and says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from django.db import transaction

from collection.formats.problems import BrokenFile, InputFile, Problem, ReferencesMissing
from collection.formats.recognition import recognised
from collection.formats.trec import read_qrels
from collection.importing.collections import import_collection
from collection.importing.datasets.cited_reports import import_cited_reports
from collection.importing.datasets.clapnq import import_clapnq
from collection.importing.datasets.natural_questions import import_natural_questions
from collection.importing.datasets.nugget_banks import Assigning, bank_name_of, import_nugget_banks
from collection.importing.datasets.pools import import_pools
from collection.importing.datasets.rubric import import_graded, import_question_bank
from collection.importing.datasets.scores import import_scores
from collection.importing.datasets.summaries import import_summaries
from collection.importing.judgment_table import import_judgments
from collection.importing.origins import QrelsRater
from collection.importing.outcomes import ImportOutcome
from collection.importing.rows import Imported
from collection.importing.studies import closed_study
from collection.importing.trec import (
    import_passages,
    import_qrels,
    import_run,
    import_topics,
    relevance_criterion_of,
    scale_of_grades,
)
from collection.models import Collection, Rater, Study, User

# Each needs only what stands before it.
ORDER = (
    *("assize", "topics", "summaries", "questions", "natural_questions", "passages", "clapnq", "pools", "run"),
    *("reports", "nuggets", "assignments", "graded", "qrels", "judgments", "scores"),
)
Advance = Callable[[int], object]
MOST_CHARACTERS = 200
# Whose relevance a graded file holds, where nobody says.
PEOPLE = QrelsRater("people")
LIKE_PEOPLE = re.compile(r"people|person|human|assessor|annotator|expert|official|gold|nist|trec", re.IGNORECASE)


def rater_of_file(written: str) -> tuple[str, str]:
    """Return the name of the file and of the rater in “FILE=NAME”. Raises ValueError."""
    file, _, rater = written.partition("=")
    if not file.strip() or not rater.strip():
        raise ValueError(f"“{written}” is not FILE=NAME.")
    if len(rater) > MOST_CHARACTERS:
        raise ValueError(f"The name of the rater of {file} has more than {MOST_CHARACTERS} characters.")
    return Path(file).name, rater.strip()


def raters_of(people: Iterable[tuple[str, str]], judges: Iterable[tuple[str, str]]) -> dict[str, QrelsRater]:
    """Return whose judgments these files hold."""
    found = {file: QrelsRater(name) for file, name in people}
    return found | {file: QrelsRater(name, Rater.Kind.JUDGE) for file, name in judges}


@dataclass(frozen=True)
class FilesOptions:
    """What files do not say themselves.

    `raters` are those of qrels, assignments, the relevance in graded files, and scores that name nobody, by file name.
    Raters of qrels that it does not name are called like the files, and are all people, or all judges, as `kind` says;
    None: it is supposed from all names. Those of assignments and scores are judges, unless they are called like people.

    `run` and `system` name a single run otherwise than its tag. `criterion` is that of scores whose file names none of
    the study's. `study` is the one that judgments go into; where none is given, they go into closed ones, but for
    tables and scores. `by` is who imports. `seed` is that of what an import draws.
    """

    study: Study | None = None
    raters: Mapping[str, QrelsRater] | None = field(default_factory=dict)
    relevant_from: float | None = None
    with_topics: bool = False
    without_texts: bool = False
    run: str = ""
    system: str = ""
    criterion: str = ""
    kind: str = Rater.Kind.ASSESSOR
    by: User | None = None
    seed: int = 0


def stem_of(name: str) -> str:
    """Return what a file is called, without its folder, ending and .gz."""
    return Path(name.removesuffix(".gz")).stem


def supposed_assigner(name: str) -> QrelsRater:
    """Return whose assignments of nuggets these may be, to be confirmed: a judge's, unless called like people's."""
    stem = stem_of(name)
    return QrelsRater(stem, Rater.Kind.ASSESSOR if LIKE_PEOPLE.search(stem) else Rater.Kind.JUDGE)


def supposed_raters(names: Sequence[str]) -> dict[str, QrelsRater]:
    """Return whose judgments these qrels may be, to be confirmed: where some are called like people, others are judges.

    A name alone says little, so where none is called like people, all are taken for theirs.
    """
    stems = {name: stem_of(name) for name in names}
    of_people = {name for name, stem in stems.items() if LIKE_PEOPLE.search(stem)} or set(names)
    kinds = Rater.Kind
    return {
        name: QrelsRater(stem, kinds.ASSESSOR if name in of_people else kinds.JUDGE) for name, stem in stems.items()
    }


@dataclass(frozen=True)
class _File:
    name: str
    path: Path
    file_format: str


@transaction.atomic
def import_files(
    *,
    files: Sequence[tuple[str, Path]],
    collection: Collection,
    options: FilesOptions,
    at: datetime,
    advance: Advance | None = None,
) -> ImportOutcome:
    """Import files, each with its name. Raises BrokenFile and ValidationError, and has then changed nothing.

    The outcome's `details["files"]` has for each file its name, format, counts, and why it waits; `details["studies"]`
    names the studies that judgments went into.
    """
    known = [_File(name, path, recognised(path, name=name)) for name, path in files]
    if zipped := next((file for file in known if file.file_format == "zip"), None):
        raise BrokenFile(zipped.name, [Problem(None, "A zip among other files cannot be imported.", "Unpack it.")])
    together = _Together(known, collection, options, at)
    whole, told = Imported(), []
    for file in sorted(known, key=lambda file: ORDER.index(file.file_format)):
        opened = InputFile(file.path, name=file.name, advance=advance)
        try:
            with transaction.atomic():
                imported = together.bring(opened, file)
            waits = ""
        except ReferencesMissing as waiting:
            imported = Imported(asks_for_rater=file.file_format in ("qrels", "assignments"))
            waits = " ".join(map(str, waiting.problems))
        whole.add(imported)
        counts = ImportOutcome.of(imported).counts
        about = {"name": file.name, "format": file.file_format, "asks_for_rater": imported.asks_for_rater}
        told.append({**about, "counts": counts, "waits": waits})
    outcome = ImportOutcome.of(whole)
    details = {"files": told, "studies": whole.studies}
    return ImportOutcome(outcome.counts, outcome.remarks, outcome.flaws, details=details)


@transaction.atomic
def import_as(
    file_format: str, *, file: InputFile, collection: Collection, options: FilesOptions, at: datetime
) -> Imported:
    """Import a file whose format was said. Raises BrokenFile and ValidationError, and has then changed nothing."""
    one = _File(file.name, file.path, file_format)
    return _Together([one], collection, options, at).bring(file, one)


class _Together:
    """Files that are imported together: what all of them tell of one."""

    def __init__(self, known: Sequence[_File], collection: Collection, options: FilesOptions, at: datetime) -> None:
        self.collection = collection
        self.options = options
        self.at = at
        qrels = [file for file in known if file.file_format == "qrels"]
        supposed = supposed_raters([file.name for file in qrels]) if options.raters is None else {}
        self.raters = {**supposed, **(options.raters or {})}
        self.grades = {line.grade for file in qrels for _, line in read_qrels(InputFile(file.path, name=file.name))}
        # The relevance in a graded file is mostly that of the qrels beside it: two raters of one mind would agree.
        self.has_people = any(self.rater_of(file).kind == Rater.Kind.ASSESSOR for file in qrels)
        self.suffix = "rubric" if any(file.file_format == "graded" for file in known) else "qrels"

    def rater_of(self, file: _File) -> QrelsRater:
        if file.file_format == "graded":
            return self.raters.get(file.name) or PEOPLE
        if file.file_format in ("assignments", "scores"):
            return self.raters.get(file.name) or supposed_assigner(file.name)
        return self.raters.get(file.name) or QrelsRater(stem_of(file.name), self.options.kind)

    def bring(self, opened: InputFile, file: _File) -> Imported:
        """Import one of the files. Raises BrokenFile and ValidationError."""
        collection, options, at = self.collection, self.options, self.at
        match file.file_format:
            case "assize":
                return import_collection(file=opened, collection=collection)
            case "topics":
                return import_topics(file=opened, collection=collection)
            case "questions":
                return import_question_bank(file=opened, collection=collection)
            case "summaries":
                return import_summaries(file=opened, collection=collection)
            case "natural_questions":
                return import_natural_questions(file=opened, collection=collection, seed=options.seed)
            case "passages":
                return import_passages(file=opened, collection=collection)
            case "run":
                named = {"run": options.run, "system": options.system}
                return import_run(file=opened, collection=collection, with_topics=options.with_topics, **named)
            case "reports":
                return import_cited_reports(file=opened, collection=collection, with_topics=options.with_topics)
            case "pools":
                return import_pools(file=opened, collection=collection, run=options.run, system=options.system)
            case "clapnq":
                study = study_for(options.study, collection, suffix="answers", source="CLAPNQ files")
                return with_study_named(import_clapnq(file=opened, study=study, at=at), study, options.study)
            case "nuggets":
                return import_nugget_banks(
                    file=opened,
                    collection=collection,
                    bank=bank_name_of(file.name),
                    with_topics=options.with_topics,
                    by=options.by,
                    at=at,
                )
            case "assignments":
                whose, chosen = self.rater_of(file), options.study
                return import_assignments(
                    file=opened, collection=collection, whose=whose, chosen=chosen, options=options, at=at
                )
            case "graded":
                return self._graded(opened, file)
            case "qrels":
                return self._qrels(opened, file)
            case "scores":
                study, whose = self._chosen_study(file, "Scores need"), self.rater_of(file)
                imported = import_scores(
                    file=opened,
                    study=study,
                    criterion=options.criterion,
                    rater=whose.name,
                    kind="human" if whose.kind == Rater.Kind.ASSESSOR else "LLM",
                    at=at,
                )
                return with_study_named(imported, study, study)
            case _:
                study = self._chosen_study(file, "A judgments table needs")
                return with_study_named(import_judgments(file=opened, study=study, at=at), study, study)

    def _chosen_study(self, file: _File, what: str) -> Study:
        """Return the study that was chosen. Raises ReferencesMissing."""
        if self.options.study is None:
            remedy = "Create the study with its criteria first, then choose it beside the files."
            raise ReferencesMissing(file.name, [Problem(None, f"{what} a study.", remedy)])
        return self.options.study

    def _graded(self, opened: InputFile, file: _File) -> Imported:
        study = self._study("files of the RUBRIC workbench")
        imported = import_graded(
            file=opened,
            study=study,
            rater=None if self.has_people else self.rater_of(file),
            relevant_from=self.options.relevant_from,
            grades=sorted(self.grades),
            with_topics=self.options.with_topics,
            at=self.at,
        )
        return with_study_named(imported, study, self.options.study)

    def _qrels(self, opened: InputFile, file: _File) -> Imported:
        study, options = self._study("TREC qrels"), self.options
        imported = import_qrels(
            file=opened,
            criterion=relevance_criterion_of(
                study, grades=scale_of_grades(self.grades), relevant_from=options.relevant_from
            ),
            rater=self.rater_of(file).stored(self.collection, source=file.name),
            without_texts=options.without_texts,
            with_topics=options.with_topics,
            at=self.at,
        )
        return with_study_named(imported, study, options.study)

    def _study(self, source: str) -> Study:
        return study_for(self.options.study, self.collection, suffix=self.suffix, source=source)


def import_assignments(
    *,
    file: InputFile,
    collection: Collection,
    whose: QrelsRater,
    chosen: Study | None,
    options: FilesOptions,
    at: datetime,
    bank: str = "",
) -> Imported:
    """Bring in which nuggets answers support, as judgments of this rater. Raises BrokenFile and ValidationError."""
    study = study_for(chosen, collection, suffix="nuggets", source="assignments of nuggets")
    imported = import_nugget_banks(
        file=file,
        collection=collection,
        bank=bank or bank_name_of(file.name),
        with_topics=options.with_topics,
        assigning=Assigning(study, whose.stored(collection, source=file.name)),
        by=options.by,
        at=at,
    )
    imported.asks_for_rater = True
    return with_study_named(imported, study, chosen)


def study_for(study: Study | None, collection: Collection, *, suffix: str, source: str) -> Study:
    """Return the study; without one the collection's closed one for such judgments, made if new."""
    if study:
        return study
    room = 100 - len(suffix) - 1
    return closed_study(f"{collection.name[:room]}-{suffix}", collection, owner=collection.owner, source=source)


def with_study_named(imported: Imported, study: Study, chosen: Study | None) -> Imported:
    """Note the study that the judgments go into, and say so where none was chosen for them."""
    imported.studies.append(study.name)
    if chosen is None:
        imported.remarks.append(f"The judgments go into the closed study “{study.name}”.")
    return imported
