from collection.importing.trec import import_passages
from collection.management.commands import import_collection


class Command(import_collection.Command):
    help = 'Import passages from JSONL: {"id", "contents"}, or docid, text and similar.'
    importer = staticmethod(import_passages)
