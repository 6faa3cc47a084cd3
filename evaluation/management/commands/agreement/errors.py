from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandParser

from collection.web.report_commands import command_of
from evaluation.agreement.errors.items import exported_errors
from evaluation.agreement.errors.report import Errors
from evaluation.agreement.reports import ErrorsReport


class Command(command_of(ErrorsReport)):  # type: ignore[misc]  # a class that is made
    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--items", action="store_true", help="print the errors as JSON lines instead, with texts")
        super().add_arguments(parser)

    def handle(self, **options: Any) -> None:
        if not options["items"]:
            super().handle(**options)
            return
        found: Errors = self.result(options)
        for one in exported_errors(found, found.rows_of().tolist()):
            self.stdout.write(json.dumps(one, ensure_ascii=False))
