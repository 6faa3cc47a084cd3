"""Which judges of some studies are unfinished or failing: the one answer behind pages, the API and commands.

A judge is expected to judge what people judged under its criterion; where people judged nothing there, what they judged
of the same task type; where nobody did, every item with a text. What is masked is expected of nobody. Of a study that
is split one part counts: the development part, unless the test part is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from django.db.models import Count, Exists, Model, OuterRef, Q, QuerySet

from collection.models import Criterion, Exclusion, Item, Judgment, Rater, RubricElement, Split, SplitTopic, Study
from stats.completeness import UNMARKED, Completeness

Part = SplitTopic.Part
Key = tuple[int, int]
M = TypeVar("M", bound=Model)


@dataclass(frozen=True)
class JudgesOfStudies:
    """How complete judges are, by primary keys of criterion and judge. Who judged nothing is not in it."""

    found: Mapping[Key, Completeness] = field(default_factory=dict)

    def of(self, criterion: int, judge: int, *, otherwise: Completeness = UNMARKED) -> Completeness:
        """Return how complete the judge is under the criterion, `otherwise` if it judged nothing there."""
        return self.found.get((criterion, judge), otherwise)

    def worst_of(self, judge: int) -> Completeness:
        """Return how complete the judge is where most is wrong with it."""
        everywhere = [one for (_, rater), one in self.found.items() if rater == judge]
        return max(everywhere, key=lambda one: (one.rank, one.missing, one.ungraded), default=UNMARKED)


def judges_of_studies(
    studies: QuerySet[Study] | Iterable[Study], *, part: SplitTopic.Part = Part.DEVELOPMENT
) -> JudgesOfStudies:
    """Return how complete the judges of these studies are, in at most ten queries, however many there are."""
    rows = _Rows(studies, part)
    replies = rows.replies()
    if not replies:
        return JudgesOfStudies()
    criteria = Criterion.objects.in_bulk({criterion for criterion, _ in replies})
    kinds = {pk: (one.study_id, one.task_type) for pk, one in criteria.items()}
    items, with_text = rows.items()
    own = rows.labelled("criterion")
    of_kind = rows.labelled("criterion__study", "criterion__task_type") if kinds.keys() - own.keys() else {}
    expected = {pk: own.get(pk) or of_kind.get(kind) or with_text.get(kind, 0) for pk, kind in kinds.items()}
    # Whoever judged every item judged what people judged; only of the others it is looked up.
    partial = {key for key, (n, _) in replies.items() if n < items.get(kinds[key[0]], 0)}
    both = rows.judged_by_both({key for key in partial if key[0] in own}, same_criterion=True)
    both |= rows.judged_by_both(
        {key for key in partial if key[0] not in own and kinds[key[0]] in of_kind}, same_criterion=False
    )
    found = {}
    for key, (n, ungraded) in replies.items():
        wanted = expected[key[0]]
        told = key[0] in own or kinds[key[0]] in of_kind
        judged = (both.get(key, 0) if told else n) if key in partial else wanted
        found[key] = Completeness(wanted, max(wanted - judged, 0), n, ungraded)
    return JudgesOfStudies(found)


class _Rows:
    """The counts that completeness is made of: of what is not masked, in one part of the studies that are split."""

    def __init__(self, studies: QuerySet[Study] | Iterable[Study], part: SplitTopic.Part) -> None:
        within: Any = studies.order_by().values("pk") if isinstance(studies, QuerySet) else [one.pk for one in studies]
        self.studies = within
        self.part = part
        self.split = Split.objects.filter(study__in=self.studies).exists()
        # Looked up for each judgment only where there is something to leave out.
        self.excluded = Exclusion.objects.filter(study__in=self.studies, lifted_at=None).exists()
        masked = RubricElement.objects.filter(masked=True, topic__collection__studies__in=self.studies)
        self.masked = masked.exists()

    def replies(self) -> dict[Key, tuple[int, int]]:
        """Return by criterion and judge how many items it judged, and how many of them it left ungraded."""
        counts = self._judgments(Rater.Kind.JUDGE).values_list("criterion", "rater")
        rows = counts.annotate(n=Count("pk"), ungraded=Count("pk", filter=Q(grade=None))).order_by()
        return {(criterion, judge): (n, ungraded) for criterion, judge, n, ungraded in rows}

    def items(self) -> tuple[dict[Any, int], dict[Any, int]]:
        """Return how many items there are by study and task type, and how many of them have a text."""
        items = Item.objects.filter(study__in=self.studies).exclude(element__masked=True)
        without = Q(passage__isnull=False, passage__text__isnull=True)
        counts = self._of_part(items, "study", "topic").values_list("study", "task_type").order_by()
        rows = list(counts.annotate(n=Count("pk"), textless=Count("pk", filter=without)))
        return (
            {(study, kind): n for study, kind, n, _ in rows},
            {(study, kind): n - textless for study, kind, n, textless in rows},
        )

    def labelled(self, *by: str) -> dict[Any, int]:
        """Return how many items people graded, by these fields."""
        counts = (
            self._judgments(Rater.Kind.ASSESSOR)
            .filter(grade__isnull=False)
            .values_list(*by)
            .annotate(n=Count("item", distinct=True))
        )
        return {tuple(key) if len(key) > 1 else key[0]: n for *key, n in counts.order_by()}

    def judged_by_both(self, keys: set[Key], *, same_criterion: bool) -> dict[Key, int]:
        """Return how many of the items that people judged these judges judged, by criterion and judge."""
        if not keys:
            return {}
        under = {"criterion": OuterRef("criterion")} if same_criterion else {}
        labels = Judgment.objects.filter(**under, item=OuterRef("item"), rater__kind=Rater.Kind.ASSESSOR)
        judged = self._judgments(Rater.Kind.JUDGE).filter(
            Exists(labels.without_the_excluded().graded()),
            criterion__in={criterion for criterion, _ in keys},
            rater__in={judge for _, judge in keys},
        )
        counts = judged.values_list("criterion", "rater").annotate(n=Count("pk")).order_by()
        return {(criterion, judge): n for criterion, judge, n in counts if (criterion, judge) in keys}

    def _judgments(self, kind: str) -> QuerySet[Judgment]:
        judgments = Judgment.objects.filter(criterion__study__in=self.studies, rater__kind=kind)
        if self.excluded:
            judgments = judgments.without_the_excluded()
        if self.masked:
            judgments = judgments.exclude(item__element__masked=True)
        return self._of_part(judgments, "criterion__study", "item__topic")

    def _of_part(self, rows: QuerySet[M], study: str, topic: str) -> QuerySet[M]:
        if not self.split:
            return rows
        placed = SplitTopic.objects.filter(split__study=OuterRef(study), topic=OuterRef(topic), part=self.part)
        return rows.filter(Exists(placed) | ~Exists(Split.objects.filter(study=OuterRef(study))))
