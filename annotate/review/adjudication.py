"""Where people disagree, and what a third person decides who sees both sides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, F, Max, Min, OuterRef, Q, QuerySet
from django.http import Http404

from annotate.models import Enrolment, Place, Task
from annotate.review.texts import texts_beside
from collection.accounts.access import StillAssesses, study_of
from collection.hidden_order import hidden_order
from collection.judgments.services import check_grade
from collection.models import Adjudication, Comment, Criterion, Item, Judgment, Rater, Study, User
from collection.texts.highlights import Piece, pieces_of
from stats.overviews_in_words import people_disagree

# What an item's text and question are read of.
TEXTS = ("topic", "element", "report", "other_report", "passage", "answer_to_revise", "sentence")


class JudgedItThemselves(Exception):
    """Whoever judged an item is a side in its disagreement, not the third person."""


@dataclass(frozen=True)
class Disagreement:
    """An item that people grade differently under a criterion. `spread` is highest minus lowest grade.

    `unsure` of the grades are marked as not sure.
    """

    item: Item
    criterion: Criterion
    grades: Sequence[float]
    crosses_threshold: bool
    decided: Adjudication | None
    unsure: int = 0

    @property
    def spread(self) -> float:
        return max(self.grades) - min(self.grades)

    @property
    def names(self) -> str:
        """What the criterion's scale calls the lowest and the highest of the grades."""
        points = [self.criterion.scale.point(grade) for grade in (self.grades[0], self.grades[-1])]
        return " or ".join(point["name"] for point in points if point)


@dataclass(frozen=True)
class DisputedItem:
    """An item with the criteria under which people disagree about it."""

    item: Item
    disagreements: Sequence[Disagreement]

    @property
    def first(self) -> Disagreement:
        """Where to begin: what nobody decided yet, if something is left."""
        return next((one for one in self.disagreements if one.decided is None), self.disagreements[0])

    @property
    def text_name(self) -> str:
        """The title or the beginning of the text that was judged."""
        return (self.item.passage.title if self.item.passage else "") or self.item.judged_text.text or ""


@dataclass(frozen=True)
class Voice:
    """What somebody said, and what they are called beside it."""

    who: str
    said: Judgment | Comment


@dataclass(frozen=True)
class Side:
    """Those who gave the same grade, by the letter that marks what they highlighted."""

    letter: str
    grade: float
    name: str
    voices: Sequence[Voice]

    @property
    def judgments(self) -> list[Judgment]:
        return [voice.said for voice in self.voices if isinstance(voice.said, Judgment)]


@dataclass(frozen=True)
class Case:
    """All that the third person sees of one disagreement."""

    item: Item
    criterion: Criterion
    sides: Sequence[Side]
    pieces: Sequence[Piece]
    beside: Sequence[tuple[str, str]]
    comments: Sequence[Voice]
    decided: Adjudication | None
    named: bool

    @property
    def crosses_threshold(self) -> bool:
        grades = [side.grade for side in self.sides]
        return bool(grades) and min(grades) < self.criterion.threshold <= max(grades)


# --- Where people disagree ----------------------------------------------------------------------


def people_s_judgments(study: Study) -> QuerySet[Judgment]:
    """Grades by people that count: given here or imported, and not excluded."""
    judgments = Judgment.objects.of_study(study).graded().without_the_excluded()
    return judgments.filter(rater__kind=Rater.Kind.ASSESSOR)


def find_disagreements(
    study: Study,
    *,
    across_threshold: bool,
    undecided: bool,
    by: User | None = None,
    first: int = 0,
    most: int = 50,
) -> tuple[list[Disagreement], int]:
    """Return some of the items on which people disagree, the widest first, and how many there are.

    `across_threshold` leaves out those where all grades are positive or none is; `undecided` those that
    are adjudicated; `by` those about which this person may still be asked.
    """
    pairs = _pairs(study, across_threshold=across_threshold, undecided=undecided, by=by)
    return _as_disagreements(study, pairs[first : first + most]), len(pairs)


def find_disputed_items(
    study: Study,
    *,
    across_threshold: bool,
    undecided: bool,
    by: User | None = None,
    first: int = 0,
    most: int = 50,
) -> tuple[list[DisputedItem], int]:
    """Return some of the items on which people disagree, each once with its criteria, and how many they are."""
    by_item: dict[int, list[tuple[int, int]]] = {}
    for pair in _pairs(study, across_threshold=across_threshold, undecided=undecided, by=by):
        by_item.setdefault(pair[0], []).append(pair)
    shown = list(by_item.values())[first : first + most]
    found = iter(_as_disagreements(study, [pair for pairs in shown for pair in pairs]))
    disputed = [[next(found) for _ in pairs] for pairs in shown]
    return [DisputedItem(some[0].item, some) for some in disputed], len(by_item)


def neighbours(case: Case, *, by: User) -> tuple[tuple[int, str] | None, tuple[int, str] | None]:
    """Return what this person sees before and after this disagreement, decided or not: item and criterion, or None."""
    study = case.item.study
    pairs = _pairs(study, across_threshold=case.crosses_threshold, undecided=False, by=by)
    here = (case.item.pk, case.criterion.pk)
    if here not in pairs:
        return None, None
    names = dict(study.criteria.values_list("pk", "name"))
    at = pairs.index(here)
    before, after = pairs[at - 1 : at] if at else [], pairs[at + 1 : at + 2]
    return tuple((one[0][0], names[one[0][1]]) if one else None for one in (before, after))  # type: ignore[return-value]


def count_disagreements(study: Study) -> int:
    """Count the items and criteria on which people disagree about yes or no, and that nobody has decided."""
    return _disagreeing(study, across_threshold=True, undecided=True).count()


def disagreement_in_words(study: Study) -> str:
    """Say how often people disagree about yes or no, over everything that two of them judged."""
    judged = people_s_judgments(study).exclude(item__element__masked=True).order_by()
    shared = judged.values("item__pk", "criterion__pk").annotate(n=Count("pk")).filter(n__gte=2).count()
    across = _disagreeing(study, across_threshold=True, undecided=False).count()
    return people_disagree(shared, across, count_disagreements(study))


def _pairs(study: Study, *, across_threshold: bool, undecided: bool, by: User | None) -> list[tuple[int, int]]:
    """Return the items and criteria with different grades, the widest apart first."""
    found = _disagreeing(study, across_threshold=across_threshold, undecided=undecided)
    if by is not None:
        found = found.filter(item__in=items_shown_to(by, study))
    rows = found.order_by(F("lowest") - F("highest"), "item__pk", "criterion__pk")
    return list(rows.values_list("item__pk", "criterion__pk"))


def _disagreeing(study: Study, *, across_threshold: bool, undecided: bool) -> QuerySet[Judgment, Any]:
    found = (
        people_s_judgments(study)
        .exclude(item__element__masked=True)
        .values("item__pk", "criterion__pk")
        .annotate(lowest=Min("grade"), highest=Max("grade"), n=Count("pk"))
        .filter(highest__gt=F("lowest"))
    )
    if across_threshold:
        found = found.filter(lowest__lt=F("criterion__threshold"), highest__gte=F("criterion__threshold"))
    if undecided:
        decided = Adjudication.objects.filter(
            item=OuterRef("item"), criterion=OuterRef("criterion"), superseded_at=None
        )
        found = found.filter(~Exists(decided))
    return found


def items_shown_to(user: User, study: Study) -> QuerySet[Item]:
    """Return the items of which the person may see what others said: those about which nobody will ask them."""
    assessed = Study.objects.assessed_by(user).filter(pk=OuterRef("study"))
    judged = Judgment.objects.filter(item=OuterRef("pk"), rater__user=user)
    open_places = Place.objects.filter(Q(holder=None) | Q(holder__user=user), task__items=OuterRef("pk"))
    everyones = Task.objects.filter(items=OuterRef("pk"), everyone=True)
    asked_nowhere = ~(Exists(open_places) | Exists(everyones))
    return Item.objects.filter(~Exists(assessed) | Exists(judged) | asked_nowhere, study=study)


def _as_disagreements(study: Study, pairs: Sequence[tuple[int, int]]) -> list[Disagreement]:
    items = Item.objects.select_related(*TEXTS).in_bulk({item for item, _ in pairs})
    criteria = {criterion.pk: criterion for criterion in study.criteria.select_related("scale")}
    grades: dict[tuple[int, int], list[float]] = {pair: [] for pair in pairs}
    n_unsure: Counter[tuple[int, int]] = Counter()
    judgments = people_s_judgments(study).filter(item__in=items).order_by("grade")
    for item, criterion, grade, unsure in judgments.values_list("item__pk", "criterion__pk", "grade", "unsure"):
        if grade is not None and (item, criterion) in grades:
            grades[item, criterion].append(grade)
            n_unsure[item, criterion] += unsure
    decided = {
        (one.item_id, one.criterion_id): one
        for one in Adjudication.objects.filter(item__in=items, superseded_at=None).select_related("rater")
    }
    return [
        Disagreement(
            item=items[item],
            criterion=criteria[criterion],
            grades=grades[item, criterion],
            crosses_threshold=grades[item, criterion][0] < criteria[criterion].threshold <= grades[item, criterion][-1],
            decided=decided.get((item, criterion)),
            unsure=n_unsure[item, criterion],
        )
        for item, criterion in pairs
    ]


# --- One of them --------------------------------------------------------------------------------


def case_of(item: Item, criterion: Criterion, *, named: bool = False) -> Case:
    """Return the sides of a disagreement with what each highlighted, and what was said of the item.

    Who said what is told where it is `named`; else people are numbered, in an order that tells nothing.
    """
    judgments = list(
        people_s_judgments(item.study)
        .filter(item=item, criterion=criterion)
        .select_related("rater", "answer")
        .prefetch_related("highlights")
        .order_by("grade", "rater__name")
    )
    comments = list(item.comments.select_related("rater"))
    people = {said.rater_id: said.rater.name for said in judgments} | {one.rater_id: one.rater.name for one in comments}
    if not named:
        shuffled = sorted(people, key=lambda rater: hidden_order("item", item.pk, rater))
        people = {rater: f"Person {number}" for number, rater in enumerate(shuffled, start=1)}
    sides = []
    for number, grade in enumerate(dict.fromkeys(one.grade for one in judgments if one.grade is not None)):
        point = criterion.scale.point(grade)
        same = [Voice(people[one.rater_id], one) for one in judgments if one.grade == grade]
        same.sort(key=lambda voice: voice.who)
        sides.append(Side(chr(ord("A") + number % 26), grade, point["name"] if point else f"{grade:g}", same))
    return Case(
        item=item,
        criterion=criterion,
        sides=sides,
        pieces=list(pieces_of(item.judged_text.text or "", marks_of(sides))),
        beside=texts_beside(item),
        comments=[Voice(people[one.rater_id], one) for one in comments],
        decided=Adjudication.objects.filter(item=item, criterion=criterion, superseded_at=None)
        .select_related("rater")
        .first(),
        named=named,
    )


def sees_names(study: Study, user: User) -> bool:
    """Whether this person is told who said what: a researcher of the study, where the study wants it."""
    return study.named_adjudication and Study.objects.of(user).filter(pk=study.pk).exists()


def marks_of(sides: Iterable[Side]) -> Iterator[tuple[int | None, int | None, str]]:
    """Yield every highlight with the letter of its side."""
    for side in sides:
        for judgment in side.judgments:
            for highlight in judgment.highlights.all():
                yield highlight.start, highlight.end, side.letter


# --- The decision -------------------------------------------------------------------------------


@transaction.atomic
def adjudicate(
    *, item: Item, criterion: Criterion, rater: Rater, grade: float, note: str = "", at: datetime
) -> Adjudication:
    """Put a third person's grade in force; an earlier one is kept. Raises GradeNotOnScale and JudgedItThemselves."""
    check_grade(grade, criterion)
    if Judgment.objects.filter(item=item, criterion=criterion, rater=rater).exists():
        raise JudgedItThemselves("You judged this item yourself, so somebody else must decide.")
    in_force = Adjudication.objects.select_for_update().filter(item=item, criterion=criterion, superseded_at=None)
    earlier = in_force.first()
    if earlier and (earlier.grade, earlier.note, earlier.rater_id) == (grade, note, rater.pk):
        return earlier
    in_force.update(superseded_at=at)
    return Adjudication.objects.create(
        item=item, criterion=criterion, rater=rater, grade=grade, note=note, decided_at=at
    )


def study_to_adjudicate(user: User, name: str) -> Study:
    """Return the study in which the user was asked to adjudicate, or whose labels they read as its researcher.

    Raises Http404 and StillAssesses.
    """
    try:
        return study_of(user, name)
    except (Http404, StillAssesses):
        asked = Enrolment.objects.filter(study__name=name, user=user, left_at=None, adjudicates=True)
        enrolment = asked.select_related("study__collection").first()
        if enrolment is None:
            raise
        return enrolment.study
