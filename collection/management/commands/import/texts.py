from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from collection.documents.fetching import NO_SOURCE, fetch_all, fetched_before
from collection.documents.found import SourceFailed
from collection.documents.missing import missing_texts
from collection.documents.sources import source_of
from collection.importing.commands import the_collection
from collection.models import DocumentFetch
from collection.web.commands import SiteCommand, add
from stats.plurals import counted


class Command(SiteCommand):
    help = "Fetch the missing texts of a collection's documents from its source. It can be stopped and run again."
    refusals = (SourceFailed,)

    def add_arguments(self, parser: CommandParser) -> None:
        add(parser, "--collection", required=True)
        add(parser, "--json")
        parser.add_argument("--limit", type=int, metavar="N", help="at most so many documents")
        parser.add_argument(
            "--again",
            action="store_true",
            help="instead, look at whether the source still has the same texts; those that are here stay",
        )

    def handle(self, *, collection: str, limit: int | None, again: bool, **options: Any) -> None:
        found = the_collection(collection)
        source = source_of(found)
        if source is None:
            raise CommandError(f"{NO_SOURCE} Set it on the collection’s page “Documents”, or by the API.")
        docnos = fetched_before(found) if again else list(missing_texts(found, depth=source.depth))
        docnos = docnos[:limit]
        kept = failed = 0
        for batch in fetch_all(source, docnos):
            if batch.fault:
                raise CommandError(batch.fault)
            kept, failed = kept + batch.kept, failed + batch.failed
        refused = DocumentFetch.objects.filter(collection=found, passage_id__in=docnos[:500]).exclude(problem="")
        problems = [f"{one.passage_id}: {one.problem}" for one in refused]
        text = f"{counted(len(docnos), 'documents')} tried: {kept:,} new, {failed:,} failed."
        about = {"tried": len(docnos), "new": kept, "failed": failed}
        self.say("\n".join([*problems, text]), **about, problems=problems)
