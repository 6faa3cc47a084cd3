"""How much of what a study would ask about has no text here, said before it opens."""

from __future__ import annotations

from collections.abc import Container, Iterable

from annotate.task_types.texts import cited_reports_in, elements_of, named_passages
from collection.models import RubricElement, Study
from collection.texts.evidence import held_passages
from stats.plurals import counted

NO_TEXT = "{} of {:,} cannot be asked about: the documents have no text here."


def left_out_of_pool(study: Study, topics: Container[int], *, about: RubricElement.Kind | None = None) -> str:
    """Say how many passages of the pool have no text here, of topics that have a rubric element of this kind."""
    with_elements = elements_of(study.collection, about) if about else None
    held = held_in_pool(study, {one for one in with_elements if one in topics} if with_elements is not None else topics)
    return in_words(held.values(), "passages")


def held_in_pool(study: Study, topics: Container[int]) -> dict[tuple[int, str], bool]:
    """Return, for each passage of these topics' pool, by topic and docno, whether its text is here."""
    named = {(one.topic, one.docno) for one in named_passages(study) if one.topic in topics}
    held = held_passages(study.collection, {docno for _, docno in named})
    return {(topic, docno): docno in held for topic, docno in named}


def left_out_of_citations(study: Study, topics: Container[int]) -> str:
    """Say how many documents that reports cite for a topic have no text here."""
    cited = {
        (report.topic, one.docno): one.passage is not None
        for report in cited_reports_in(study)
        if report.topic in topics
        for sentence in report.sentences
        for one in sentence.citations
    }
    return in_words(cited.values(), "passages")


def in_words(held: Iterable[bool], what: str) -> str:
    """Say how many have no text, of these that could be asked about; nothing where all have one."""
    found = list(held)
    missing = found.count(False)
    return NO_TEXT.format(counted(missing, what), len(found)) if missing else ""
