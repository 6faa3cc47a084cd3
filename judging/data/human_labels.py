"""What people say about a study's items, for tuning judges: the development part, and their majority.

The majority is that of `stats.votes`, as on every page about agreement: people who tie count with the lower grade.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from collection.judgments.unaided import without_the_aided
from collection.models import Criterion, Judgment, Rater, Split, SplitTopic, Study
from collection.splits import topics_in
from stats.votes import TIES_OF_PEOPLE, Ties, majority_of, most_given_of


class NoSplit(ValueError):
    """The study's topics are not split, so nothing says which of them prompts may be tuned on."""


def development_topics(study: Study) -> set[int]:
    """Return the keys of the topics that prompts may be tuned on. Raises NoSplit.

    A topic that is in the test part of another study of the collection is locked here too: its texts are the same.
    """
    split = Split.objects.filter(study=study).first()
    if split is None:
        raise NoSplit(
            f"The topics of “{study}” are not split into development topics and test topics. Split them first: "
            "prompts must never be tested on the topics that they were tuned on."
        )
    return topics_in(split, SplitTopic.Part.DEVELOPMENT) - _locked(study)


def topics_to_compare(study: Study) -> tuple[set[int], bool]:
    """Return the keys of the topics on which judges may be compared, and whether they are a development part.

    Without a split these are all topics of the study but those that another study of the collection tests on.
    """
    try:
        return development_topics(study), True
    except NoSplit:
        return set(study.items.values_list("topic_id", flat=True).distinct()) - _locked(study), False


def _locked(study: Study) -> set[int]:
    tested = SplitTopic.objects.filter(
        part=SplitTopic.Part.TEST, topic__collection=study.collection_id, split__study__collection=study.collection_id
    )
    return set(tested.values_list("topic_id", flat=True))


def grades_of_people(criterion: Criterion, *, topics: Iterable[int] | None = None) -> dict[int, list[float]]:
    """Return people's grades by the item's key, in these topics if named; raters who were excluded are left out.

    So are grades that a suggestion of a judge's came before, or changed: nothing is tuned on an echo.
    """
    judgments = without_the_aided(
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


def majorities(grades: Mapping[int, list[float]], *, ties: Ties = TIES_OF_PEOPLE) -> dict[int, float]:
    """Return people's majority by the item's key; with "undecided", items on which they tie are left out."""
    settled = {item: majority_of(given, ties=ties) for item, given in grades.items()}
    return {item: grade for item, grade in settled.items() if grade is not None}


def tied(grades: Mapping[int, list[float]]) -> set[int]:
    """Return the items on which people tie."""
    return {item for item, given in grades.items() if len(most_given_of(given)) > 1}
