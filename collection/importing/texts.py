"""Files of topics, passages, runs and reports: what is judged, and nobody's judgments."""

from __future__ import annotations

from collections.abc import Callable

from collection.formats.problems import InputFile
from collection.importing.collections import import_collection
from collection.importing.datasets.cited_reports import import_cited_reports
from collection.importing.datasets.natural_questions import import_natural_questions
from collection.importing.datasets.pools import import_pools
from collection.importing.datasets.rubric import import_question_bank
from collection.importing.datasets.summaries import import_summaries
from collection.importing.rows import Imported
from collection.importing.trec import import_passages, import_run, import_topics
from collection.models import Collection

# Each format's importer, and which options it takes.
TEXTS: dict[str, tuple[Callable[..., Imported], tuple[str, ...]]] = {
    "assize": (import_collection, ()),
    "topics": (import_topics, ()),
    "summaries": (import_summaries, ()),
    "questions": (import_question_bank, ()),
    "natural_questions": (import_natural_questions, ("seed",)),
    "passages": (import_passages, ()),
    "pools": (import_pools, ("run", "system")),
    "run": (import_run, ("run", "system", "with_topics")),
    "reports": (import_cited_reports, ("with_topics",)),
}


def import_texts(
    file_format: str,
    *,
    file: InputFile,
    collection: Collection,
    run: str,
    system: str,
    with_topics: bool,
    seed: int,
) -> Imported:
    """Import a file of one of TEXTS. Raises BrokenFile.

    `run` and `system` name a single run, `seed` is that of a draw.
    """
    options = {"run": run, "system": system, "with_topics": with_topics, "seed": seed}
    importer, taken = TEXTS[file_format]
    return importer(file=file, collection=collection, **{name: options[name] for name in taken})
