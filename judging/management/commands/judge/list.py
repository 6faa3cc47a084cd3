from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from collection.completeness import judges_of_studies
from collection.models import Study
from collection.web.commands import SiteCommand, add
from judging.models import Judge
from stats.completeness import complete_first


class Command(SiteCommand):
    help = "List the judges with their configuration."

    def add_arguments(self, parser: CommandParser) -> None:
        add(parser, "--json", help="print a JSON object per line")

    def handle(self, **options: Any) -> None:
        found = judges_of_studies(Study.objects.all())
        judges = Judge.objects.select_related("rater", "template", "scale")
        for judge in complete_first(judges, of=lambda judge: found.worst_of(judge.rater_id)):
            completeness = found.worst_of(judge.rater_id)
            made_of = ", ".join(filter(None, (judge.get_engine_display(), judge.model, str(judge.template or ""))))
            weak = " (weak: a baseline)" if judge.weak else ""
            mark = f" ({completeness.mark}: {completeness.why})" if completeness.mark else ""
            text = f"{judge.name}  {judge.criterion_name}, {judge.scale}: {made_of}{weak}{mark}"
            self.say(text, **as_dict(judge) | completeness.as_dict())


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
        "other_names": judge.other_names,
        "not_sent": judge.not_sent,
        "weak": judge.weak,
        "content_hash": judge.content_hash,
    }
