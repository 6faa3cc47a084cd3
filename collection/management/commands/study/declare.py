from typing import Any

from django.core.management.base import CommandParser

from collection.importing.commands import add_declarations, the_study
from collection.judgments.declarations import declarations_of, declare, doubt_about_sample
from collection.web.commands import SiteCommand, add


class Command(SiteCommand):
    help = "Declare what no draw and no file says of a study's labels, or take it back."

    def add_arguments(self, parser: CommandParser) -> None:
        add(parser, "--study", required=True)
        add(parser, "--json")
        add_declarations(parser)

    def handle(self, **options: Any) -> None:
        study = the_study(options["study"])
        declare(study, random_sample=options["random_sample"], irrelevant=dict(options["irrelevant"]))
        declared = {name: str(what) for name, what in declarations_of(study).items()}
        if declared or self.as_json:
            self.say("\n".join(f"{name}: {what}" for name, what in declared.items()), **declared)
        if doubt := doubt_about_sample(study):
            self.note(doubt)
