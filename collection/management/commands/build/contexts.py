from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser
from django.utils.timezone import now

from collection.importing.commands import the_collection
from collection.retrieval.samples import sample_contexts
from collection.retrieval.serializers import SampleOptions
from collection.web.commands import SiteCommand, add
from collection.web.options import add_options, choose


class Command(SiteCommand):
    help = "Make runs of another one, each of passages drawn at random from the first ones of its rankings."

    def add_arguments(self, parser: CommandParser) -> None:
        add(parser, "--collection", required=True)
        add_options(parser, SampleOptions)

    def handle(self, *, collection: str, **options: Any) -> None:
        chosen = choose(SampleOptions, options)
        made = sample_contexts(collection=the_collection(collection), at=now(), **chosen)
        self.print_json({"runs": [run.name for run in made]})
