from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils.timezone import now

from collection.judgments.judged_criteria import find_criterion
from collection.splits import AskedPart
from collection.web.commands import FiguresCommand, add
from collection.web.options import add_options
from evaluation.calibration.report import calibrate, curve_table, outlook, overall_table, point_as_dict
from evaluation.calibration.serializers import CalibrationChoice
from evaluation.data.judgments import load_criterion
from evaluation.data.population import find_judge, judge_choices
from evaluation.data.visibility import read_test_part
from evaluation.management.labelled import add_source, check_source, labels_of
from stats.calibration.estimators import Corrected, correct
from stats.calibration.planning import least_half_width
from stats.calibration.recalibration import recalibration_curve
from stats.plurals import counted, times


class Command(FiguresCommand):
    help = "Correct a judge's share of yes by human labels, overall and by system."

    def add_arguments(self, parser: CommandParser) -> None:
        add_source(parser)
        add_options(parser, CalibrationChoice)
        add(parser, "--test")
        super().add_arguments(parser)

    def answer(self, options: dict[str, Any]) -> tuple[dict[str, Any], str]:
        check_source(options)
        answer, text = (_of_study if options["study"] else _of_tables)(options)
        for warning in answer.get("warnings", ()):
            self.note(f"{warning}.")
        return answer, text


def _of_study(options: dict[str, Any]) -> tuple[dict[str, Any], str]:
    criterion = find_criterion(options["study"], options["criterion"])
    part: AskedPart = "test" if options["test"] else "development"
    if part == "test":
        judge = find_judge(judge_choices(load_criterion(criterion)), options["judge"]).rater
        read_test_part(criterion.study, judge, by=None, at=now())
    figures = calibrate(criterion, judge=options["judge"], label_shift=options["label_shift"], part=part)
    visibility = figures.population.visibility
    readings = times(visibility.readings_of(figures.choice.rater))
    of_part = [f"{visibility.words}; test topics unlocked {readings}"] if visibility.words else []
    name = figures.choice.completeness.after(figures.choice.key)
    lines = [name, *of_part, figures.how_known, *filter(None, [figures.answer]), _counts(figures.overall)]
    tables = figures.tables()
    texts = [tables[one].text() for one in ("overall", "systems", "recalibration") if tables[one]]
    return figures.as_dict(), "\n\n".join(["\n".join(lines), *texts, *filter(None, [figures.outlook])])


def _of_tables(options: dict[str, Any]) -> tuple[dict[str, Any], str]:
    if options["test"]:
        raise CommandError("Tables have no test topics; --test is only for a study.")
    labels, n_people_only = labels_of(options)
    overall = correct(labels, label_shift=options["label_shift"])
    curve, least = recalibration_curve(labels), least_half_width(labels)
    answer = {
        "overall": overall.as_dict(),
        "n_topics": labels.n_topics,
        "n_people_only": n_people_only,
        "warnings": list(dict.fromkeys(warning for score in overall.scores.values() for warning in score.warnings)),
        "recalibration": [point_as_dict(point) for point in curve],
        "half_width_if_all_labelled": least,
    }
    texts = [_counts(overall), overall_table(overall).text(), curve_table(curve).text()]
    return answer, "\n\n".join([*texts, *filter(None, [outlook(labels, least)])])


def _counts(corrected: Corrected) -> str:
    items = counted(corrected.n_items, "items")
    return f"{items}, {corrected.n_labelled:,} labelled, {corrected.n_ungraded:,} ungraded"
