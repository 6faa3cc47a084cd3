"""How far two sets of nuggets for the same topics agree: pairs matched one to one, and importance within the pairs.

A nugget of one set is matched with at most one of the other, so that the matched pairs are as alike as can be in all:
the assignment problem, over the pairs that reach a threshold (Kuhn, The Hungarian method, 1955; solved by scipy's
linear_sum_assignment, after Crouse 2016). How alike two nuggets are is one of `SIMILARITIES`, each 0 to 1:

- the F1 of their words (Rajpurkar et al., SQuAD, EMNLP 2016), or ROUGE-L's F1 (`measures.rouge`), English words by
  their stems;
- the F1 of the code points of their sources that both name. Nuggets that name no source are left out, and counted.

Of one topic, with m matched pairs of n and k nuggets, the share of the first set's is m/n (recall), that of the
second's m/k (precision), and F1 is 2m/(n + k), which does not tell the sets apart. Means are over topics, each counting
once, with intervals by `stats.intervals`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from stats.agreement import coefficients
from stats.agreement.report import ONE_GRADE
from stats.intervals import Estimate, mean_interval
from stats.measures.rouge import rouge_1, rouge_l, rouge_tokens
from stats.pattern_intervals import SHARE, estimate, undefined
from stats.ratings import FloatArray, Ratings, count_patterns, pair_patterns
from stats.refusals import Refused

IMPORTANCE = ("okay", "vital")
THRESHOLD = 0.5
# As many comparisons as take some seconds.
MOST_COMPARED = 400_000


class NothingToMatch(Refused):
    """The two sets have no topic in common, or are too large."""


@dataclass(frozen=True)
class SourceSpan:
    """A place in a document, in code points, end-exclusive."""

    document: str
    start: int
    end: int


@dataclass(frozen=True)
class SetNugget:
    """A nugget of a set. `importance` is vital, okay or not said; `key` is the caller's."""

    text: str
    importance: str = ""
    weight: float | None = None
    spans: tuple[SourceSpan, ...] = ()
    key: Any = None


NuggetSet = Mapping[str, Sequence[SetNugget]]
"""Nuggets by topic."""


@dataclass(frozen=True)
class Similarity:
    """How alike two nuggets are. `prepare` reads a nugget once; None where it says nothing of it."""

    name: str
    prepare: Callable[[SetNugget], Any]
    compare: Callable[[Any, Any], float]


def _words(nugget: SetNugget) -> tuple[str, ...]:
    return rouge_tokens(nugget.text, stem=True)


def _code_points(nugget: SetNugget) -> dict[str, list[tuple[int, int]]] | None:
    """Return the places by document, those that touch made one."""
    found: dict[str, list[tuple[int, int]]] = {}
    for span in sorted(nugget.spans, key=lambda one: (one.document, one.start)):
        places = found.setdefault(span.document, [])
        if places and span.start <= places[-1][1]:
            places[-1] = places[-1][0], max(places[-1][1], span.end)
        elif span.end > span.start:
            places.append((span.start, span.end))
    return found if any(found.values()) else None


def _overlap(one: Mapping[str, Sequence[tuple[int, int]]], other: Mapping[str, Sequence[tuple[int, int]]]) -> float:
    common = sum(
        max(min(end, last) - max(start, first), 0)
        for document in one.keys() & other.keys()
        for start, end in one[document]
        for first, last in other[document]
    )
    size = sum(end - start for of in (one, other) for places in of.values() for start, end in places)
    return 2 * common / size


def _word_f1(one: tuple[str, ...], other: tuple[str, ...]) -> float:
    return rouge_1(one, other).f1


SIMILARITIES = {
    "words": Similarity("F1 of their words", _words, _word_f1),
    "rouge-l": Similarity("ROUGE-L F1", _words, rouge_l),
    "sources": Similarity("F1 of the places in their sources", _code_points, _overlap),
}


@dataclass(frozen=True)
class MatchedPair:
    """A nugget of each set, and how alike they are."""

    first: SetNugget
    second: SetNugget
    similarity: float

    @property
    def same_importance(self) -> bool | None:
        """Whether both sets call it vital, or both do not; None where one says nothing."""
        said = self.first.importance, self.second.importance
        return said[0] == said[1] if set(said) <= set(IMPORTANCE) else None


@dataclass(frozen=True)
class MatchedTopic:
    """A topic that both sets have nuggets for: the pairs, the most alike first, and what has no partner.

    `left_out`: how many nuggets of each set the similarity says nothing of.
    """

    topic: str
    pairs: tuple[MatchedPair, ...]
    first_alone: tuple[SetNugget, ...]
    second_alone: tuple[SetNugget, ...]
    left_out: tuple[int, int] = (0, 0)

    @property
    def sizes(self) -> tuple[int, int]:
        return len(self.pairs) + len(self.first_alone), len(self.pairs) + len(self.second_alone)

    @property
    def recall(self) -> float:
        """The share of the first set's nuggets that the second has."""
        return len(self.pairs) / self.sizes[0]

    @property
    def precision(self) -> float:
        """The share of the second set's nuggets that the first has."""
        return len(self.pairs) / self.sizes[1]

    @property
    def f1(self) -> float:
        return 2 * len(self.pairs) / sum(self.sizes)


@dataclass(frozen=True)
class NuggetAgreement:
    """How far two sets of nuggets agree.

    - `precision`, `recall`, `f1`: means over the topics that both sets have nuggets for;
    - `importance`: percent agreement, κ and α on vital or okay over the matched pairs where both say it, `n_importance`
      of them; intervals over topics, or why there is none;
    - `not_compared`: topics that one set alone has nuggets for.
    """

    by: str
    threshold: float
    topics: tuple[MatchedTopic, ...]
    not_compared: tuple[str, ...]
    precision: Estimate
    recall: Estimate
    f1: Estimate
    importance: Mapping[str, Estimate] = field(default_factory=dict)
    n_importance: int = 0

    @property
    def n_pairs(self) -> int:
        return sum(len(topic.pairs) for topic in self.topics)

    @property
    def sizes(self) -> tuple[int, int]:
        """How many nuggets of each set are compared."""
        return sum(topic.sizes[0] for topic in self.topics), sum(topic.sizes[1] for topic in self.topics)

    @property
    def left_out(self) -> tuple[int, int]:
        return sum(topic.left_out[0] for topic in self.topics), sum(topic.left_out[1] for topic in self.topics)


def match_nuggets(
    first: Sequence[SetNugget], second: Sequence[SetNugget], *, by: str = "words", threshold: float = THRESHOLD
) -> list[tuple[int, int, float]]:
    """Return the matched pairs, by their places in the two sequences, with how alike they are; in the first's order.

    No pair below the threshold, or of no likeness at all, is matched.
    """
    similarity = SIMILARITIES[by]
    ones, others = ([similarity.prepare(one) for one in nuggets] for nuggets in (first, second))
    if not ones or not others:
        return []
    alike: FloatArray = np.array(
        [[0.0 if one is None or other is None else similarity.compare(one, other) for other in others] for one in ones],
        dtype=np.float64,
    )
    alike[alike < threshold] = 0.0
    from scipy.optimize import linear_sum_assignment  # scipy weighs 60 MB in every process that never comes here

    rows, columns = linear_sum_assignment(alike, maximize=True)
    return [
        (int(row), int(column), float(alike[row, column]))
        for row, column in zip(rows, columns, strict=True)
        if alike[row, column] > 0
    ]


def compare_nuggets(
    first: NuggetSet, second: NuggetSet, *, by: str = "words", threshold: float = THRESHOLD
) -> NuggetAgreement:
    """Match two sets topic by topic. Raises NothingToMatch.

    A topic that one of the sets has no nuggets for is not compared: whether that is an opinion, nobody has said.
    """
    there = [{topic for topic, nuggets in of.items() if nuggets} for of in (first, second)]
    common = [topic for topic in first if topic in there[0] & there[1]]
    if not common:
        raise NothingToMatch("The two sets have nuggets for no topic in common.")
    if sum(len(first[topic]) * len(second[topic]) for topic in common) > MOST_COMPARED:
        raise NothingToMatch(f"The two sets have more than {MOST_COMPARED:,} pairs of nuggets to compare.")
    matched = [_matched(topic, first[topic], second[topic], by=by, threshold=threshold) for topic in common]
    topics = tuple(topic for topic in matched if all(topic.sizes))
    if not topics:
        raise NothingToMatch("In no topic do both sets have nuggets that name a place in a source.")
    precision, recall, f1 = (
        mean_interval([getattr(topic, name) for topic in topics], within=SHARE)
        for name in ("precision", "recall", "f1")
    )
    importance, n = agreement_on_importance(topics)
    without = (there[0] | there[1]) - {topic.topic for topic in topics}
    return NuggetAgreement(by, threshold, topics, tuple(sorted(without)), precision, recall, f1, importance, n)


def _matched(
    topic: str, first: Sequence[SetNugget], second: Sequence[SetNugget], *, by: str, threshold: float
) -> MatchedTopic:
    prepare = SIMILARITIES[by].prepare
    ones, others = ([one for one in of if prepare(one) is not None] for of in (first, second))
    found = match_nuggets(ones, others, by=by, threshold=threshold)
    pairs = sorted((MatchedPair(ones[row], others[column], alike) for row, column, alike in found), key=_least_alike)
    rows, columns = {row for row, _, _ in found}, {column for _, column, _ in found}
    return MatchedTopic(
        topic,
        tuple(pairs),
        tuple(one for place, one in enumerate(ones) if place not in rows),
        tuple(one for place, one in enumerate(others) if place not in columns),
        (len(first) - len(ones), len(second) - len(others)),
    )


def _least_alike(pair: MatchedPair) -> float:
    return -pair.similarity


def agreement_on_importance(topics: Sequence[MatchedTopic]) -> tuple[dict[str, Estimate], int]:
    """Return percent agreement, Cohen's κ and Krippendorff's α of importance, and over how many matched pairs.

    Pairs where one set says nothing of it are left out.
    """
    rows = list(_importance_codes(topics))
    if not rows:
        none = undefined("no matched pair has an importance in both sets")
        return dict.fromkeys(("percent_agreement", "cohen_kappa", "krippendorff_alpha"), none), 0
    codes = np.array([row[1:] for row in rows], dtype=np.int16)
    ratings = Ratings(
        codes=np.asfortranarray(codes),
        scale=IMPORTANCE,
        level="nominal",
        items=range(len(rows)),
        raters=("first", "second"),
        topics=np.array([row[0] for row in rows], dtype=np.int64),
    )
    counts, pairs = count_patterns(ratings), pair_patterns(ratings, 0, 1)
    found = estimate(
        {"percent_agreement": partial(coefficients.percent_agreement, patterns=counts)}, counts, within=SHARE
    )
    if len(np.unique(codes)) < 2:
        return found | {name: undefined(ONE_GRADE) for name in ("cohen_kappa", "krippendorff_alpha")}, len(rows)
    differences = coefficients.pair_differences("plain", ratings.numbers)
    kappa = partial(coefficients.cohen_kappa, patterns=pairs, differences=differences)
    alpha = partial(coefficients.krippendorff_alpha, patterns=counts, level="nominal", numbers=ratings.numbers)
    found |= estimate({"cohen_kappa": kappa}, pairs)
    found |= estimate({"krippendorff_alpha": alpha}, counts)
    return found, len(rows)


def _importance_codes(topics: Sequence[MatchedTopic]) -> Iterator[tuple[int, int, int]]:
    for number, topic in enumerate(topics):
        for pair in topic.pairs:
            if pair.same_importance is not None:
                yield number, IMPORTANCE.index(pair.first.importance), IMPORTANCE.index(pair.second.importance)
