from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from judging.models import Judge


class Command(BaseCommand):
    help = "List the judges, with what each is made of."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON object a line")

    def handle(self, *args: Any, **options: Any) -> None:
        for judge in Judge.objects.select_related("rater", "template", "scale"):
            if options["json"]:
                self.stdout.write(json.dumps(as_dict(judge), ensure_ascii=False))
                continue
            made_of = ", ".join(filter(None, (judge.get_engine_display(), judge.model, str(judge.template or ""))))
            weak = " (weak: a baseline)" if judge.weak else ""
            self.stdout.write(f"{judge.name}  {judge.criterion_name}, {judge.scale}: {made_of}{weak}")


def as_dict(judge: Judge) -> dict[str, Any]:
    return {
        "name": judge.name,
        "engine": judge.engine,
        "model": judge.model,
        "template": str(judge.template) if judge.template else None,
        "task_type": judge.task_type,
        "criterion": judge.criterion_name,
        "scale": judge.scale.name,
        "decoding": judge.decoding,
        "weak": judge.weak,
        "content_hash": judge.content_hash,
    }
