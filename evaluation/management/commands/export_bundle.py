"""manage.py export_bundle: a study's audit bundle, from which its figures can be made again."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils.timezone import now

from collection.models import Study
from evaluation.management.base import EvaluationCommand
from evaluation.publishing.audit_bundle import write_bundle
from stats.audit_bundle import sha256


class Command(EvaluationCommand):
    help = "Write a study's audit bundle: judgments, items by hash, scales, guidelines, draws, figures, all hashed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, metavar="NAME")
        parser.add_argument("--output", required=True, type=Path, metavar="FILE.zip")
        parser.add_argument("--names", action="store_true", help="use assessors' names instead of numbers")
        parser.add_argument("--with-simulated", action="store_true", help="include simulated assessors in the qrels")

    def handle(self, **options: Any) -> None:
        study = Study.objects.select_related("collection").filter(name=options["study"]).first()
        if study is None:
            names = ", ".join(Study.objects.order_by("name").values_list("name", flat=True)[:20]) or "none yet"
            raise CommandError(f"There is no study “{options['study']}”. Studies: {names}.")
        path: Path = options["output"]
        bundle = io.BytesIO()
        try:
            write_bundle(study, bundle, names=options["names"], with_simulated=options["with_simulated"], at=now())
            path.write_bytes(bundle.getvalue())
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}") from error
        self.stdout.write(f"{sha256(bundle.getvalue())}  {path}")
        self.note("Publish the hash above with the file, so that others can check that the bundle is yours.")
