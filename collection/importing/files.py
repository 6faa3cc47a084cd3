"""Several files in one import, in any order: each recognised by its content, all of them or none.

What a file refers to may be in another of them. A file that names topics or passages which are nowhere waits: it is
left out, and says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from collection.formats.problems import BrokenFile, InputFile, Problem, ReferencesMissing
from collection.importing.archives import Advance, crux_folder, import_crux_folder, without_zips
from collection.importing.datasets.clapnq import import_clapnq
from collection.importing.datasets.nugget_banks import Assigning, bank_name_of, import_nugget_banks
from collection.importing.datasets.rubric import import_graded
from collection.importing.datasets.scores import import_scores
from collection.importing.judgment_table import import_judgments
from collection.importing.known_files import KnownFile, about_file, recognised_files
from collection.importing.origins import QrelsRater
from collection.importing.outcomes import ImportOutcome
from collection.importing.raters import (
    PEOPLE,
    people_among,
    refuse_unknown_files,
    refuse_unsaid,
    said_of,
    stem_of,
    supposed_assigner,
    with_preset,
)
from collection.importing.rows import Imported
from collection.importing.stray_grades import Choice, SharedScale, grades_in, shared_scale
from collection.importing.studies import closed_study, refuse_who_assesses
from collection.importing.texts import TEXTS, import_texts
from collection.importing.trec import (
    import_qrels,
    relevance_criterion_of,
    relevance_scale_of,
    widen_scale,
)
from collection.judgments.declarations import declare
from collection.models import Collection, Rater, Study, User

# Each needs only what stands before it.
ORDER = (
    *("assize", "topics", "summaries", "questions", "natural_questions", "passages", "clapnq", "pools", "run"),
    *("reports", "nuggets", "assignments", "graded", "qrels", "judgments", "scores"),
)


@dataclass(frozen=True)
class FilesOptions:
    """What files do not say themselves.

    `raters` are those of qrels, assignments, the relevance in graded files, and scores that name nobody, by file name.
    Raters of qrels that it does not name are called like the files, and are all people, or all judges, as `others`
    says; empty: several files must be named. None: it is asked later, and this is a trial. Those of assignments and
    scores are judges, unless they are called like people. `formats` names the formats of files that may be of several;
    `stray_grades` says what becomes of grades of qrels that one rater alone uses in fewer than 1 % of the lines.

    `run` and `system` name a single run otherwise than its tag. `criterion` is that of scores whose file names none of
    the study's. `study` is the one that judgments go into; where none is given, they go into closed ones, but for
    tables and scores. `by` is who imports. `seed` is that of what an import draws. `random_sample` and `irrelevant` are
    what is declared of those studies, as `declare` takes it.
    """

    study: Study | None = None
    raters: Mapping[str, QrelsRater] | None = field(default_factory=dict)
    relevant_from: float | None = None
    with_topics: bool = False
    without_texts: bool = False
    run: str = ""
    system: str = ""
    criterion: str = ""
    others: str = ""
    formats: Mapping[str, str] = field(default_factory=dict)
    stray_grades: Choice = "ungraded"
    by: User | None = None
    seed: int = 0
    random_sample: bool | None = None
    irrelevant: Mapping[str, str] = field(default_factory=dict)


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
    names the studies that judgments went into; `details["has_strays"]`: what becomes of stray grades can be chosen.
    """
    with crux_folder(files) as folder:
        if folder:
            [(name, path)] = files
            imported = import_crux_folder(
                folder, name=name, collection=collection, by=options.by, at=at, advance=advance
            )
            declare_said(imported, options)
            return _outcome(imported, [about_file(KnownFile(name, path, "crux"), imported, "")])
    with without_zips(files) as plain:
        _refuse_unknown(options, [name for name, _ in (*plain, *files)])
        known = recognised_files(plain, collection, formats=options.formats, criterion=options.criterion)
        together = _Together(known, collection, options, at)
        whole, about = Imported(remarks=list(together.scale.remarks)), []
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
            about.append(about_file(file, imported, waits))
        if together.knows_raters:
            declare_said(whole, options)
    return _outcome(whole, about, has_strays=together.has_strays)


def _refuse_unknown(options: FilesOptions, names: Sequence[str]) -> None:
    """Raise ValidationError for what is said of files that are not here, or of formats that are none."""
    refuse_unknown_files([*(options.raters or ()), *options.formats], names)
    if unknown := sorted(set(options.formats.values()) - set(ORDER)):
        raise ValidationError(f"“{unknown[0]}” is not a format. There are: {', '.join(ORDER)}.")


def _outcome(imported: Imported, files: list[dict[str, Any]], *, has_strays: bool = False) -> ImportOutcome:
    details = {"files": files, "studies": imported.studies, "has_strays": has_strays}
    return replace(ImportOutcome.of(imported), details=details)


@transaction.atomic
def import_as(
    file_format: str, *, file: InputFile, collection: Collection, options: FilesOptions, at: datetime
) -> ImportOutcome:
    """Import a file whose format was said. Raises BrokenFile and ValidationError, and has then changed nothing."""
    one = KnownFile(file.name, file.path, file_format)
    together = _Together([one], collection, options, at)
    imported = together.bring(file, one)
    imported.remarks += together.scale.remarks
    if together.knows_raters:
        declare_said(imported, options)
    return _outcome(imported, [about_file(one, imported, "")], has_strays=together.has_strays)


def declare_said(imported: Imported, options: FilesOptions) -> None:
    """Declare what is said of the studies that judgments went into. Raises ValidationError."""
    for study in Study.objects.filter(name__in=imported.studies):
        declare(study, random_sample=options.random_sample, irrelevant=options.irrelevant)


class _Together:
    """Files that are imported together: what all of them tell of one."""

    def __init__(self, known: Sequence[KnownFile], collection: Collection, options: FilesOptions, at: datetime) -> None:
        self.collection = collection
        self.options = options
        self.at = at
        qrels = [file for file in known if file.file_format == "qrels"]
        names = [file.name for file in qrels]
        preset = people_among(names)
        # Where nobody has said it yet, no file's grades count as people's.
        self.knows_people = options.raters is not None or bool(preset)
        # Till then the sources of qrels have no names.
        self.knows_raters = self.knows_people or not qrels
        if options.raters is None:
            self.raters: Mapping[str, QrelsRater] = with_preset(names, preset or names)
        else:
            refuse_unsaid(names, options.raters, others=options.others)
            self.raters = options.raters
        # The relevance in a graded file is mostly that of the qrels beside it: two raters of one mind would agree.
        self.has_people = any(self.rater_of(file).kind == Rater.Kind.ASSESSOR for file in qrels)
        self.suffix = "rubric" if any(file.file_format == "graded" for file in known) else "qrels"
        self.scale = self._shared_scale(qrels)

    @property
    def has_strays(self) -> bool:
        """Whether what becomes of stray grades can be chosen, or was: a choice can be taken back."""
        return bool(self.scale.stray) or self.options.stray_grades != "ungraded"

    def rater_of(self, file: KnownFile) -> QrelsRater:
        said = said_of(file.name, self.raters)
        if file.file_format == "graded":
            return said or PEOPLE
        if file.file_format in ("assignments", "scores"):
            return said or supposed_assigner(file.name)
        return said or QrelsRater(stem_of(file.name), self.options.others or Rater.Kind.ASSESSOR)

    def _shared_scale(self, qrels: Sequence[KnownFile]) -> SharedScale:
        if not qrels:
            return SharedScale(())
        people = {file.name for file in qrels if self.rater_of(file).kind == Rater.Kind.ASSESSOR and self.knows_people}
        files = [grades_in(file.path, name=file.name, of_people=file.name in people) for file in qrels]
        study = self.options.study or stored_study(self.collection, suffix=self.suffix)
        stored = relevance_scale_of(study) if study else None
        return shared_scale(files, stored=stored, choice=self.options.stray_grades)

    def bring(self, opened: InputFile, file: KnownFile) -> Imported:
        """Import one of the files. Raises BrokenFile, also where nothing is found in it, and ValidationError."""
        imported = self._bring(opened, file)
        if not imported.counts():
            reasons = [*imported.remarks, *imported.flaw_lines()]
            said = " ".join([f"The file is read as {file.file_format}, and nothing is found in it.", *reasons])
            raise BrokenFile(file.name, [Problem(None, said, "Check its format.")])
        return imported

    def _bring(self, opened: InputFile, file: KnownFile) -> Imported:
        collection, options, at = self.collection, self.options, self.at
        if file.file_format in TEXTS:
            said = {name: getattr(options, name) for name in ("run", "system", "with_topics", "seed")}
            return import_texts(file.file_format, file=opened, collection=collection, **said)
        match file.file_format:
            case "clapnq":
                study = study_for(collection, options, suffix="answers", source="CLAPNQ files")
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
                whose = self.rater_of(file)
                return import_assignments(file=opened, collection=collection, whose=whose, options=options, at=at)
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

    def _chosen_study(self, file: KnownFile, what: str) -> Study:
        """Return the study that was chosen. Raises ReferencesMissing."""
        if self.options.study is None:
            remedy = "Create the study with its criteria first, then choose it beside the files."
            raise ReferencesMissing(file.name, [Problem(None, f"{what} a study.", remedy)])
        return self.options.study

    def _graded(self, opened: InputFile, file: KnownFile) -> Imported:
        study = self._study("files of the RUBRIC workbench")
        imported = import_graded(
            file=opened,
            study=study,
            rater=None if self.has_people else self.rater_of(file),
            relevant_from=self.options.relevant_from,
            grades=self.scale.grades,
            with_topics=self.options.with_topics,
            at=self.at,
        )
        return with_study_named(imported, study, self.options.study)

    def _qrels(self, opened: InputFile, file: KnownFile) -> Imported:
        study, options = self._study("TREC qrels"), self.options
        criterion = relevance_criterion_of(study, grades=self.scale.grades, relevant_from=options.relevant_from)
        if options.stray_grades == "widen":
            widen_scale(criterion, self.scale.grades)
        imported = import_qrels(
            file=opened,
            criterion=criterion,
            stray=self.scale.stray.get(file.name, ()),
            rater=self.rater_of(file).stored(self.collection, source=file.name),
            without_texts=options.without_texts,
            with_topics=options.with_topics,
            at=self.at,
        )
        return with_study_named(imported, study, options.study)

    def _study(self, source: str) -> Study:
        return study_for(self.collection, self.options, suffix=self.suffix, source=source)


def import_assignments(
    *,
    file: InputFile,
    collection: Collection,
    whose: QrelsRater,
    options: FilesOptions,
    at: datetime,
    bank: str = "",
) -> Imported:
    """Bring in which nuggets answers support, as judgments of this rater. Raises BrokenFile and ValidationError."""
    study = study_for(collection, options, suffix="nuggets", source="assignments of nuggets")
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
    return with_study_named(imported, study, options.study)


def study_for(collection: Collection, options: FilesOptions, *, suffix: str, source: str) -> Study:
    """Return the study that was chosen; without one the collection's closed one for such judgments, made if new.

    Raises ValidationError where who imports assesses in it.
    """
    if options.study:
        return options.study
    study = closed_study(_name_of(collection, suffix), collection, owner=collection.owner, source=source)
    refuse_who_assesses(study, options.by)
    return study


def stored_study(collection: Collection, *, suffix: str) -> Study | None:
    """Return the collection's closed study for such judgments, if it is there."""
    return collection.studies.filter(name=_name_of(collection, suffix)).first()


def _name_of(collection: Collection, suffix: str) -> str:
    return f"{collection.name[: 100 - len(suffix) - 1]}-{suffix}"


def with_study_named(imported: Imported, study: Study, chosen: Study | None) -> Imported:
    """Note the study that the judgments go into, and say so where none was chosen for them."""
    imported.studies.append(study.name)
    if chosen is None:
        imported.remarks.append(f"The judgments go into the closed study “{study.name}”.")
    return imported
