from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.timezone import now

from collection.importing.commands import the_collection
from collection.retrieval.samples import sample_contexts
from collection.retrieval.serializers import SampleOptions
from collection.web.options import add_options, choose
from stats.refusals import Refused


class Command(BaseCommand):
    help = "Make runs of another one, each of passages drawn at random from the first ones of its rankings."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--collection", required=True, metavar="NAME")
        add_options(parser, SampleOptions)

    def handle(self, *args: Any, collection: str, **options: Any) -> None:
        found = the_collection(collection)
        try:
            made = sample_contexts(collection=found, at=now(), **choose(SampleOptions, options))
        except Refused as refused:
            raise CommandError(str(refused)) from refused
        self.stdout.write(json.dumps({"runs": [one.name for one in made]}, ensure_ascii=False, indent=2))
