"""The items that people dispute most, and everything that was said of one item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import Count

from collection.models import Comment, Exclusion, Highlight, Item, Judgment, Rater
from collection.texts.highlights import Piece, pieces_of
from stats.agreement.by_grade import dispute
from stats.agreement.report import plain_grade
from stats.ratings import MISSING, Grade, Ratings

SHOWN = 50


@dataclass(frozen=True)
class DisputedItem:
    """An item with how far its people are apart, and who gave what."""

    pk: int
    item_id: str
    topic: str
    question: str
    distance: float
    grades: tuple[tuple[str, int | float | str], ...]
    n_comments: int

    def as_dict(self) -> dict[str, Any]:
        return {
            "item": self.item_id,
            "topic": self.topic,
            "question": self.question,
            "distance": self.distance,
            "grades": dict(self.grades),
            "n_comments": self.n_comments,
        }


def disputed_items(people: Ratings, *, most: int = SHOWN) -> tuple[DisputedItem, ...]:
    """Return the items on which people are furthest apart, the most disputed first; none on which they agree."""
    distances = np.nan_to_num(dispute(people))
    rows = [row for row in np.argsort(-distances, kind="stable")[:most].tolist() if distances[row] > 0]
    shown = [people.items[row] for row in rows]
    items = Item.objects.select_related("topic", "element", "report", "sentence").in_bulk(shown)
    commented = Comment.objects.filter(item__in=shown).order_by().values_list("item").annotate(Count("pk"))
    n_comments = dict(commented)
    return tuple(
        DisputedItem(
            pk=people.items[row],
            item_id=items[people.items[row]].item_id,
            topic=items[people.items[row]].topic.topic_id,
            question=question_of(items[people.items[row]]),
            distance=float(distances[row]),
            grades=tuple(
                (str(name), plain_grade(people.scale[code]))
                for name, code in zip(people.raters, people.codes[row].tolist(), strict=True)
                if code != MISSING
            ),
            n_comments=n_comments.get(people.items[row], 0),
        )
        for row in rows
    )


def question_of(item: Item) -> str:
    """Return what is asked: of the rubric element, or the topic's request."""
    return item.asked_about


@dataclass(frozen=True)
class Opinion:
    """What one rater said of the item under one criterion."""

    judgment: Judgment
    name: str
    meaning: str
    highlights: tuple[Highlight, ...]
    answer: str
    excluded: bool

    @property
    def rater(self) -> Rater:
        return self.judgment.rater

    @property
    def is_judge(self) -> bool:
        return self.rater.kind == Rater.Kind.JUDGE

    @property
    def grade(self) -> Grade | None:
        return self.judgment.grade


@dataclass(frozen=True)
class ItemOpinions:
    """Everything that was said of an item, people first, and its text in pieces."""

    item: Item
    question: str
    opinions: tuple[Opinion, ...]
    comments: tuple[Comment, ...]
    pieces: tuple[Piece, ...]


def opinions_of(item: Item) -> ItemOpinions:
    """Return what everybody said of the item, under every criterion it was judged by."""
    judgments = list(
        Judgment.objects.filter(item=item)
        .select_related("rater", "criterion__scale", "guideline", "answer")
        .prefetch_related("highlights")
        .order_by("criterion__position", "rater__kind", "rater__name")
    )
    out = set(Exclusion.objects.filter(study=item.study_id, lifted_at=None).values_list("rater", flat=True))
    opinions = tuple(
        Opinion(
            judgment=judgment,
            name=judgment.rater.name,
            meaning=_meaning(judgment),
            highlights=tuple(judgment.highlights.all()),
            answer=judgment.answer.text if hasattr(judgment, "answer") else "",
            excluded=judgment.rater_id in out,
        )
        for judgment in judgments
    )
    text = item.judged_text.text or ""
    marks = ((mark.start, mark.end, opinion.name) for opinion in opinions for mark in opinion.highlights)
    comments = Comment.objects.filter(item=item).select_related("rater").order_by("made_at", "pk")
    return ItemOpinions(item, question_of(item), opinions, tuple(comments), tuple(pieces_of(text, marks)))


def _meaning(judgment: Judgment) -> str:
    if judgment.grade is None:
        return judgment.get_ungraded_display()
    point = judgment.criterion.scale.point(judgment.grade)
    return str(point["name"]) if point else ""
