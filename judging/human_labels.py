"""What people say about a study's items, for tuning judges: the development part, and their majority."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from collection.models import Criterion, Judgment, Rater, Split, SplitTopic, Study
from collection.splits import topics_in


class NoSplit(ValueError):
    """The study's topics are not split, so nothing says which of them prompts may be tuned on."""


def development_topics(study: Study) -> set[int]:
    """Return the keys of the topics that prompts may be tuned on. Raises NoSplit.

    A topic that is in the test part of another study of the collection is locked here too: its texts are the same.
    """
    split = Split.objects.filter(study=study).first()
    if split is None:
        raise NoSplit(
            f"The topics of “{study}” are not split into a development part and a test part. Make the split first: "
            "what prompts are tuned on must never be what they are tested on."
        )
    locked = SplitTopic.objects.filter(
        part=SplitTopic.Part.TEST, topic__collection=study.collection_id, split__study__collection=study.collection_id
    )
    return topics_in(split, SplitTopic.Part.DEVELOPMENT) - set(locked.values_list("topic_id", flat=True))


def majority(grades: Iterable[float]) -> float | None:
    """Return the grade that more people gave than any other; None for a draw, and for no grades."""
    counts = Counter(grades).most_common(2)
    if not counts or (len(counts) == 2 and counts[0][1] == counts[1][1]):
        return None
    return counts[0][0]


def grades_of_people(criterion: Criterion, *, topics: Iterable[int] | None = None) -> dict[int, list[float]]:
    """Return people's grades by the item's key, in these topics if named; raters who were excluded are left out."""
    judgments = (
        Judgment.objects.filter(criterion=criterion, rater__kind=Rater.Kind.ASSESSOR)
        .without_the_excluded()
        .graded()
        .exclude(item__element__masked=True)
    )
    if topics is not None:
        judgments = judgments.filter(item__topic__in=list(topics))
    by_item: dict[int, list[float]] = defaultdict(list)
    for item, grade in judgments.order_by("item_id", "rater_id").values_list("item_id", "grade"):
        if grade is not None:
            by_item[item].append(grade)
    return dict(by_item)


def majorities(grades: Mapping[int, list[float]]) -> dict[int, float]:
    """Return the majority by the item's key; items on which people draw are left out."""
    return {item: grade for item, given in grades.items() if (grade := majority(given)) is not None}
