"""Files of topics, passages, runs and reports: what is judged, and nobody's judgments."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

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

TEXTS = (*("assize", "topics", "summaries", "questions", "natural_questions", "passages", "pools", "run", "reports"),)


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
    importers: dict[str, Callable[..., Imported]] = {
        "assize": import_collection,
        "topics": import_topics,
        "summaries": import_summaries,
        "questions": import_question_bank,
        "natural_questions": partial(import_natural_questions, seed=seed),
        "passages": import_passages,
        "pools": partial(import_pools, run=run, system=system),
        "run": partial(import_run, with_topics=with_topics, run=run, system=system),
        "reports": partial(import_cited_reports, with_topics=with_topics),
    }
    return importers[file_format](file=file, collection=collection)
