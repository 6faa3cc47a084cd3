from collections.abc import Iterator
from typing import Any

from collection.exporting.cited_reports import exported_cited_reports
from collection.management.exporting import ExportCommand
from collection.models import Collection


class Command(ExportCommand):
    help = "Write a collection's reports with their sentences and citations to standard output."
    of = "collection"

    def pieces(self, of: Collection, options: dict[str, Any]) -> Iterator[str]:
        return exported_cited_reports(of)
