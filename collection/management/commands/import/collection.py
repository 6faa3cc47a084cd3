from collection.importing.collections import import_collection
from collection.importing.commands import IntoCollection


class Command(IntoCollection):
    help = "Import an Assize JSONL file into a collection, which is created if it is new."
    importer = staticmethod(import_collection)
