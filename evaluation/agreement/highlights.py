"""How far people mark the same words of the texts they judge.

The measures are imported where they are used: their tokenizers bring a hundred megabytes with them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Any, Literal

import numpy as np

from collection.models import Criterion, Highlight, Item
from evaluation.data.judge_pairs import IDS_AT_ONCE, batched
from stats.agreement import coefficients
from stats.answers_in_words import likeness
from stats.influence import t_interval, unbiased
from stats.pattern_intervals import Estimate, estimate, undefined
from stats.ratings import BoolArray, CountPatterns, Ratings, grades_of

Marks = dict[str, BoolArray]
NO_HIGHLIGHTS = "no two assessors who said yes to the same item highlighted anything in it"


@dataclass(frozen=True)
class HighlightAgreement:
    """Over the items to which two people or more said yes: mean F1 and Jaccard of a pair, and α over tokens.

    `n_without_place` highlights were imported without offsets and cannot be compared.
    """

    f1: Estimate
    jaccard: Estimate
    alpha: Estimate
    n_items: int
    n_without_place: int

    @property
    def answer(self) -> str:
        """How alike two people's highlights are, in a sentence."""
        return likeness("Two assessors’ highlights of one text", "F1", self.f1)

    def as_dict(self) -> dict[str, Any]:
        return {
            "f1": self.f1.as_dict(),
            "jaccard": self.jaccard.as_dict(),
            "alpha": self.alpha.as_dict(),
            "n_items": self.n_items,
            "n_without_place": self.n_without_place,
        }


def measure_highlights(criterion: Criterion, people: Ratings, names: Mapping[int, str]) -> HighlightAgreement:
    """Compare the words that people marked as support. `names` holds the names of `people` by their raters' ids."""
    from stats.agreement.highlights import marked

    spans, n_without_place = _spans(criterion, names)
    said_yes = grades_of(people.codes, people.numbers) >= criterion.threshold
    asked = {
        pk: [str(people.raters[column]) for column in np.flatnonzero(said_yes[row]).tolist()]
        for row, pk in enumerate(people.items)
        if pk in spans and said_yes[row].sum() >= 2
    }
    texts = _texts(list(asked))
    assert people.topics is not None  # load_criterion
    topics = dict(zip(people.items, people.topics.tolist(), strict=True))
    items = [
        (topics[pk], {name: marked(texts[pk], spans[pk].get(name, [])) for name in who})
        for pk, who in asked.items()
        if texts.get(pk)
    ]
    if not items:
        nothing = undefined(NO_HIGHLIGHTS)
        return HighlightAgreement(nothing, nothing, nothing, 0, n_without_place)
    return HighlightAgreement(
        _mean_over(items, "f1"), _mean_over(items, "jaccard"), _alpha(items), len(items), n_without_place
    )


def _spans(criterion: Criterion, names: Mapping[int, str]) -> tuple[dict[int, dict[str, list[tuple[int, int]]]], int]:
    """Return the marked places by item and person, and how many highlights have none."""
    rows = Highlight.objects.filter(
        judgment__criterion=criterion, judgment__rater__in=list(names), purpose=Highlight.Purpose.SUPPORT
    ).values_list("judgment__item__pk", "judgment__rater__pk", "start", "end")
    spans: dict[int, dict[str, list[tuple[int, int]]]] = defaultdict(lambda: defaultdict(list))
    n_without_place = 0
    for item, rater, start, end in rows:
        if start is None or end is None:
            n_without_place += 1
        else:
            spans[item][names[rater]].append((start, end))
    return spans, n_without_place


def _texts(item_ids: list[int]) -> dict[int, str]:
    found: dict[int, str] = {}
    for some in batched(item_ids, IDS_AT_ONCE):
        rows = Item.objects.filter(pk__in=some).values_list("pk", "report__text", "passage__text")
        found |= {pk: report or passage or "" for pk, report, passage in rows}
    return found


def _mean_over(items: list[tuple[int, Marks]], measure: Literal["f1", "jaccard"]) -> Estimate:
    """The mean over items of the mean over pairs, with a t-interval over topics."""
    from stats.agreement.highlights import mean_pairwise

    values, topics = [], []
    for topic, marks in items:
        score, _ = mean_pairwise(marks, measure=measure)
        if score.value is not None:
            values.append(score.value)
            topics.append(topic)
    if not values:
        return undefined(NO_HIGHLIGHTS)
    mean, n = fmean(values), len(values)
    influence = (np.asarray(values) - mean) / n * unbiased(n)
    return t_interval(mean, influence, np.asarray(topics), freedom=n - 1)


def _alpha(items: list[tuple[int, Marks]]) -> Estimate:
    """Krippendorff's α over all tokens, with a bootstrap interval over topics."""
    from stats.agreement.highlights import highlight_alpha

    score = highlight_alpha([marks for _, marks in items])
    if score.value is None:
        return undefined(score.reason.rstrip("."))
    counts, topics = [], []
    for topic, marks in items:
        n_marked = np.stack(list(marks.values())).sum(axis=0, dtype=np.int64)
        counts.append(np.stack([len(marks) - n_marked, n_marked], axis=1))
        topics.append(np.full(len(n_marked), topic))
    rows, which, times = np.unique(np.concatenate(counts), axis=0, return_inverse=True, return_counts=True)
    _, places = np.unique(np.concatenate(topics), return_inverse=True)
    by_topic = np.zeros((int(places.max()) + 1, len(rows)))
    np.add.at(by_topic, (places, which.ravel()), 1)
    patterns = CountPatterns(rows.astype(np.float64), times.astype(np.float64), by_topic)
    alpha = partial(coefficients.krippendorff_alpha, patterns=patterns, level="nominal", numbers=np.array([0.0, 1.0]))
    return estimate({"alpha": alpha}, patterns, values={"alpha": score.value})["alpha"]
