"""Labels that a suggestion touched, and what people had said before: what measures a judge goes by the latter."""

from __future__ import annotations

from typing import Any

from django.db.models import Case, Exists, F, OuterRef, Q, QuerySet, Subquery, When

from collection.models import Arm, Criterion, Judgment, Suggestion

# Where a judge quoted no words there was nothing to verify, so nothing was shown.
SEEN = Q(shown_at__isnull=False) & ~Q(arm=Arm.NONE)


def own_grades(criterion: Criterion) -> dict[tuple[int, int], float | None]:
    """Return what people said of items before they saw a judge's grade, by item and rater.

    None where they saw the suggestion first, so that nobody knows what they would have said. Whoever saw none is not
    in it.
    """
    seen = Suggestion.objects.filter(SEEN, criterion=criterion)
    return {(item, rater): grade for item, rater, grade in seen.values_list("item_id", "rater_id", "own_grade")}


def as_said_unaided(judgments: QuerySet[Judgment]) -> QuerySet[Any]:
    """Annotate each with `unaided_grade`: what its rater had said before they saw a judge's grade, else its grade.

    Leaves out those of people who saw the suggestion first. Where millions are read, `own_grades` is quicker.
    """
    seen = Suggestion.objects.filter(
        SEEN, item=OuterRef("item"), criterion=OuterRef("criterion"), rater=OuterRef("rater")
    )
    before = Case(When(Exists(seen), then=Subquery(seen.values("own_grade")[:1])), default=F("grade"))
    return judgments.filter(~Exists(seen.filter(own_grade=None))).annotate(unaided_grade=before)


def without_the_aided(judgments: QuerySet[Judgment]) -> QuerySet[Judgment]:
    """Leave out labels that a suggestion came before, or that were changed after one."""
    same = Suggestion.objects.filter(item=OuterRef("item"), criterion=OuterRef("criterion"), rater=OuterRef("rater"))
    changed = Q(arm=Arm.AFTER, shown_at__isnull=False) & ~Q(own_grade=OuterRef("grade"))
    before = Q(arm__in=[Arm.VERIFY, Arm.POST_EDIT], shown_at__isnull=False)
    return judgments.filter(~Exists(same.filter(before | changed)))


def n_aided(criterion: Criterion) -> dict[str, int]:
    """Return how many labels there are by arm of what was seen, and how many of *after* were changed since."""
    seen = Suggestion.objects.filter(SEEN, criterion=criterion)
    labels = Judgment.objects.filter(
        criterion=criterion, item=OuterRef("item"), rater=OuterRef("rater"), grade__isnull=False
    )
    now = Subquery(labels.values("grade")[:1])
    rows = seen.filter(Exists(labels)).annotate(now=now).values_list("arm", "own_grade", "now")
    counts: dict[str, int] = {}
    for arm, own, now in rows:
        counts[arm] = counts.get(arm, 0) + 1
        if arm == Arm.AFTER and own != now:
            counts["changed"] = counts.get("changed", 0) + 1
    return counts
