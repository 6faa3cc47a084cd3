"""A leaderboard's means by a property of the topics, or by how long answers or documents are.

Source of the lengths: Qi et al., LONG²RAG (2024), Figure 6 (tokens of the joined documents) and Figure 7 (tokens of the
answer).
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from collection.models import ElementSpan, Passage, Report, RubricElement
from collection.web.tables import Column, Table
from evaluation.data.judge_pairs import batched
from evaluation.leaderboards.answer_points import OWN
from evaluation.leaderboards.columns import Column as SourceColumn
from evaluation.leaderboards.oracle_contexts import n_tokens, stored_tokenizers
from evaluation.leaderboards.sources import Scorer
from stats.measures.scores import Score, TopicMean, length_bins, mean_by_attribute
from stats.measures.words import TOKENIZERS
from stats.ranking.measure_names import NoLeaderboard

if TYPE_CHECKING:
    import pandas as pd

LENGTH, DOCUMENTS = "length of the answer", "length of the documents"
CHARACTERS = "characters"
BINS, MOST_EDGES, AT_ONCE = 3, 20, 500
# Of a run, or of every run (under the empty name): a length by topic.
Lengths = dict[str, dict[str, float]]
# A topic attribute with more values than these tells topics apart, it does not group them.
MOST_GROUPS = 30


@dataclass(frozen=True)
class LengthSlices:
    """How lengths are counted and cut: at `edges`, which rise, or in thirds; in characters, or a tokenizer's tokens."""

    edges: tuple[float, ...] = ()
    unit: str = CHARACTERS


@dataclass(frozen=True)
class LeaderboardBreakdown:
    """Means by group: by source and system, in the order of `groups`; None where the system has no such topic."""

    by: str
    groups: tuple[str, ...]
    means: Mapping[str, Mapping[str, tuple[TopicMean | None, ...]]]

    def table(self) -> Table:
        """Return the means in long form."""
        rows = (
            (source, system, self.by, group, mean.value, mean.standard_error, mean.n)
            for source, of_systems in self.means.items()
            for system, means in of_systems.items()
            for group, mean in zip(self.groups, means, strict=True)
            if mean is not None
        )
        return Table.of(f"Means by {self.by}", MEANS, rows)


MEANS = (
    *(Column("source", "By"), Column("system", "System"), Column("by"), Column("group", "Group")),
    *(Column("mean", "Mean", "number"), Column("se", "Standard error", "number"), Column("topics", "Topics", "count")),
)


def groupings(scorer: Scorer) -> list[str]:
    """Return by what the study's topics can be grouped: attributes with a few values, and lengths."""
    attributes = scorer.topic_attributes.values()
    names = sorted({name for of_topic in attributes for name in of_topic})
    found = [name for name in names if _groups([of_topic.get(name) for of_topic in attributes])]
    return [*found, *offered_lengths(scorer)]


def _groups(values: list[Any]) -> bool:
    """Whether these values group topics: several, none of them so many that each topic has its own."""
    if not all(isinstance(value, Hashable) for value in values):
        return False
    return 1 < len(set(values)) <= MOST_GROUPS and len(set(values)) < len(values)


def break_down(
    scorer: Scorer,
    columns: Sequence[SourceColumn],
    by: str,
    lengths: LengthSlices = LengthSlices(),
) -> LeaderboardBreakdown:
    """Return each source's means by this grouping; `lengths` says how lengths are cut. Raises NoLeaderboard."""
    offered = groupings(scorer)
    if by == "length" and by not in offered:
        by = LENGTH
    if by not in offered:
        raise NoLeaderboard(f"Topics cannot be grouped by “{by}”. Choose one of: {', '.join(offered) or 'nothing'}.")
    group_of = length_groups(scorer, by, lengths) if by in (LENGTH, DOCUMENTS) else _attribute(scorer, by)
    means = {
        column.name: {
            str(system): {
                group: mean if mean.value is None else replace(mean, value=column.scored.within.held(mean.value))
                for group, mean in mean_by_attribute(_scores(row), group_of(str(system))).items()
            }
            for system, row in column.table.iterrows()
        }
        for column in columns
    }
    groups = sorted({group for of_systems in means.values() for found in of_systems.values() for group in found})
    return LeaderboardBreakdown(
        by,
        tuple(group or "none" for group in groups),
        {
            source: {system: tuple(found.get(group) for group in groups) for system, found in of_systems.items()}
            for source, of_systems in means.items()
        },
    )


def _scores(row: pd.Series[float]) -> dict[str, Score]:
    import pandas as pd

    return {str(topic): Score(float(score)) for topic, score in row.items() if not pd.isna(score)}


def _attribute(scorer: Scorer, name: str) -> Any:
    named = scorer.topic_names
    values = {named[pk]: str(of.get(name, "")) for pk, of in scorer.topic_attributes.items() if pk in named}
    return lambda _: values


def offered_lengths(scorer: Scorer) -> list[str]:
    """Return the lengths that the collection's topics can be grouped by."""
    reports = Report.objects.filter(run__collection=scorer.study.collection_id).exists()
    return [name for name, there in ((LENGTH, reports), (DOCUMENTS, _spans(scorer).exists())) if there]


def offered_units(scorer: Scorer) -> list[str]:
    """Return what lengths can be counted in: characters, and the tokens of each tokenizer there is."""
    return units_of(scorer.study.collection_id)


def units_of(collection: int) -> list[str]:
    """Return what lengths of a collection's texts can be counted in, by the collection's primary key."""
    return [CHARACTERS, *TOKENIZERS, *stored_tokenizers(collection)]


def read_edges(text: str) -> tuple[float, ...]:
    """Read edges as they are typed: “1000, 1500, 2000”. Raises NoLeaderboard."""
    said = [part for part in text.replace(";", ",").split(",") if part.strip()]
    try:
        edges = tuple(float(part) for part in said)
    except ValueError:
        raise NoLeaderboard(f"“{text}” are not numbers. Write them like this: 1000, 1500, 2000.") from None
    if not all(map(np.isfinite, edges)) or list(edges) != sorted(set(edges)):
        raise NoLeaderboard(f"“{text}”: edges must be numbers that rise, such as 1000, 1500, 2000.")
    if len(edges) > MOST_EDGES:
        raise NoLeaderboard(f"These are {len(edges)} edges; give at most {MOST_EDGES}.")
    return edges


def length_groups(scorer: Scorer, by: str, slices: LengthSlices) -> Any:
    """Return for a system the bin of each topic's length: at the edges, or thirds of all. Raises NoLeaderboard."""
    if slices.unit not in (units := offered_units(scorer)):
        raise NoLeaderboard(f"Nothing is counted in “{slices.unit}”. Choose one of: {', '.join(units)}.")
    found = _of_answers(scorer, slices.unit) if by == LENGTH else {"": _of_documents(scorer, slices.unit)}
    every = [length for of_run in found.values() for length in of_run.values()]
    if not every:
        raise NoLeaderboard(f"No text has a length in “{slices.unit}”.")
    thirds = sorted(set(np.quantile(every, np.arange(1, BINS) / BINS).round().tolist()))
    edges = slices.edges or thirds
    return lambda system: length_bins(found.get(system, found.get("", {})), edges)


def _of_answers(scorer: Scorer, unit: str) -> Lengths:
    rows: Iterable[tuple[int, str, str, dict[str, Any]]]
    if unit == CHARACTERS:
        rows = ((topic, run, text, {}) for topic, run, text in scorer.report_texts())
    else:
        reports = scorer.visibility.of(Report.objects.filter(run__collection=scorer.study.collection_id))
        rows = reports.values_list("topic_id", "run__name", "text", "attributes").iterator(chunk_size=5_000)
    found: Lengths = {}
    for topic, run, text, attributes in rows:
        length = length_in(unit, text, attributes)
        if length is not None and topic in scorer.topic_names:
            found.setdefault(run, {})[scorer.topic_names[topic]] = length
    return found


def _of_documents(scorer: Scorer, unit: str) -> dict[str, float]:
    """Return by topic how long the documents together are that its key points were taken from, if all are counted."""
    of_topic: dict[int, set[int]] = {}
    for topic, passage in _spans(scorer).values_list("element__topic_id", "passage_id").distinct():
        of_topic.setdefault(topic, set()).add(passage)
    lengths = _of_passages({one for passages in of_topic.values() for one in passages}, unit)
    return {
        scorer.topic_names[topic]: float(sum(lengths[one] for one in passages))
        for topic, passages in of_topic.items()
        if topic in scorer.topic_names and passages <= lengths.keys()
    }


def _of_passages(wanted: Collection[int], unit: str) -> dict[int, float]:
    found = {}
    for some in batched(sorted(wanted), AT_ONCE):
        for pk, text, attributes in Passage.objects.filter(pk__in=some).values_list("pk", "text", "attributes"):
            if (length := length_in(unit, text, attributes)) is not None:
                found[pk] = length
    return found


def length_in(unit: str, text: str | None, attributes: Mapping[str, Any]) -> float | None:
    """Return how long the text is; None where it is not held, or not counted in this unit."""
    if unit == CHARACTERS:
        return None if text is None else float(len(text))
    counted = n_tokens(unit, text, dict(attributes))
    return None if counted is None else float(counted)


def _spans(scorer: Scorer) -> Any:
    """Return the spans of the questions' key points, not of those that answers make."""
    spans = ElementSpan.objects.filter(
        element__topic__collection=scorer.study.collection_id, element__kind=RubricElement.Kind.KEY_POINT
    )
    return spans.exclude(element__attributes__has_key=OWN)
