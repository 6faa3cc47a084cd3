from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction
from django.utils.timezone import now

from annotate.frames.checks import FrameRefused
from annotate.frames.frame import Frame
from annotate.frames.serializers import FrameSerializer
from annotate.studies.edit_forms import EditForm
from annotate.studies.edits import EDITABLE, OverlapLowered, edit_study
from annotate.studies.frames import change_frame
from annotate.studies.lifecycle import WrongState
from annotate.studies.task_counts import forecast_of
from collection.formats.problems import BrokenLine
from collection.formats.values import strict_json
from collection.importing.commands import the_study
from collection.questions.shapes import title_of
from collection.web.commands import SiteCommand, add, cleaned
from stats.plurals import counted


class Command(SiteCommand):
    help = "Change a study: title, language, translation, assessors per item, limit, batches, time-out, frame."
    refusals = (WrongState, OverlapLowered, FrameRefused)

    def add_arguments(self, parser: CommandParser) -> None:
        add(parser, "--study", required=True)
        add(parser, "--json")
        parser.add_argument("--title", help="its title")
        parser.add_argument("--language", metavar="CODE", help="of assessors' pages, as de or he")
        parser.add_argument("--terms", metavar="LINES", help="terms that assessors see highlighted, one a line")
        parser.add_argument("--translatable", choices=["yes", "no"], help="whether browsers may translate the texts")
        parser.add_argument("--overlap", metavar="K", help="assessors per item; once the study has opened only upwards")
        parser.add_argument("--quota", metavar="N", help="the most tasks of one assessor; '' for no limit")
        parser.add_argument("--batch-size", metavar="N", help="tasks per batch; '' releases all")
        parser.add_argument("--timeout-minutes", metavar="M", help="'' for no time-out")
        parser.add_argument(
            "--frame",
            metavar="FILE",
            type=Path,
            help="JSON with the runs, topics and passages that it asks about, as the API has them",
        )

    def handle(self, **options: Any) -> None:
        study = the_study(options["study"])
        given = {name: options[name] for name in EDITABLE if options[name] is not None}
        if "translatable" in given:
            given["translatable"] = given["translatable"] == "yes"
        form = EditForm({name: getattr(study, name) for name in EDITABLE} | given, instance=study)
        fields = cleaned(form)
        with transaction.atomic():
            if options["frame"]:
                change_frame(study=study, frame=frame_in(options["frame"]))
            made = edit_study(study=study, at=now(), **{name: fields.get(name, given[name]) for name in given})
        forecasts = {
            title_of(of.task_type): of.problem or counted(of.drawn, "tasks")
            for of in (forecast_of(study) if options["frame"] else [])
        }
        lines = [f"{label}: {drawn}" for label, drawn in forecasts.items()]
        lines.append(f"{study.name} is changed; added: {counted(made, 'places')}.")
        self.say("\n".join(lines), study=study.name, places=made, tasks=forecasts)


def frame_in(path: Path) -> Frame:
    """Return the frame in the JSON file. Raises CommandError with what is wrong with it."""
    try:
        serializer = FrameSerializer(data=strict_json(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, BrokenLine) as broken:
        raise CommandError(f"{path}: {broken}") from broken
    if not serializer.is_valid():
        raise CommandError(f"{path}: " + "; ".join(f"{name}: {said}" for name, said in serializer.errors.items()))
    frame: Frame = serializer.validated_data
    return frame
