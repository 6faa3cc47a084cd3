"""Documents of the package ir_datasets, where that is installed. It downloads a corpus once, into its own folder."""

from __future__ import annotations

from collection.documents.found import FetchFailed, Found, SourceFailed
from collection.formats.problems import BrokenFile
from collection.formats.values import UNSTORABLE
from collection.importing.datasets.ir_dataset import dataset_of, title_and_text, told
from collection.models.texts import text_hash


class DatasetDocuments:
    """The documents of a dataset by its id."""

    def __init__(self, dataset_id: str) -> None:
        self.dataset_id = dataset_id
        try:
            with told(dataset_id):
                dataset = dataset_of(dataset_id)
                if not dataset.has_docs():
                    raise SourceFailed("The dataset has no passages.")
                self.store = dataset.docs_store()
        except BrokenFile as broken:
            raise SourceFailed(str(broken.problems[0])) from broken

    def close(self) -> None:
        """The package keeps its own files."""

    def fetch(self, docno: str) -> Found:
        """Return the document. Raises FetchFailed."""
        try:
            with told(self.dataset_id):
                doc = next(iter(self.store.get_many_iter([docno])), None)
        except BrokenFile as broken:
            raise SourceFailed(str(broken.problems[0])) from broken
        if doc is None:
            raise FetchFailed("The dataset has no document of this id.")
        title, text = title_and_text(doc)
        if not text.strip() or UNSTORABLE.search(text):
            raise FetchFailed("The document has no text that could be kept.")
        return Found(text, title, text_hash(text))
