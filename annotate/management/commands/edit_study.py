from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.timezone import now

from annotate.studies.edit_forms import EditForm
from annotate.studies.edits import EDITABLE, OverlapLowered, edit_study
from annotate.studies.lifecycle import WrongState
from collection.importing.commands import mended_by_the_reader, the_study
from stats.plurals import counted


class Command(BaseCommand):
    help = "Change a study: its title, how many assessors an item has, limit, batches, time-out."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--study", required=True, metavar="NAME")
        parser.add_argument("--title")
        parser.add_argument("--overlap", metavar="K", help="assessors per item; once the study has opened only upwards")
        parser.add_argument("--quota", metavar="N", help="the most tasks of one assessor; '' for no limit")
        parser.add_argument("--batch-size", metavar="N", help="tasks per batch; '' releases all")
        parser.add_argument("--timeout-minutes", metavar="M", help="'' for no time-out")

    def handle(self, *args: Any, **options: Any) -> None:
        study = the_study(options["study"])
        given = {name: options[name] for name in EDITABLE if options[name] is not None}
        form = EditForm({name: getattr(study, name) for name in EDITABLE} | given, instance=study)
        if not form.is_valid():
            raise CommandError("; ".join(f"{name}: {' '.join(map(str, said))}" for name, said in form.errors.items()))
        with mended_by_the_reader(WrongState, OverlapLowered):
            made = edit_study(
                study=study, at=now(), **{name: form.cleaned_data.get(name, given[name]) for name in given}
            )
        self.stdout.write(f"{study.name} is changed; added: {counted(made, 'places')}.")
