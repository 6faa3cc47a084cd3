"""What the commands of this app share: JSON alone on standard output, status 1 for every error."""

from __future__ import annotations

import json
import sys
from typing import Any

from django.core.management.base import BaseCommand


class EvaluationCommand(BaseCommand):
    def run_from_argv(self, argv: list[str]) -> None:
        """Run; a wrong option ends with status 1 like every other error, not with argparse's 2."""
        try:
            super().run_from_argv(argv)
        except SystemExit as end:
            sys.exit(1 if end.code == 2 else end.code)

    def print_json(self, answer: dict[str, Any]) -> None:
        self.stdout.write(json.dumps(answer, ensure_ascii=False, indent=2, allow_nan=False))

    def note(self, text: str) -> None:
        """Say something beside the answer."""
        self.stderr.write(text)
