"""What the commands about judges and their jobs share."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction
from django.utils.timezone import now

from collection.importing.commands import the_criterion, the_study
from collection.models import Criterion
from collection.web.commands import add
from collection.web.options import add_options, choose
from judging.data.selection import DEFAULT_SEED, NoSuchPart, Selection
from judging.grading.jobs import AlreadyUnderWay, JobLimits, JudgeDoesNotFit, NothingToGrade, start_jobs
from judging.jobs.available_judges import criterion_named
from judging.jobs.serializers import LimitsSerializer
from judging.judges.report_rating import REPORT_RATING
from judging.models import GradingJob, Judge

REFUSALS = (NothingToGrade, AlreadyUnderWay, JudgeDoesNotFit, NoSuchPart)


def add_selection(parser: CommandParser, *, required: bool = False) -> None:
    """Add the arguments that say what is graded by whom, and for how much."""
    add(parser, "--study", required=required)
    of_reports = f"one of the study's; “{REPORT_RATING}” is created if missing"
    add(parser, "--criterion", required=required, help=of_reports)
    several: dict[str, Any] = {"action": "append", "default": []}
    add(parser, "--judge", **several | {"required": required}, help="see manage.py judge list; may be repeated")
    add(parser, "--topic", **several, help="only this topic; may be repeated")
    add(parser, "--run", **several, help="only what this run answered or ranked; may be repeated")
    ungraded = "only what this judge did not grade (ungraded or missing); repeated: what none of these judges graded"
    parser.add_argument("--without-grade-by", **several, metavar="NAME", help=ungraded)
    parser.add_argument("--graded-by-no-judge", action="store_true", help="only what no judge graded")
    parser.add_argument("--sample", type=int, metavar="N", help="only this many items, drawn at random")
    add(parser, "--seed", default=DEFAULT_SEED)
    add_options(parser, LimitsSerializer)


def limits_in(options: dict[str, Any]) -> dict[str, Any]:
    """Return the prices and limits that are given, by their names."""
    return choose(LimitsSerializer, options)


def chosen(options: dict[str, Any]) -> tuple[Criterion, list[Judge]]:
    """Return what the options name. Raises CommandError."""
    study = the_study(options["study"] or "")
    judges = [the_judge(name) for name in options["judge"] or []]
    if not judges:
        raise CommandError("Name a judge.")
    try:
        return criterion_named(study, options["criterion"]), judges
    except Criterion.DoesNotExist:
        return the_criterion(study, options["criterion"] or ""), judges


def the_judge(name: str) -> Judge:
    """Return this judge with all that its prompts need. Raises CommandError."""
    judge = Judge.objects.select_related("rater", "template", "scale", "examples_from").filter(name=name).first()
    if judge is None:
        raise CommandError(f"There is no judge “{name}”. manage.py judge list lists them.")
    return judge


def the_job(pk: int) -> GradingJob:
    """Return this job. Raises CommandError."""
    job = GradingJob.objects.filter(pk=pk).first()
    if job is None:
        raise CommandError(f"There is no job {pk}.")
    return job


def selection_of(options: dict[str, Any]) -> Selection:
    return Selection(
        tuple(options["topic"]),
        tuple(options["run"]),
        options["sample"],
        options["seed"],
        without_grade_by=tuple(options["without_grade_by"]),
        graded_by_no_judge=options["graded_by_no_judge"],
    )


@transaction.atomic
def start(options: dict[str, Any], *, away: str = "") -> list[GradingJob]:
    """Start a job for each judge, or none. Raises CommandError and REFUSALS."""
    criterion, judges = chosen(options)
    selection, terms = selection_of(options), JobLimits(**limits_in(options))
    return start_jobs(
        criterion=criterion, judges=judges, selection=selection, terms=terms, away=away, by=None, at=now()
    )
