"""What workers compute for files to publish, each of a study and of what was chosen."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from django.utils.timezone import now

from collection.models import Rater, Study
from collection.web.pages import criteria_queryset
from evaluation.data.judgments import load_criterion, marked_raters_of
from evaluation.publishing.audit_bundle import write_bundle
from evaluation.publishing.filled_qrels import FilledQrels
from evaluation.publishing.hole_filling import fill_qrels, filled_files
from evaluation.publishing.hole_filling import filling_judges as judges_that_fill
from evaluation.publishing.qrels import Qrels, compile_each, compile_qrels
from stats.completeness import Completeness
from stats.qrels import Rule


def raters(study: Study, *, criterion: int) -> list[tuple[str, Rater, Completeness]]:
    return marked_raters_of(criteria_queryset(study).get(pk=criterion))


def filling_judges(study: Study, *, criterion: int) -> list[tuple[str, str]]:
    """Return what the judges are called that may fill holes, each with its name as a list to choose from has it."""
    found = judges_that_fill(load_criterion(criteria_queryset(study).get(pk=criterion)))
    return [(one.name, one.choice.completeness.after(one.name)) for one in found]


def qrels(study: Study, *, criterion: int, rule: dict[str, Any], **asked: Any) -> Qrels:
    return compile_qrels(criteria_queryset(study).get(pk=criterion), rule=Rule(**rule), at=now(), **asked)


def qrels_of_each(study: Study, *, criterion: int, rule: dict[str, Any], **asked: Any) -> bytes:
    asked = {name: value for name, value in asked.items() if name not in ("holes_at", "hashed")}
    return compile_each(criteria_queryset(study).get(pk=criterion), rule=Rule(**rule), at=now(), **asked)


def filled_qrels(study: Study, *, criterion: int, rule: dict[str, Any], **asked: Any) -> FilledQrels:
    return fill_qrels(criteria_queryset(study).get(pk=criterion), rule=Rule(**rule), at=now(), **asked)


def filled_qrels_files(study: Study, *, criterion: int, names: bool, **asked: Any) -> bytes:
    """Return a zip of the filled qrels with all that belongs beside them."""
    found = filled_qrels(study, criterion=criterion, names=names, **asked)
    return filled_files(found, criteria_queryset(study).get(pk=criterion), names=names)


def bundle(study: Study, **asked: Any) -> bytes:
    file = BytesIO()
    write_bundle(study, file, at=now(), **asked)
    return file.getvalue()
