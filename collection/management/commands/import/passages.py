from collection.importing.commands import IntoCollection
from collection.importing.trec import import_passages


class Command(IntoCollection):
    help = 'Import passages from JSONL: {"id", "contents"}, or docid, text and similar.'
    importer = staticmethod(import_passages)
