from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotate.studies.edit_forms import CopyForm
from annotate.studies.edits import copy_study
from annotate.studies.lifecycle import NameTaken
from collection.importing.commands import mended_by_the_reader, the_study, the_user


class Command(BaseCommand):
    help = "Make a draft with the design, criteria and guidelines of a study; without its people, tasks and labels."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--study", required=True, metavar="NAME")
        parser.add_argument("--title", required=True, help="the title of the copy")
        parser.add_argument("--name", default="", help="its name, if not derived from the title")
        parser.add_argument("--by", required=True, metavar="USER", help="who makes it")

    def handle(self, *args: Any, **options: Any) -> None:
        form = CopyForm({"title": options["title"], "name": options["name"]})
        if not form.is_valid():
            raise CommandError("; ".join(f"{name}: {' '.join(map(str, said))}" for name, said in form.errors.items()))
        with mended_by_the_reader(NameTaken):
            copy = copy_study(study=the_study(options["study"]), by=the_user(options["by"]), **form.cleaned_data)
        self.stdout.write(f"{copy.name} is created as a draft.")
