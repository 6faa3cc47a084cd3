"""What stands in a collection, counted and listed for its pages."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from collection.models import (
    Collection,
    Criterion,
    Judgment,
    Masking,
    Passage,
    RankedPassage,
    Rater,
    Report,
    RubricElement,
    Run,
    Topic,
)
from collection.models.studies import TaskType

MOST_PASSAGES = 50
KIND_NAMES = {
    RubricElement.Kind.SUB_QUESTION.value: "sub-questions",
    RubricElement.Kind.NUGGET.value: "nuggets",
    RubricElement.Kind.KEY_POINT.value: "key points",
}


MOST_NAMES = 3


@dataclass(frozen=True)
class HeldJudgments:
    """What raters of one kind and origin judged under a criterion; `n_ungraded` of it without a readable grade."""

    criterion: Criterion
    raters: tuple[Rater, ...]
    n: int
    n_ungraded: int

    @property
    def origin(self) -> str:
        """Where the judgments came from, in words."""
        return str(self.raters[0].get_origin_display())

    @property
    def unit(self) -> str:
        """What the raters are called together."""
        return "judges" if self.raters[0].kind == Rater.Kind.JUDGE else "assessors"

    @property
    def names(self) -> list[str]:
        """The names of the first raters; how many others there are, `n_others` says."""
        return [rater.name for rater in self.raters[:MOST_NAMES]]

    @property
    def n_others(self) -> int:
        return len(self.raters[MOST_NAMES:])


def judgments_held(collection: Collection) -> list[HeldJudgments]:
    """Return the collection's judgments by criterion and by who gave them, people before judges."""
    criteria = {
        one.pk: one
        for one in Criterion.objects.filter(study__collection=collection)
        .select_related("study")
        .order_by("study__name", "position", "pk")
    }
    counted = (
        Judgment.objects.filter(criterion__in=list(criteria))
        .order_by()
        .values_list("criterion", "rater")
        .annotate(n=Count("pk"), n_ungraded=Count("pk", filter=~Q(ungraded="")))
    )
    rows = list(counted)
    raters = Rater.objects.in_bulk({row[1] for row in rows})
    found: dict[tuple[int, str, str], list[tuple[Rater, int, int]]] = defaultdict(list)
    for criterion, rater, n, n_ungraded in rows:
        who = raters[rater]
        found[criterion, who.kind, who.origin].append((who, n, n_ungraded))
    return [
        HeldJudgments(
            criteria[key[0]],
            tuple(who for who, _, _ in sorted(some, key=lambda one: one[0].name)),
            sum(n for _, n, _ in some),
            sum(n for _, _, n in some),
        )
        for criterion in criteria
        for key, some in sorted(found.items())
        if key[0] == criterion
    ]


def count_of(rows: QuerySet[Any], key: str) -> Coalesce:
    """Return the number of rows whose `key` is the outer row: one subquery, no join that multiplies."""
    counted = rows.filter(**{key: OuterRef("pk")}).order_by().values(key).annotate(count=Count("pk"))
    return Coalesce(Subquery(counted.values("count")), Value(0))


def collections_with_counts(collections: QuerySet[Collection]) -> QuerySet[Collection]:
    """Add the numbers of topics, passages and runs."""
    return collections.select_related("owner").annotate(
        topic_count=count_of(Topic.objects.all(), "collection"),
        passage_count=count_of(Passage.objects.all(), "collection"),
        run_count=count_of(Run.objects.all(), "collection"),
    )


def counts(collection: Collection) -> list[tuple[str, int]]:
    """Return how much of what there is, for a list of figures."""
    topics = Topic.objects.filter(collection=collection)
    kinds = RubricElement.objects.filter(topic__collection=collection, masked=False).order_by()
    elements = dict(kinds.values_list("kind").annotate(count=Count("pk")))
    return [
        ("topics", topics.count()),
        *((name, elements[kind]) for kind, name in KIND_NAMES.items() if kind in elements),
        ("passages", Passage.objects.filter(collection=collection).count()),
        ("runs", Run.objects.filter(collection=collection).count()),
        ("reports", Report.objects.filter(run__collection=collection).count()),
    ]


def topics_with_counts(collection: Collection) -> QuerySet[Topic]:
    """Add the numbers of rubric elements that are asked, and of reports."""
    return Topic.objects.filter(collection=collection).annotate(
        element_count=count_of(RubricElement.objects.filter(masked=False), "topic"),
        report_count=count_of(Report.objects.all(), "topic"),
    )


def runs_with_counts(collection: Collection) -> QuerySet[Any]:
    """Add the numbers of reports and of ranked passages."""
    return (
        Run.objects.filter(collection=collection)
        .select_related("system", "made_from")
        .annotate(
            report_count=count_of(Report.objects.all(), "run"),
            ranked_count=count_of(RankedPassage.objects.all(), "run"),
        )
    )


def studies_with_counts(collection: Collection) -> QuerySet[Any]:
    """Add the number of judgments, and whether people write answers."""
    writing = Criterion.objects.filter(study=OuterRef("pk"), task_type=TaskType.WRITTEN_ANSWER)
    return collection.studies.annotate(
        judgment_count=count_of(Judgment.objects.all(), "criterion__study"), has_written_answers=Exists(writing)
    )


def elements_by_kind(topic: Topic) -> list[tuple[str, list[RubricElement]]]:
    """Return the topic's rubric elements with their spans, under the name of each kind that it has."""
    elements = list(topic.rubric_elements.select_related("masking").prefetch_related("spans__passage"))
    kinds = [(KIND_NAMES[kind], [one for one in elements if one.kind == kind]) for kind in KIND_NAMES]
    return [(name, found) for name, found in kinds if found]


def maskings_of(topic: Topic) -> QuerySet[Masking]:
    """Return what was decided about the topic's elements since their import, the newest first."""
    return Masking.objects.filter(element__topic=topic).select_related("element", "decided_by")


def ranking_of(run: Run, topic: Topic) -> list[tuple[RankedPassage, Passage | None]]:
    """Return the first passages of the run's ranking, each with its text as far as it is held."""
    ranked = list(RankedPassage.objects.filter(run=run, topic=topic).order_by("rank", "id")[:MOST_PASSAGES])
    texts = Passage.objects.filter(collection=topic.collection_id, passage_id__in=[row.passage_id for row in ranked])
    held = {passage.passage_id: passage for passage in texts}
    return [(row, held.get(row.passage_id)) for row in ranked]


def runs_that_rank(topic: Topic) -> QuerySet[Run]:
    """Return the runs with a ranking for the topic."""
    return Run.objects.filter(pk__in=RankedPassage.objects.filter(topic=topic).values("run")).order_by(F("name"))
