"""What the commands about judges and their jobs share."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction
from django.utils.timezone import now

from collection.importing.commands import mended_by_the_reader, the_criterion, the_study
from collection.models import Criterion
from judging.data.selection import DEFAULT_SEED, NoSuchPart, Selection
from judging.grading.jobs import AlreadyUnderWay, JobLimits, JudgeDoesNotFit, NothingToGrade, start_jobs
from judging.jobs.available_judges import criterion_named
from judging.judges.report_rating import REPORT_RATING
from judging.models import GradingJob, Judge


def add_selection(parser: CommandParser, *, required: bool = False) -> None:
    """Add the arguments that say what is graded by whom, and for how much."""
    parser.add_argument("--study", required=required, metavar="NAME")
    parser.add_argument(
        "--criterion",
        required=required,
        metavar="C",
        help=f"one of the study's; “{REPORT_RATING}” is created if missing",
    )
    parser.add_argument(
        "--judge", required=required, action="append", metavar="NAME", help="see manage.py judge list; may be repeated"
    )
    parser.add_argument("--topic", action="append", default=[], metavar="ID", help="only this topic; may be repeated")
    parser.add_argument(
        "--run",
        action="append",
        default=[],
        metavar="NAME",
        help="only what this run answered or ranked; may be repeated",
    )
    parser.add_argument(
        "--without-grade-by", action="append", default=[], metavar="NAME",
        help="only what this judge did not grade (ungraded or missing); repeated: what none of these judges graded",
    )  # fmt: skip
    parser.add_argument("--graded-by-no-judge", action="store_true", help="only what no judge graded")
    parser.add_argument("--sample", type=int, metavar="N", help="only this many items, drawn at random")
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED, metavar="N", help="sampling seed (%(default)s)")
    parser.add_argument("--price-in", type=float, metavar="P", help="price of a million prompt tokens")
    parser.add_argument("--price-out", type=float, metavar="P", help="price of a million reply tokens")
    add_limits(parser)


def add_limits(parser: CommandParser) -> None:
    """Add the arguments that say at what a job pauses."""
    parser.add_argument("--most-calls", type=int, metavar="N", help="pause when this many calls have a reply")
    parser.add_argument("--most-tokens", type=int, metavar="N", help="pause when this many tokens have been used")
    parser.add_argument("--most-cost", type=float, metavar="C", help="pause when it has cost this much")
    parser.add_argument("--most-minutes", type=float, metavar="M", help="pause so long after the start")


def limits_in(options: dict[str, Any]) -> dict[str, Any]:
    """Return the limits by their names; those that are not given are None."""
    names = {"call_limit": "calls", "token_limit": "tokens", "cost_limit": "cost", "minutes_limit": "minutes"}
    return {limit: options[f"most_{what}"] for limit, what in names.items()}


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
    """Start a job for each judge, or none. Raises CommandError."""
    criterion, judges = chosen(options)
    terms = JobLimits(options["price_in"], options["price_out"], **limits_in(options))
    with mended_by_the_reader(NothingToGrade, AlreadyUnderWay, JudgeDoesNotFit, NoSuchPart):
        selection = selection_of(options)
        return start_jobs(
            criterion=criterion, judges=judges, selection=selection, terms=terms, away=away, by=None, at=now()
        )
