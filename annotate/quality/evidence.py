"""What a study's people did, read in bulk: grades in order, time, agreement; and the flags that follow from it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from django.db.models import Count, F, Q, Value
from django.db.models.functions import Coalesce, Length

from annotate.models import Assignment, AttentionAnswer
from annotate.quality import flags
from annotate.quality.attention import failures_that_count
from annotate.quality.flags import Agreement, Flag, Line, WorkPace
from annotate.quality.gold import GoldScore, gold_scores
from annotate.quality.pasting import pasted_by_rater
from annotate.sessions.offers import announced_minutes, rules_of
from collection.models import Criterion, Exclusion, Judgment, Rater, Scale, Study


@dataclass
class Work:
    """What one rater did. Seconds are active time; grades stand in the order in which they were given.

    `readings` are texts with all the time spent on them, whatever number of tasks asked about each.
    """

    grades: dict[int, list[float]] = field(default_factory=lambda: defaultdict(list))
    item_seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    readings: list[flags.Reading] = field(default_factory=list)
    judgments: int = 0
    ungraded: int = 0
    submitted: int = 0
    attention_asked: int = 0
    attention_failed: int = 0
    pasted: list[tuple[int, int]] = field(default_factory=list)
    gold: GoldScore | None = None


@dataclass(frozen=True)
class Evidence:
    """The work of every rater of a study, by the rater's key, and how far each two agree.

    `pairs` holds each two raters once, lower key first; `readers` by rater how many others graded an item of theirs, on
    average over those that somebody else graded. Excluded raters are compared with the others, but nobody
    is compared with them.
    """

    criteria: Mapping[int, Criterion]
    work: Mapping[int, Work]
    pairs: Mapping[tuple[int, int], Agreement]
    readers: Mapping[int, float]
    excluded: frozenset[int]
    pass_mark: float
    failures_that_count: int

    def others_than(self, rater: int) -> list[int]:
        """Return the raters with whom this one is compared."""
        return [other for other in self.work if other != rater and other not in self.excluded]

    @cached_property
    def agreements(self) -> Mapping[int, Mapping[int, Agreement]]:
        """Each rater's agreement with each other who counts, by the two keys."""
        found: defaultdict[int, dict[int, Agreement]] = defaultdict(dict)
        for (a, b), agreement in self.pairs.items():
            if b not in self.excluded:
                found[a][b] = agreement
            if a not in self.excluded:
                found[b][a] = agreement
        return dict(found)

    @cached_property
    def agreement(self) -> Mapping[int, Agreement]:
        """Each rater's agreement with all others who count, weighted by their pairs."""
        pooled = {rater: flags.pooled(with_each.values()) for rater, with_each in self.agreements.items()}
        return {rater: agreement for rater, agreement in pooled.items() if agreement}

    @cached_property
    def paces(self) -> Mapping[int, Mapping[str, WorkPace]]:
        """Each rater's pace in each task type that they did."""
        return {
            rater: {task_type: WorkPace(seconds) for task_type, seconds in work.item_seconds.items()}
            for rater, work in self.work.items()
        }

    @cached_property
    def odd_texts(self) -> Mapping[int, tuple[int, int]]:
        """How many texts each rater read faster than anybody reads, and of how many."""
        return {rater: flags.texts_read_too_fast(work.readings) for rater, work in self.work.items()}

    @cached_property
    def lines(self) -> Mapping[int, Mapping[int, Line]]:
        """Each rater's grades under each criterion, summed up."""
        return {
            rater: {criterion: flags.line_of(grades) for criterion, grades in work.grades.items()}
            for rater, work in self.work.items()
        }

    def flags_of(self, rater: int) -> list[Flag]:
        """Return what deserves a look in this rater's work, the time first. Nothing for one who did none."""
        if rater not in self.work:
            return []
        own, others = self.work[rater], self.others_than(rater)
        texts = [self.odd_texts[other] for other in others]
        found = [
            *(
                flags.too_fast(pace, [self.paces[o][task_type] for o in others if task_type in self.paces[o]])
                for task_type, pace in self.paces[rater].items()
            ),
            flags.reads_too_fast(own.readings, others=sum(odd for odd, _ in texts), of=sum(n for _, n in texts)),
            *(
                flags.straight_line(
                    line,
                    [self.lines[o][criterion] for o in others if criterion in self.lines[o]],
                    grades=len(self.criteria[criterion].scale.points),
                    criterion=self.criteria[criterion].name,
                )
                for criterion, line in self.lines[rater].items()
            ),
            flags.disagrees(
                self.agreement.get(rater),
                [self.agreement[o] for o in others if o in self.agreement],
                readers=self.readers.get(rater, 1.0),
            ),
            flags.failed_attention(own.attention_failed, own.attention_asked, counts_from=self.failures_that_count),
            flags.pasted_text(own.pasted, own.submitted),
            flags.low_gold(own.gold.right, own.gold.n, pass_mark=self.pass_mark) if own.gold else None,
        ]
        return [flag for flag in found if flag]


def evidence_of(study: Study) -> Evidence:
    """Read the work of all people of a study, in a number of queries that does not grow with it."""
    criteria = {criterion.pk: criterion for criterion in study.criteria.select_related("scale")}
    work: defaultdict[int, Work] = defaultdict(Work)
    pairs, readers = _read_judgments(criteria, work)
    _read_assignments(study, work)
    _read_attention(study, work)
    for rater, times, characters in pasted_by_rater(study):
        work[rater].pasted.append((times, characters))
    for rater, score in gold_scores(study).items():
        if rater in work:
            work[rater].gold = score
    rules = rules_of(study)
    excluded = Exclusion.objects.filter(study=study, lifted_at=None).values_list("rater_id", flat=True)
    return Evidence(
        criteria=criteria,
        work=dict(work),
        pairs=pairs,
        readers=readers,
        excluded=frozenset(excluded),
        pass_mark=rules.pass_mark,
        failures_that_count=failures_that_count(announced_minutes(study)),
    )


def _read_judgments(
    criteria: Mapping[int, Criterion], work: defaultdict[int, Work]
) -> tuple[dict[tuple[int, int], Agreement], dict[int, float]]:
    rows = (
        Judgment.objects.filter(criterion__in=list(criteria), rater__kind=Rater.Kind.ASSESSOR)
        .order_by("judged_at", "pk")
        .values_list("rater_id", "criterion_id", "item_id", "grade", "seconds")
    )
    seconds_on: defaultdict[tuple[int, int], float] = defaultdict(float)
    ratings: defaultdict[int, defaultdict[int, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    type_of_item: dict[int, str] = {}
    for rater, criterion, item, grade, seconds in rows.iterator(chunk_size=10_000):
        work[rater].judgments += 1
        if grade is None:
            work[rater].ungraded += 1
        else:
            work[rater].grades[criterion].append(grade)
            ratings[criterion][item][rater] = grade
        if seconds is not None:
            seconds_on[rater, item] += seconds
            type_of_item[item] = criteria[criterion].task_type
    for (rater, item), seconds in seconds_on.items():
        work[rater].item_seconds[type_of_item[item]].append(seconds)
    by_criterion = [
        flags.pairwise_agreement(by_item.values(), width=width_of(criteria[criterion].scale))
        for criterion, by_item in ratings.items()
    ]
    every = {pair for agreements in by_criterion for pair in agreements}
    pooled = {pair: flags.pooled(one[pair] for one in by_criterion if pair in one) for pair in every}
    return {pair: agreement for pair, agreement in pooled.items() if agreement}, _readers(ratings)


def _readers(ratings: Mapping[int, Mapping[int, Mapping[int, float]]]) -> dict[int, float]:
    others: defaultdict[int, list[int]] = defaultdict(list)
    for by_item in ratings.values():
        for grades in by_item.values():
            if len(grades) > 1:
                for rater in grades:
                    others[rater].append(len(grades) - 1)
    return {rater: sum(counts) / len(counts) for rater, counts in others.items()}


def width_of(scale: Scale) -> float | None:
    """Return the distance between a scale's ends, None where grades have no order."""
    return None if scale.level == Scale.Level.NOMINAL else max(scale.values) - min(scale.values)


def _read_assignments(study: Study, work: defaultdict[int, Work]) -> None:
    characters = Coalesce(Length("task__report__text"), Value(0)) + Coalesce(Length("task__passage__text"), Value(0))
    rows = Assignment.objects.filter(task__study=study, state=Assignment.State.SUBMITTED).annotate(length=characters)
    read: defaultdict[int, dict[tuple[int | None, int | None], tuple[int, float]]] = defaultdict(dict)
    values = ("rater_id", "active_seconds", "length", "task__report_id", "task__passage_id")
    for rater, seconds, length, report, passage in rows.values_list(*values):
        work[rater].submitted += 1
        if length:
            _, before = read[rater].get((report, passage), (0, 0.0))
            read[rater][report, passage] = (length, before + seconds)
    for rater, texts in read.items():
        work[rater].readings = list(texts.values())


def _read_attention(study: Study, work: defaultdict[int, Work]) -> None:
    rows = (
        AttentionAnswer.objects.filter(check_asked__study=study, user__rater__isnull=False)
        .values(rater=F("user__rater"))
        .annotate(asked=Count("pk"), failed=Count("pk", filter=Q(passed=False)))
    )
    for row in rows:
        work[row["rater"]].attention_asked = row["asked"]
        work[row["rater"]].attention_failed = row["failed"]
