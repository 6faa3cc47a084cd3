from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from collection.importing.commands import add_declarations, the_study
from collection.judgments.declarations import declarations_of, declare, doubt_about_sample


class Command(BaseCommand):
    help = "Declare what no draw and no file says of a study's labels, or take it back."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--study", required=True, metavar="NAME")
        add_declarations(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        study = the_study(options["study"])
        try:
            declare(study, random_sample=options["random_sample"], irrelevant=dict(options["irrelevant"]))
        except ValidationError as refused:
            raise CommandError(" ".join(refused.messages)) from refused
        for name, declared in declarations_of(study).items():
            self.stdout.write(f"{name}: {declared}")
        if doubt := doubt_about_sample(study):
            self.stderr.write(doubt)
