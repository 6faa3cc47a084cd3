"""What the commands that start jobs share."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction
from django.utils.timezone import now

from collection.models import Criterion, Study
from judging.data.selection import DEFAULT_SEED, NoSuchPart, Selection
from judging.grading.jobs import AlreadyUnderWay, JobLimits, JudgeDoesNotFit, NothingToGrade, start_jobs
from judging.judges.report_rating import REPORT_RATING, add_report_rating
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
        "--judge", required=required, action="append", metavar="NAME", help="see manage.py judges; may be repeated"
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
    parser.add_argument("--most-tokens", type=int, metavar="N", help="pause when this many tokens have been used")
    parser.add_argument("--most-cost", type=float, metavar="C", help="pause when it has cost this much")


def chosen(options: dict[str, Any]) -> tuple[Criterion, list[Judge]]:
    """Return what the options name. Raises CommandError."""
    study = Study.objects.filter(name=options["study"]).first()
    if study is None:
        raise CommandError(f"There is no study “{options['study']}”.")
    judges = []
    for name in options["judge"] or []:
        judge = Judge.objects.filter(name=name).first()
        if judge is None:
            raise CommandError(f"There is no judge “{name}”. manage.py judges lists them.")
        judges.append(judge)
    if not judges:
        raise CommandError("Name a judge.")
    return criterion_named(study, options["criterion"]), judges


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
    terms = JobLimits(options["price_in"], options["price_out"], options["most_tokens"], options["most_cost"])
    try:
        selection = selection_of(options)
        return start_jobs(
            criterion=criterion, judges=judges, selection=selection, terms=terms, away=away, by=None, at=now()
        )
    except (NothingToGrade, AlreadyUnderWay, JudgeDoesNotFit, NoSuchPart) as error:
        raise CommandError(str(error)) from error


def criterion_named(study: Study, name: str) -> Criterion:
    """Return the study's criterion of this name. Raises CommandError, naming those there are."""
    criterion = study.criteria.filter(name=name).first()
    if criterion is None and name == REPORT_RATING:
        return add_report_rating(study)
    if criterion is None:
        names = ", ".join(study.criteria.values_list("name", flat=True))
        raise CommandError(f"The study “{study}” has no criterion “{name}”. Use one of: {names}.")
    return criterion
