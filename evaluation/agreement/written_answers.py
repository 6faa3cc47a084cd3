"""What people wrote under a criterion, and how far their answers agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from collection.judgments.rater_names import distinct_names
from collection.models import AnswerToRevise, Criterion, Item, Judgment, Rater
from collection.models.studies import TaskType
from evaluation.agreement.disputed_items import question_of
from stats.answers_in_words import likeness
from stats.pattern_intervals import Estimate

if TYPE_CHECKING:
    from stats.agreement.written_answers import AnswerPair

WRITTEN = (TaskType.WRITTEN_ANSWER, TaskType.ANSWER_REVISION)
SHOWN = 20


@dataclass(frozen=True)
class Written:
    """What one person wrote."""

    name: str
    text: str


@dataclass(frozen=True)
class AnsweredItem:
    """An item with the answers of two people or more, each pair of them compared, and the mean of the pairs."""

    pk: int
    item_id: str
    topic: str
    question: str
    answers: tuple[Written, ...]
    pairs: tuple[AnswerPair, ...]
    rouge_l: float


@dataclass(frozen=True)
class WrittenAgreement:
    """How alike people's answers are: the mean over questions of the mean ROUGE-L F1 over pairs.

    `items` have two answers or more, the least alike first; `n_alone` questions have one.
    """

    rouge_l: Estimate
    items: tuple[AnsweredItem, ...]
    n_answers: int
    n_alone: int

    @property
    def disputed(self) -> tuple[AnsweredItem, ...]:
        """The items whose answers are least alike; none whose answers are the same."""
        return tuple(item for item in self.items[:SHOWN] if item.rouge_l < 1)

    @property
    def answer(self) -> str:
        """How alike two people's answers are, in a sentence."""
        return likeness("Two assessors’ answers to one question", "ROUGE-L", self.rouge_l)

    def as_dict(self) -> dict[str, Any]:
        """Return the figures and, pair by pair, what they are made of; no text."""
        return {
            "rouge_l": self.rouge_l.as_dict(),
            "n_items": len(self.items),
            "n_answers": self.n_answers,
            "n_answered_once": self.n_alone,
            "pairs": [
                {"item": item_id, "raters": [one, other], "rouge_l": value}
                for item_id, one, other, value in self.rows()
            ],
        }

    def rows(self) -> list[list[Any]]:
        """Return item, both raters and ROUGE-L of each pair."""
        return [
            [item.item_id, item.answers[pair.first].name, item.answers[pair.second].name, pair.rouge_l]
            for item in self.items
            for pair in item.pairs
        ]


def measure_written(criterion: Criterion) -> WrittenAgreement | None:
    """Return how far the answers under the criterion agree; None where nothing is written under it.

    In round 2, that is how far an answer that was changed agrees with the first one (CLAPNQ's agreement).
    """
    if criterion.task_type not in WRITTEN:
        return None
    # It takes nltk for its stems, which a web process that serves assessors does without.
    from stats.agreement.written_answers import answer_pairs, mean_over_questions

    judgments = Judgment.objects.filter(
        criterion=criterion, answer__isnull=False, rater__kind=Rater.Kind.ASSESSOR
    ).without_the_excluded()
    fields = ("item_id", "item__topic_id", "rater_id", "answer__text")
    if criterion.task_type == TaskType.ANSWER_REVISION:
        judgments = judgments.filter(grade__gte=criterion.threshold)
    rows = list(judgments.order_by("item_id", "rater_id").values_list(*fields))
    if criterion.task_type == TaskType.ANSWER_REVISION:
        rows = _with_first_answers(rows)
    people = list(Rater.objects.filter(pk__in={rater for _, _, rater, _ in rows}).order_by("pk"))
    names = dict(zip((rater.pk for rater in people), distinct_names(people), strict=True))
    by_item = {item: list(said) for item, said in groupby(rows, key=itemgetter(0))}
    compared = {item: answer_pairs([text for *_, text in said]) for item, said in by_item.items() if len(said) > 1}
    means = {item: fmean(pair.rouge_l for pair in pairs) for item, pairs in compared.items()}
    topics = np.array([by_item[item][0][1] for item in means], dtype=np.int64)
    values = np.array(list(means.values()), dtype=np.float64)
    nested = len(np.unique(topics)) < len(topics)
    order = sorted(means, key=lambda item: (means[item], item))
    return WrittenAgreement(
        rouge_l=mean_over_questions(values, topics if nested else None),
        items=tuple(_answered_items(order, by_item, compared, means, names)),
        n_answers=len(rows),
        n_alone=len(by_item) - len(means),
    )


def _with_first_answers(rows: Sequence[Any]) -> list[Any]:
    """Put before the answers of round 2 the one of round 1 that each of them changed."""
    first = AnswerToRevise.objects.filter(item__in={item for item, *_ in rows})
    seen = [(one.item_id, one.item.topic_id, one.writer_id, one.text) for one in first.select_related("item")]
    return sorted([*seen, *rows], key=itemgetter(0))


def _answered_items(
    order: Sequence[int],
    by_item: dict[int, list[Any]],
    compared: dict[int, list[AnswerPair]],
    means: dict[int, float],
    names: dict[int, str],
) -> list[AnsweredItem]:
    items = Item.objects.select_related("topic", "element").in_bulk(list(order))
    return [
        AnsweredItem(
            pk=pk,
            item_id=items[pk].item_id,
            topic=items[pk].topic.topic_id,
            question=question_of(items[pk]),
            answers=tuple(Written(names[rater], text) for _, _, rater, text in by_item[pk]),
            pairs=tuple(compared[pk]),
            rouge_l=means[pk],
        )
        for pk in order
    ]
