from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.timezone import now

from collection.importing.commands import the_collection
from collection.models import Retrieval
from collection.retrieval.jobs import start_retrieval
from collection.retrieval.serializers import OPTIONS, AllOptions
from collection.web.options import add_options, choose
from stats.refusals import Refused


class Command(BaseCommand):
    help = "Rank a collection's passages for its topics by BM25 or by embeddings, and keep the ranking as a run."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--collection", required=True, metavar="NAME")
        parser.add_argument("--method", choices=list(OPTIONS), default="bm25")
        add_options(parser, AllOptions)

    def handle(self, *args: Any, collection: str, method: str, **options: Any) -> None:
        found = the_collection(collection)
        taken: list[str] = list(OPTIONS[method]().get_fields())
        for name in set(AllOptions().get_fields()).difference(taken):
            if options[name] is not None:
                raise CommandError(f"--{name.replace('_', '-')} is not an option of {method}.")
        try:
            told = choose(OPTIONS[method], options)
            made = start_retrieval(collection=found, user=None, method=method, options=told, at=now(), here=True)
        except Refused as refused:
            raise CommandError(str(refused)) from refused
        if made.state != Retrieval.State.DONE:
            raise CommandError(made.problem or f"It was {made.get_state_display()}.")
        self.stdout.write(json.dumps({"run": made.run_name, **made.outcome}, ensure_ascii=False, indent=2))
