"""Seed questions: the best of each category, by how well people or a judge said that they fit there.

LONG²RAG, section 3.1: twelve of each category, and seven of the subjective ones, became seeds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Avg, Count, QuerySet

from collection.judgments.unaided import as_said_unaided
from collection.models import Collection, Criterion, Judgment, Rater, Topic, User
from collection.models.studies import TaskType
from collection.question_categories import CATEGORIES, CHOSEN, category_of, may_be_seed
from judging.building.additions.topics import MAKING

EACH = 12
OTHERS: Mapping[str, int] = {"subjective": 7}


class NoSeeds(ValueError):
    """No seeds can be chosen so; the message says why."""


@dataclass(frozen=True)
class Graded:
    """A question with the mean of its grades and how many there are."""

    topic: Topic
    grade: float
    n: int


@dataclass(frozen=True)
class OfCategory:
    """A category's questions: those chosen, best first; those that fit but came behind; how many fit worse, and how
    many have no grade.
    """

    name: str
    wanted: int
    chosen: tuple[Graded, ...]
    behind: tuple[Graded, ...]
    unfit: int
    ungraded: int

    @property
    def missing(self) -> int:
        return max(0, self.wanted - len(self.chosen))


def criteria_of_questions(collection: Collection) -> QuerySet[Criterion]:
    """Return the criteria under which this collection's questions are held against their categories."""
    return Criterion.objects.filter(study__collection=collection, task_type=TaskType.QUESTION_FIT).order_by("study")


def judges_of(collection: Collection) -> QuerySet[Rater]:
    """Return the judges that held this collection's questions against their categories, by name."""
    judged = Judgment.objects.filter(criterion__in=criteria_of_questions(collection))
    return Rater.objects.filter(kind=Rater.Kind.JUDGE, pk__in=judged.values("rater")).order_by("name")


def best_questions(
    criterion: Criterion, *, judge: Rater | None = None, each: int = EACH, others: Mapping[str, int] = OTHERS
) -> list[OfCategory]:
    """Return each category's best `each` questions, or as many as `others` says of it, by the mean of their grades.

    The grades are people's, without those who are excluded, or those of the judge. A mean below the criterion's
    threshold does not fit, so it is no seed. Of equal means, the one with more grades comes first, then the one that
    the collection has had longer. Raises NoSeeds.
    """
    said = as_said_unaided(Judgment.objects.filter(criterion=criterion).graded().without_the_excluded())
    said = said.filter(rater=judge) if judge else said.filter(rater__kind=Rater.Kind.ASSESSOR)
    rows = said.order_by().values("item__topic").annotate(mean=Avg("unaided_grade"), n=Count("pk"))
    grades = {row["item__topic"]: (row["mean"], row["n"]) for row in rows if row["mean"] is not None}
    if not grades:
        who = f"The judge {judge}" if judge else "Nobody"
        raise NoSeeds(f"{who} has not yet graded a question in “{criterion.study}”.")
    topics: dict[str, list[Topic]] = defaultdict(list)
    for topic in criterion.study.collection.topics.order_by("pk"):
        if may_be_seed(topic.attributes):
            topics[category_of(topic.attributes)].append(topic)
    if unknown := sorted(set(others) - set(topics) - set(CATEGORIES)):
        raise NoSeeds(f"No question has the category “{unknown[0]}”. There are {', '.join(sorted(topics))}.")
    return [_of_category(name, topics[name], grades, others.get(name, each), criterion) for name in _in_order(topics)]


def _in_order(names: Mapping[str, object]) -> list[str]:
    return [*(name for name in CATEGORIES if name in names), *sorted(set(names) - set(CATEGORIES))]


def _of_category(
    name: str, topics: Sequence[Topic], grades: Mapping[int, tuple[float, int]], wanted: int, criterion: Criterion
) -> OfCategory:
    graded = [Graded(topic, *grades[topic.pk]) for topic in topics if topic.pk in grades]
    fit = [one for one in graded if one.grade >= criterion.threshold]
    fit.sort(key=lambda one: (-one.grade, -one.n, one.topic.pk))
    return OfCategory(
        name, wanted, tuple(fit[:wanted]), tuple(fit[wanted:]), len(graded) - len(fit), len(topics) - len(graded)
    )


@transaction.atomic
def take_as_seeds(
    found: Sequence[OfCategory], criterion: Criterion, *, judge: Rater | None, by: User | None, at: datetime
) -> int:
    """Note of every question that may be a seed whether it is one, and by whose grades. Returns how many are."""
    topics = criterion.study.collection.topics.select_for_update().order_by("pk")
    may_be = [one for one in topics if may_be_seed(one.attributes)]
    chosen = {one.topic.pk for of_category in found for one in of_category.chosen}
    fit = {one.topic.pk: one for of_category in found for one in (*of_category.chosen, *of_category.behind)}
    making = {
        "study": criterion.study.name,
        "criterion": criterion.name,
        "threshold": criterion.threshold,
        "graded_by": judge.name if judge else "people",
        "chosen_by": by.username if by else "",
        "chosen_at": at.isoformat(),
    }
    for topic in may_be:
        graded = fit.get(topic.pk)
        of_this = making | ({"mean": graded.grade, "grades": graded.n} if graded else {})
        makings = topic.attributes.get(MAKING, {}) | {CHOSEN: of_this}
        topic.attributes = topic.attributes | {CHOSEN: topic.pk in chosen, MAKING: makings}
    Topic.objects.bulk_update(may_be, ["attributes"], batch_size=500)
    return sum(topic.pk in chosen for topic in may_be)


def sizes_in(lines: Sequence[str]) -> dict[str, int]:
    """Return how many of which category, of lines such as “subjective=7”. Raises NoSeeds."""
    found = {}
    for line in lines:
        name, _, number = (part.strip() for part in line.partition("="))
        if not name or not number.isdecimal() or len(number) > len("1000"):
            raise NoSeeds(f"“{line}” is not CATEGORY=NUMBER, such as subjective=7.")
        found[name] = int(number)
    return found
