"""A study's labels as the tools of papers write them: CRUX's labelling platform, RUBRIC's workbench."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from django.db.models import QuerySet

from collection.exporting.crux import exported_qlabels, exported_qrels
from collection.exporting.graded_files import can_be_graded_file, exported_graded, remarks_on_graded
from collection.exporting.grids import exported_grid
from collection.judgments.rater_names import names_in_files
from collection.models import Criterion, Judgment, Rater, Study
from collection.models.studies import TaskType


class LabelsRefused(ValueError):
    """The file cannot be made of these labels; the message says why and how to mend it."""


@dataclass(frozen=True)
class LabelForm:
    """A file of one rater's labels under one criterion of a task type."""

    label: str
    task_type: str
    unit: str
    lines: Callable[[Criterion, Rater], Iterator[str]]


GRADED, GRID = "graded", "grid"
OF_ONE = {
    "qlabels": LabelForm("CRUX’s qlabels (reports, T1)", TaskType.ANSWERABILITY, "reports", exported_qlabels),
    "qrels": LabelForm("CRUX’s qrels (passages, T2)", TaskType.RATING, "passages", exported_qrels),
    GRID: LabelForm("Grid of passages and questions (CSV)", TaskType.RATING, "passages", exported_grid),
}
FORMS = {**{name: form.label for name, form in OF_ONE.items()}, GRADED: "RUBRIC’s graded file"}


@dataclass(frozen=True)
class LabelFile:
    """A file that the study has labels for. `raters` are whose file it may be, empty where it holds all judges'."""

    form: str
    label: str
    raters: list[str]
    remarks: list[str]


def exported_labels(study: Study, form: str, *, rater: str = "", criterion: str = "") -> Iterator[str]:
    """Return the lines of the file. Raises LabelsRefused.

    RUBRIC's graded file holds all judges, and people's relevance; CRUX's files are of one rater. That is named as in
    all files, or by its own name; where one alone has labels of this kind, it need not be. The criterion is the first
    of the form's task type that the rater judged by, unless it is named.
    """
    if form == GRADED:
        if rater or criterion:
            raise LabelsRefused("A graded file holds all judges: leave rater and criterion out.")
        if not can_be_graded_file(study):
            raise LabelsRefused("No judge has graded passages in this study, and nobody has judged their relevance.")
        return exported_graded(study)
    chosen = OF_ONE[form]
    found = label_raters(study, form, criterion=criterion)
    if not found:
        of = f" under “{criterion}”" if criterion else ""
        raise LabelsRefused(f"Nobody has labelled {chosen.unit} sub-question by sub-question{of}.")
    called = {name: one for name, one in found.items() if rater in (name, one.name, "")}
    if len(called) != 1:
        wrong = f"There are no such labels by “{rater}”." if rater and not called else "The file is of one rater."
        raise LabelsRefused(f"{wrong} Choose one of {', '.join(found)}.")
    (one,) = called.values()
    judged = _criteria(study, form, criterion).filter(judgments__rater=one).distinct()
    return chosen.lines(judged.order_by("position", "pk")[0], one)


def label_files(study: Study) -> list[LabelFile]:
    """Return the files that the study has labels for, with what their readers must know."""
    raters = {form: list(label_raters(study, form)) for form in OF_ONE}
    files = [LabelFile(form, FORMS[form], names, []) for form, names in raters.items() if names]
    if can_be_graded_file(study):
        files.append(LabelFile(GRADED, FORMS[GRADED], [], remarks_on_graded(study)))
    return files


def label_raters(study: Study, form: str, *, criterion: str = "") -> dict[str, Rater]:
    """Return who has labels that the form holds, by their names in files; nobody who is excluded."""
    judged = Judgment.objects.filter(criterion__in=_criteria(study, form, criterion)).without_the_excluded()
    raters = Rater.objects.filter(pk__in=judged.values("rater")).order_by("pk")
    called = names_in_files(study)
    return {called[rater.pk]: rater for rater in raters}


def _criteria(study: Study, form: str, criterion: str) -> QuerySet[Criterion]:
    criteria = study.criteria.filter(task_type=OF_ONE[form].task_type)
    return criteria.filter(name=criterion) if criterion else criteria


def labels_file(study: Study, form: str) -> str:
    """Return what the file is called."""
    return f"{study.name}-{form}.{'csv' if form == GRID else 'jsonl'}"
