"""Reads what measures against the oracle's context need: its passages, a source's grades of them, and token counts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from collection.models import Passage, Report
from collection.models.studies import TaskType
from evaluation.leaderboards.sources import Scorer, Source
from stats.measures.words import TOKENIZERS
from stats.ranking.measure_names import NoLeaderboard, SystemMeasure
from stats.ranking.oracle_contexts import Oracle, TokenCounts

# An attribute of passages and reports: how many tokens the text has, by the tokenizer's name.
STORED_COUNTS = "token_counts"


def load_oracle(scorer: Scorer, measure: SystemMeasure, source: Source) -> Oracle | None:
    """Return the oracle's context; for reports with the grades that the same source gave its passages, if it did."""
    if scorer.oracle is None:
        return None
    contexts = scorer.rankings.get(scorer.oracle, {})
    if measure.of_reports:
        for criterion in scorer.loader.criteria:
            if criterion.task_type == TaskType.RATING and (same := scorer.loader.same_source(source, criterion)):
                grades = scorer.grades(same)
                return Oracle(scorer.oracle, contexts, grades.tables, grades.minimum(measure))
    return Oracle(scorer.oracle, contexts)


def load_tokens(scorer: Scorer, measure: SystemMeasure, oracle: Oracle | None) -> TokenCounts:
    """Return the token counts of the texts that density compares, by the measure's tokenizer. Raises NoLeaderboard."""
    collection, topics = scorer.study.collection_id, scorer.topic_names
    wanted = {passage for context in oracle.contexts.values() for passage in context} if oracle else set()
    if not measure.of_reports:
        wanted |= set(_first_passages(scorer, measure, oracle))
    passages = {
        name: n
        for name, *held in _rows(Passage.objects.filter(collection=collection), "passage_id", "text", "attributes")
        if name in wanted and (n := n_tokens(measure.tokenizer, *held)) is not None
    }
    if wanted and not passages:
        raise NoLeaderboard(f"No passage has token counts by “{measure.tokenizer}”. {_tokenizers(collection)}")
    reports = {
        (topics[topic], run): n
        for topic, run, *held in _rows(
            Report.objects.filter(run__collection=collection), "topic", "run__name", "text", "attributes"
        )
        if topic in topics and (n := n_tokens(measure.tokenizer, *held)) is not None
    }
    return TokenCounts(measure.tokenizer, passages, reports if measure.of_reports else {})


def told(name: str) -> str:
    """Return what the tokenizer of this name counts, in words."""
    tokenizer = TOKENIZERS.get(name)
    return tokenizer.meaning if tokenizer else f"counts by “{name}”, stored with the texts"


def _first_passages(scorer: Scorer, measure: SystemMeasure, oracle: Oracle | None) -> Iterator[str]:
    for found in scorer.rankings.values():
        for topic, ranking in found.items():
            yield from ranking[: oracle.size(topic) if measure.at_oracle and oracle else measure.cutoff]


def _rows(queryset: Any, *columns: str) -> Iterator[Any]:
    yield from queryset.values_list(*columns).iterator(chunk_size=5_000)


def n_tokens(name: str, text: str | None, attributes: dict[str, Any]) -> int | None:
    """Return how many tokens the text has, None where it is not held or nobody counted it so."""
    if tokenizer := TOKENIZERS.get(name):
        return None if text is None else tokenizer.count([text])
    stored = attributes.get(STORED_COUNTS)
    found = stored.get(name) if isinstance(stored, dict) else None
    return found if isinstance(found, int) and not isinstance(found, bool) and found >= 0 else None


def stored_tokenizers(collection: int) -> list[str]:
    """Return the names under which passages have token counts stored, by the first of them."""
    stored = Passage.objects.filter(collection=collection, attributes__has_key=STORED_COUNTS)
    counts = (attributes[STORED_COUNTS] for attributes in stored.values_list("attributes", flat=True)[:1_000])
    return sorted({name for found in counts if isinstance(found, dict) for name in found})


def _tokenizers(collection: int) -> str:
    return f"Tokenizers: {', '.join([*TOKENIZERS, *stored_tokenizers(collection)])}."
