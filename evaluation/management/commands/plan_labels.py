"""manage.py plan_labels: how many more labels a study, or two tables, need."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from evaluation.calibration.planning import HalfWidthPlan, SeparationPlan, plan_difference, plan_interval, plan_labels
from evaluation.data.judgments import find_criterion
from evaluation.data.population import SystemNotFound, population_of
from evaluation.management.base import EvaluationCommand
from evaluation.management.commands.compare import finite
from evaluation.management.labelled import REFUSALS, add_source, check_source, labels_of
from stats.calibration.pilots import NoPlan
from stats.plurals import counted


class Command(EvaluationCommand):
    help = "Plan how many more labels are needed for an interval, or to detect a difference of two systems."

    def add_arguments(self, parser: CommandParser) -> None:
        add_source(parser)
        parser.add_argument("--half-width", type=finite, metavar="H", help="an interval of ± H around the score")
        parser.add_argument("--system", default="", metavar="RUN", help="around the score of this system of the study")
        parser.add_argument("--separate", nargs=2, metavar="RUN", help="detect a difference between these two systems")
        parser.add_argument(
            "--difference", type=finite, metavar="D", help="of size D (default: the difference according to the judge)"
        )

    def handle(self, **options: Any) -> None:
        check_source(options)
        if (options["half_width"] is None) == (options["separate"] is None):
            raise CommandError("Give either --half-width H or --separate RUN RUN.")
        try:
            answer, text = (_of_study if options["study"] else _of_tables)(options)
        except (*REFUSALS, SystemNotFound, NoPlan) as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.print_json(answer)
        else:
            self.stdout.write(text)


def _of_study(options: dict[str, Any]) -> tuple[dict[str, Any], str]:
    criterion = find_criterion(options["study"], options["criterion"])
    population = population_of(criterion, options["judge"], declared_random=options["random_sample"])
    found: HalfWidthPlan | SeparationPlan
    if options["separate"]:
        found = plan_difference(population, *options["separate"], difference=options["difference"])
    else:
        found = plan_interval(population, options["half_width"], system=options["system"])
    sight = population.sight
    return {**found.as_dict(), **sight.as_dict()}, "\n".join([*filter(None, [sight.words]), *_lines(found)])


def _of_tables(options: dict[str, Any]) -> tuple[dict[str, Any], str]:
    if options["separate"]:
        raise CommandError("Tables have no systems; --separate is only for a study.")
    labels, _ = labels_of(options)
    found = plan_labels(labels, options["half_width"])
    return found.as_dict(), "\n".join(_lines(found))


def _lines(found: HalfWidthPlan | SeparationPlan) -> list[str]:
    designs = [
        f"  {one.topics:>9,} topics with {counted(one.labels_a_topic, 'labels')} each: {counted(one.labels, 'labels')}"
        for one in found.plan.designs
    ]
    fewer = ["Or, with fewer labels in each topic:", *designs] if designs else []
    return [line for line in (found.answer, found.topics_answer, *fewer) if line]
