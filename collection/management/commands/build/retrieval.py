from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils.timezone import now

from collection.importing.commands import the_collection
from collection.models import Retrieval
from collection.retrieval.jobs import start_retrieval
from collection.retrieval.serializers import OPTIONS, AllOptions
from collection.web.commands import SiteCommand, add
from collection.web.options import add_options, choose


class Command(SiteCommand):
    help = "Rank a collection's passages for its topics by BM25 or by embeddings, and keep the ranking as a run."

    def add_arguments(self, parser: CommandParser) -> None:
        add(parser, "--collection", required=True)
        parser.add_argument("--method", choices=list(OPTIONS), default="bm25", help="how (%(default)s)")
        add_options(parser, AllOptions)

    def handle(self, *, collection: str, method: str, **options: Any) -> None:
        taken: list[str] = list(OPTIONS[method]().get_fields())
        for name in set(AllOptions().get_fields()).difference(taken):
            if options[name] is not None:
                raise CommandError(f"--{name.replace('_', '-')} is not an option of {method}.")
        found, chosen = the_collection(collection), choose(OPTIONS[method], options)
        made = start_retrieval(collection=found, user=None, method=method, options=chosen, at=now(), here=True)
        if made.state != Retrieval.State.DONE:
            raise CommandError(made.problem or f"It was {made.get_state_display()}.")
        self.print_json({"run": made.run_name, **made.outcome})
