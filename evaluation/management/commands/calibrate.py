"""manage.py calibrate: a judge's scores corrected by people's labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from evaluation.calibration import Corrected, correct
from evaluation.label_tables import labels_of_tables
from evaluation.management.base import EvaluationCommand
from evaluation.management.commands.compare import finite
from evaluation.pairing import NotComparable
from evaluation.printing import estimate_text
from evaluation.ratings import LevelDoesNotFit
from evaluation.recalibration import CurvePoint, recalibration_curve
from evaluation.services.calibration import calibrate, method_scores, point_as_dict
from evaluation.services.populations import JudgeNotFound
from evaluation.services.studies import CriterionNotFound, find_criterion
from evaluation.tables import TableBroken


class Command(EvaluationCommand):
    help = "Correct a judge's share of yes by people's labels, overall and by system."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("human_table", nargs="?", help="CSV or JSONL: item, rater, grade")
        parser.add_argument("judge_table", nargs="?", help="the judge's, of these items and more")
        parser.add_argument("--study", metavar="NAME", help="calibrate a judge of this study instead")
        parser.add_argument("--criterion", metavar="C", help="which criterion, where there are several")
        parser.add_argument("--judge", metavar="JUDGE", help="which judge, where there are several")
        parser.add_argument("--threshold", type=finite, metavar="η", help="tables: a grade ≥ η is a yes")
        parser.add_argument("--human-threshold", type=finite, metavar="η", help="the same for people, if another")
        parser.add_argument("--label-shift", action="store_true", help="declare label shift, for Rogan–Gladen")
        parser.add_argument(
            "--random-sample",
            action="store_true",
            help="declare that the labelled items are a simple random sample, where no draw is stored",
        )
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, **options: Any) -> None:
        check_source(options)
        try:
            answer, text = (_of_study if options["study"] else _of_tables)(options)
        except (TableBroken, LevelDoesNotFit, NotComparable, CriterionNotFound, JudgeNotFound) as error:
            raise CommandError(str(error)) from error
        for warning in answer.get("warnings", ()):
            self.note(f"{warning}.")
        if options["json"]:
            self.print_json(answer)
        else:
            self.stdout.write(text)


def check_source(options: dict[str, Any]) -> None:
    """Raise CommandError unless a study or two tables are named, with what each needs."""
    if bool(options["study"]) == bool(options["human_table"] and options["judge_table"]):
        raise CommandError("Name either a HUMAN_TABLE and a JUDGE_TABLE, or a --study.")
    of_tables = [options["threshold"], options["human_threshold"]]
    if options["study"] and any(threshold is not None for threshold in of_tables):
        raise CommandError("A study's criteria have their thresholds; --threshold is for tables.")
    if not options["study"] and options["threshold"] is None:
        raise CommandError("Say with --threshold from which grade on an item is positive.")


def _of_study(options: dict[str, Any]) -> tuple[dict[str, Any], str]:
    figures = calibrate(
        find_criterion(options["study"], options["criterion"]),
        judge=options["judge"],
        label_shift=options["label_shift"],
        declared_random=options["random_sample"],
    )
    lines = [figures.choice.key, figures.how_known, *_lines("all items", figures.overall)]
    for one in figures.systems:
        lines += ["", *_lines(f"{one.name} (circular)" if one.circular else one.name, one.corrected)]
    return figures.as_dict(), "\n".join([*lines, *_curve_lines(figures.curve)])


def _of_tables(options: dict[str, Any]) -> tuple[dict[str, Any], str]:
    labels, n_people_only = labels_of_tables(
        Path(options["human_table"]),
        Path(options["judge_table"]),
        at=options["threshold"],
        people_at=options["human_threshold"],
        criterion=options["criterion"],
        judge=options["judge"],
        declared_random=options["random_sample"],
    )
    overall = correct(labels, label_shift=options["label_shift"])
    curve = recalibration_curve(labels)
    answer = {
        "overall": overall.as_dict(),
        "n_topics": labels.n_topics,
        "n_people_only": n_people_only,
        "warnings": list(dict.fromkeys(warning for score in overall.scores.values() for warning in score.warnings)),
        "recalibration": [point_as_dict(point) for point in curve],
    }
    return answer, "\n".join([*_lines("all items", overall), *_curve_lines(curve)])


def _lines(name: str, corrected: Corrected) -> list[str]:
    head = f"{name}: {corrected.n_items:,} items, {corrected.n_labelled:,} labelled, {corrected.n_ungraded:,} ungraded"
    return [head, *(f"  {one.label:<22}{_score_text(one.score)}" for one in method_scores(corrected))]


def _score_text(score: Any) -> str:
    text = estimate_text(score.estimate)
    return text if score.effective_labels is None else f"{text}  worth {score.effective_labels:.0f} labels"


def _curve_lines(curve: Any) -> list[str]:
    def line(point: CurvePoint) -> str:
        grade = "ungraded" if point.grade is None else f"{point.grade:g}"
        return f"  {grade:<10}{point.n_labelled:>6,} of {point.n_items:>6,}  {estimate_text(point.people)}"

    return ["", "people's share of yes where the judge gives a grade (labelled of items)", *map(line, curve)]
