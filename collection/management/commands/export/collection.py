from collections.abc import Iterator
from typing import Any

from collection.exporting.collections import exported_collection
from collection.management.exporting import ExportCommand
from collection.models import Collection


class Command(ExportCommand):
    help = "Write a collection to standard output as Assize JSONL."
    of = "collection"

    def pieces(self, of: Collection, options: dict[str, Any]) -> Iterator[str]:
        return exported_collection(of)
