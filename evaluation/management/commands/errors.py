"""manage.py errors: where a judge or an assessor errs beside people or another rater."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandParser

from collection.judgments.judged_criteria import find_criterion
from collection.web.commands import EvaluationCommand, add_study
from collection.web.options import add_options, choose
from evaluation.agreement.errors.items import exported_errors
from evaluation.agreement.errors.report import Errors, measure_errors
from evaluation.agreement.errors.serializers import ErrorsChoice
from evaluation.formats.text import estimate_text
from stats.plurals import counted


class Command(EvaluationCommand):
    help = "Where a rater errs: confusion matrix, errors by topic, length and grade; or the errors with their texts."

    def add_arguments(self, parser: CommandParser) -> None:
        add_study(parser)
        add_options(parser, ErrorsChoice)
        parser.add_argument("--test", action="store_true", help="the test topics, of judges that were unlocked there")
        parser.add_argument("--json", action="store_true", help="print the figures as JSON")
        parser.add_argument("--items", action="store_true", help="print the errors as JSON lines instead, with texts")

    def handle(self, **options: Any) -> None:
        criterion = find_criterion(options["study"], options["criterion"])
        chosen = choose(ErrorsChoice, options) | {"part": "test" if options["test"] else "development"}
        found = measure_errors(criterion, **chosen)
        if options["items"]:
            for one in exported_errors(found, found.rows_of().tolist()):
                self.stdout.write(json.dumps(one, ensure_ascii=False))
        elif options["json"]:
            self.print_json(found.as_dict())
        else:
            self.stdout.write("\n".join(_lines(found)))


def _lines(found: Errors) -> list[str]:
    width = max(map(len, (*found.expected_labels, *found.given_labels))) + 2
    head = "".join(f"{label:>{width}}" for label in found.given_labels)
    words = f" ({found.sight.words})" if found.sight.words else ""
    lines = [found.answer, "", f"expected: {found.reference}{words}; columns: {found.name}", f"{'':{width}}{head}"]
    lines += [f"{row:{width}}" + "".join(f"{cell.n:>{width},}" for cell in cells) for row, cells in found.matrix]
    for kind, groups in found.groups.items():
        lines += ["", f"errors by {kind}"]
        lines += [
            f"  {one.name}: {one.n_wrong:,} of {counted(one.n_items, 'items')}, {estimate_text(one.wrong)}"
            for one in groups
        ]
    return lines
