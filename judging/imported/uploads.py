"""Uploads of grades and of batch services' replies: looked at and imported as every other upload is."""

from __future__ import annotations

from dataclasses import asdict
from datetime import date, datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.urls import reverse

from collection.formats.problems import InputFile
from collection.importing.archives import Advance
from collection.importing.formats import KINDS, Kind, study_of_upload
from collection.importing.outcomes import ImportOutcome
from collection.models import Study, Upload
from judging.grading.batch_files import NoBatch, read_replies
from judging.imported.formats import FORMATS
from judging.imported.importer import GivenGrades, GradesRead, Wanted, import_grades
from judging.imported.provenance import Origin
from judging.models import GradingJob

GRADES, REPLIES = "grades", "batch-replies"


def grades_chosen(study: Study, wanted: Wanted) -> dict[str, Any]:
    """Return what goes into the Upload of a file of grades."""
    said = asdict(wanted)
    if graded_on := wanted.origin.graded_on:
        said["origin"]["graded_on"] = graded_on.isoformat()
    return {"file_format": GRADES, "study": study.name, "rater": wanted.judge, "said": said}


def replies_chosen(job: GradingJob) -> dict[str, Any]:
    """Return what goes into the Upload of a batch service's output."""
    return {"file_format": REPLIES, "study": job.criterion.study.name, "said": {"job": job.pk}}


def wanted_of(upload: Upload) -> Wanted:
    """Return what was said of a file of grades."""
    said = dict(upload.said)
    origin = dict(said.pop("origin"))
    graded_on = origin.pop("graded_on")
    return Wanted(
        **said | {"no_grade": tuple(said["no_grade"])},
        origin=Origin(**origin, graded_on=date.fromisoformat(graded_on) if graded_on else None),
    )


def _import_grades(*, upload: Upload, at: datetime, advance: Advance | None) -> ImportOutcome:
    wanted = wanted_of(upload)
    file = InputFile(upload.path, name=upload.name, advance=advance)
    return outcome_of_grades(import_grades(file=file, study=study_of_upload(upload), wanted=wanted, at=at))


def outcome_of_grades(read: GradesRead) -> ImportOutcome:
    """Return what a file of grades brought, as a row keeps it."""
    outcome = ImportOutcome.of(read.imported)
    details = {
        "told": read.told,
        "taken": read.taken,
        "new": read.new,
        "known": read.known,
        "new_items": read.new_items,
        "masked": read.masked,
        "left_out": read.outside.total,
        "outside": read.outside.rows(),
        "given": [_given(each) for each in read.given],
        "judge": read.given[0].rater.pk,
    }
    return ImportOutcome(outcome.counts, outcome.remarks, outcome.flaws, details=details)


def _given(given: GivenGrades) -> dict[str, Any]:
    return {
        "judge": given.rater.name,
        "criterion": given.criterion.name,
        "by_grade": [(point["value"], point["name"], count) for point, count in given.by_grade()],
        "by_kind": given.by_kind(),
        "missing": given.missing_grades.missing if given.missing_grades else 0,
    }


def _import_replies(*, upload: Upload, at: datetime, advance: Advance | None) -> ImportOutcome:
    job = GradingJob.objects.filter(pk=upload.said["job"], criterion__study__name=upload.study).first()
    if job is None:
        raise ValidationError("This job no longer exists.")
    try:
        said = read_replies(job=job, file=InputFile(upload.path, name=upload.name, advance=advance), at=at)
    except NoBatch as refusal:
        raise ValidationError(str(refusal)) from refusal
    return ImportOutcome([("replies", said.new, said.known)], [str(said)])


def _judge_page(upload: Upload, outcome: ImportOutcome) -> str:
    return reverse("judging:imported_judge", args=[upload.study, outcome.details["judge"]])


def register() -> None:
    """Let the import page's previews and workers take these uploads."""
    KINDS[GRADES] = Kind(
        label=lambda upload: f"{FORMATS[upload.said['file_format']].label}, as the grades of {upload.rater}",
        bring=_import_grades,
        details="judging/imported_grades_details.html",
        chosen_at=lambda upload: reverse("judging:imported_grades", args=[upload.study]),
        leads_to=_judge_page,
    )
    KINDS[REPLIES] = Kind(
        label=lambda upload: f"Replies of job {upload.said['job']}",
        bring=_import_replies,
        details="",
        chosen_at=lambda upload: reverse("judging:job", args=[upload.study, upload.said["job"]]),
        leads_to=lambda upload, _: reverse("judging:job", args=[upload.study, upload.said["job"]]),
    )
