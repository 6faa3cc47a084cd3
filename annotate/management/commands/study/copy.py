from typing import Any

from django.core.management.base import CommandParser

from annotate.studies.edit_forms import CopyForm
from annotate.studies.edits import copy_study
from annotate.studies.lifecycle import NameTaken
from collection.importing.commands import the_study, the_user
from collection.web.commands import SiteCommand, add, cleaned


class Command(SiteCommand):
    help = "Make a draft with the design, criteria and guidelines of a study; without its people, tasks and labels."
    refusals = (NameTaken,)

    def add_arguments(self, parser: CommandParser) -> None:
        add(parser, "--study", "--by", required=True)
        add(parser, "--json")
        parser.add_argument("--title", required=True, help="the title of the copy")
        parser.add_argument("--name", default="", help="its name, if not derived from the title")

    def handle(self, **options: Any) -> None:
        named = cleaned(CopyForm({"title": options["title"], "name": options["name"]}))
        copy = copy_study(study=the_study(options["study"]), by=the_user(options["by"]), **named)
        self.say(f"{copy.name} is created as a draft.", study=copy.name)
