from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from collection.judgments.judged_criteria import find_criterion
from collection.web.commands import FiguresCommand
from collection.web.options import add_options, choose
from evaluation.calibration.planning import HalfWidthPlan, SeparationPlan, plan_labels
from evaluation.calibration.serializers import PlanChoice
from evaluation.data.population import population_of
from evaluation.leaderboards.corrected.plans import MeasurePlan, plan
from evaluation.management.labelled import add_source, check_source, labels_of
from stats.plurals import counted


class Command(FiguresCommand):
    help = "Plan how many more labels are needed for an interval, or to detect a difference of two systems."

    def add_arguments(self, parser: CommandParser) -> None:
        add_source(parser)
        add_options(parser, PlanChoice)
        super().add_arguments(parser)

    def answer(self, options: dict[str, Any]) -> tuple[dict[str, Any], str]:
        check_source(options)
        chosen = choose(PlanChoice, options)
        return (_of_study if options["study"] else _of_tables)(options, chosen)


def _of_study(options: dict[str, Any], chosen: dict[str, Any]) -> tuple[dict[str, Any], str]:
    criterion = find_criterion(options["study"], options["criterion"])
    population = population_of(criterion, chosen.pop("judge"))
    found = plan(population, **chosen)
    visibility = population.visibility
    return {**found.as_dict(), **visibility.as_dict()}, "\n".join([*filter(None, [visibility.words]), *_lines(found)])


def _of_tables(options: dict[str, Any], chosen: dict[str, Any]) -> tuple[dict[str, Any], str]:
    if "separate" in chosen or chosen["measure"]:
        raise CommandError("Tables have no systems; --separate and --measure are only for a study.")
    labels, _ = labels_of(options)
    found = plan_labels(labels, chosen["half_width"])
    return found.as_dict(), "\n".join(_lines(found))


def _lines(found: HalfWidthPlan | SeparationPlan | MeasurePlan) -> list[str]:
    designs = [
        f"  {one.topics:>9,} topics with {counted(one.labels_a_topic, 'labels')} each: {counted(one.labels, 'labels')}"
        for one in found.plan.designs
    ]
    fewer = ["Or, with fewer labels in each topic:", *designs] if designs else []
    return [line for line in (found.answer, found.topics_answer, *fewer) if line]
