"""Versions of a prompt and other judges side by side, on the development part: how far each agrees with people.

The test part is never looked at here. A study without a split has its figures over all topics, but no item is shown.
Agreement is with people's majority, ties to the lower grade as everywhere; the items on which people tie are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from django.db.models import QuerySet

from collection.completeness import judges_of_studies
from collection.models import Criterion, Item, Judgment, Scale, Study
from collection.models.studies import TaskType
from judging.data.human_labels import development_topics, grades_of_people, majorities, tied, topics_to_compare
from judging.data.selection import items_asked, without_text
from judging.models import Completion, Judge
from judging.prompts.pairwise import PositionBias, position_bias
from stats.agreement.coefficients import cohen_kappa, pair_differences
from stats.completeness import Completeness, complete_first
from stats.intervals import Estimate
from stats.overviews_in_words import most_alike
from stats.ratings import pairs_of_codes
from stats.share_intervals import Interval, ShareDifference, bounds, difference_by_topic, share_by_topic

DIFFERENCES_SHOWN = 50


@dataclass(frozen=True)
class JudgeFigures:
    """A judge on the labelled items of the development part. Shares and κ are None where nothing tells them.

    `agreeing` is a count among `judged`: an ungraded reply agrees with nobody. κ is over graded items alone,
    with quadratic weights where the scale has an order. `share` is the agreement with its interval over topics.
    """

    judge: Judge
    labelled: int
    judged: int
    ungraded: int
    agreeing: int
    kappa: float | None
    mean_difference: float | None
    bias: PositionBias | None
    missing: int
    share: Estimate
    completeness: Completeness

    @property
    def ungraded_share(self) -> float | None:
        return self.ungraded / self.judged if self.judged else None

    @property
    def agreement(self) -> float | None:
        return self.agreeing / self.judged if self.judged else None

    @property
    def agreement_interval(self) -> Interval | None:
        return bounds(self.share)


@dataclass(frozen=True)
class Comparison:
    """All judges that fit a criterion, on its development part. `tied` of the labelled items are ties among people.

    `development`: whether there is such a part; without a split these are all topics. `commonest`: the share of the
    labels that have the most frequent grade.
    """

    criterion: Criterion
    development: bool
    topics: int
    items: int
    labelled: int
    tied: int
    commonest: float
    figures: list[JudgeFigures]

    @property
    def answer(self) -> str:
        """Which judge says most often what people's majority says, in a sentence."""
        finished = {row.judge.name: row.share for row in self.figures if not row.completeness.mark}
        return most_alike(finished, commonest=self.commonest, n_marked=len(self.figures) - len(finished))


@dataclass(frozen=True)
class Difference:
    """An item on which two judges differ: each one's grade, or the kind of ungraded, and raw reply, beside people's."""

    item: Item
    people: list[float]
    majority: float | None
    said: list[tuple[str, str]]


def compare(criterion: Criterion) -> Comparison:
    """Compare all judges that fit the criterion, in queries that do not grow with its items."""
    topics, development = topics_to_compare(criterion.study)
    asked = _asked(criterion, topics)
    people = grades_of_people(criterion, topics=topics)
    labels = majorities(people)
    judges = list(
        Judge.objects.fitting(criterion)
        .select_related("template", "rater")
        .order_by("template__name", "template__version", "name")
    )
    said = _grades_of_judges(criterion, judges, topics)
    items = asked.count()
    of_topic = _topics_of_items(criterion, topics)
    completeness = judges_of_studies([criterion.study])
    return Comparison(
        criterion=criterion,
        development=development,
        topics=len(topics),
        items=items,
        labelled=len(labels),
        tied=len(tied(people)),
        commonest=max(Counter(labels.values()).values(), default=0) / max(len(labels), 1),
        figures=complete_first(
            (  # the order of templates stays among equals
                figures_of(
                    judge,
                    labels,
                    said.get(judge.rater_id, {}),
                    scale=criterion.scale,
                    items=items,
                    topics=of_topic,
                    bias=_bias(judge, criterion, topics),
                    completeness=completeness.of(
                        criterion.pk, judge.rater_id, otherwise=Completeness(len(labels), len(labels), 0, 0)
                    ),
                )
                for judge in judges
            ),
            of=lambda row: row.completeness,
        ),
    )


def figures_of(
    judge: Judge,
    labels: Mapping[int, float],
    said: Mapping[int, float | None],
    *,
    scale: Scale,
    items: int,
    topics: Mapping[int, int],
    completeness: Completeness,
    bias: PositionBias | None = None,
) -> JudgeFigures:
    """Return the figures of one judge from people's majorities and its own grades, by item; None is ungraded."""
    both = [(labels[item], grade) for item, grade in said.items() if item in labels]
    graded = [(label, grade) for label, grade in both if grade is not None]
    return JudgeFigures(
        judge=judge,
        labelled=len(labels),
        judged=len(both),
        ungraded=len(both) - len(graded),
        agreeing=sum(label == grade for label, grade in graded),
        kappa=kappa_of(graded, scale),
        mean_difference=sum(grade - label for label, grade in graded) / len(graded) if graded else None,
        bias=bias,
        completeness=completeness,
        missing=max(items - len(said), 0),
        share=share_by_topic({item: grade == labels[item] for item, grade in said.items() if item in labels}, topics),
    )


def kappa_of(pairs: Sequence[tuple[float, float]], scale: Scale) -> float | None:
    """Return Cohen's κ, weighted by squared distance of ranks where the scale has an order.

    None for fewer than two pairs, and where both said one and the same grade throughout: it is not defined then.
    """
    if len(pairs) < 2 or len({grade for pair in pairs for grade in pair}) < 2:
        return None
    ranks = {value: rank for rank, value in enumerate(scale.values)}
    weighting = "plain" if scale.level == Scale.Level.NOMINAL else "quadratic"
    first, second = (np.array([ranks[pair[place]] for pair in pairs], dtype=np.int16) for place in (0, 1))
    patterns = pairs_of_codes(first, second, len(ranks), None)
    differences = pair_differences(weighting, np.arange(len(ranks), dtype=np.float64))
    return float(cohen_kappa(patterns.frequencies[None], patterns, differences)[0])


def difference_of(criterion: Criterion, judges: Sequence[Judge]) -> ShareDifference | None:
    """Tell by how much the first of two judges agrees with people's majority more often than the second, by topic.

    Over the labelled items that both judged, of the development part where there is one; an ungraded reply agrees with
    nobody. None if there are none.
    """
    topics, _ = topics_to_compare(criterion.study)
    labels = majorities(grades_of_people(criterion, topics=topics))
    said = _grades_of_judges(criterion, judges, topics)
    first, second = (
        {item: grade == labels[item] for item, grade in said.get(judge.rater_id, {}).items() if item in labels}
        for judge in judges
    )
    return difference_by_topic(first, second, _topics_of_items(criterion, topics))


def differences(criterion: Criterion, judges: Sequence[Judge]) -> tuple[list[Difference], int]:
    """Return the first development items on which these judges differ, and how many there are. Raises NoSplit."""
    topics = development_topics(criterion.study)
    said = _grades_of_judges(criterion, judges, topics)
    judged_by_all = set.intersection(*(set(said.get(judge.rater_id, {})) for judge in judges))
    differing = sorted(item for item in judged_by_all if len({said[judge.rater_id][item] for judge in judges}) > 1)
    shown = differing[:DIFFERENCES_SHOWN]
    items = Item.objects.select_related("topic", "element").in_bulk(shown)
    people = grades_of_people(criterion, topics=topics)
    labels = majorities(people)
    latest = Completion.objects.filter(criterion=criterion, judge__in=judges, item__in=shown).order_by("attempt")
    raw = {(judge, item): reply for judge, item, reply in latest.values_list("judge_id", "item_id", "reply")}
    judgments = Judgment.objects.filter(
        criterion=criterion, rater__in=[judge.rater_id for judge in judges], item__in=shown, grade=None
    )
    kinds = {(judgment.rater_id, judgment.item_id): judgment.get_ungraded_display() for judgment in judgments}

    def words(judge: Judge, item: int) -> tuple[str, str]:
        grade = said[judge.rater_id][item]
        kind = kinds.get((judge.rater_id, item), "")
        return (f"{grade:g}" if grade is not None else f"ungraded: {kind}"), raw.get((judge.pk, item), "")

    rows = [
        Difference(items[item], people.get(item, []), labels.get(item), [words(judge, item) for judge in judges])
        for item in shown
    ]
    return rows, len(differing)


def criteria_to_compare(study: Study) -> QuerySet[Criterion]:
    """Return the criteria that judges can be compared on: those that people and judges are both asked."""
    people_alone = [TaskType.WRITTEN_ANSWER, TaskType.ANSWER_REVISION]
    return study.criteria.exclude(task_type__in=people_alone).select_related("scale")


def _topics_of_items(criterion: Criterion, topics: set[int]) -> dict[int, int]:
    return dict(Item.objects.filter(study=criterion.study_id, topic__in=topics).values_list("pk", "topic_id"))


def _asked(criterion: Criterion, topics: set[int]) -> QuerySet[Item]:
    asked = items_asked(criterion).filter(topic__in=topics)
    return asked.exclude(pk__in=without_text(asked).values("pk"))


def _grades_of_judges(
    criterion: Criterion, judges: Sequence[Judge], topics: set[int]
) -> dict[int, dict[int, float | None]]:
    """Return the judges' grades on the development part, by rater and item; None is ungraded."""
    said: dict[int, dict[int, float | None]] = {}
    judgments = Judgment.objects.filter(
        criterion=criterion, rater__in=[judge.rater_id for judge in judges], item__topic__in=topics
    ).exclude(item__element__masked=True)
    for rater, item, grade in judgments.values_list("rater_id", "item_id", "grade"):
        said.setdefault(rater, {})[item] = grade
    return said


def _bias(judge: Judge, criterion: Criterion, topics: set[int]) -> PositionBias | None:
    if judge.template is None or judge.template.orders == 1:
        return None
    return position_bias(judge=judge, criterion=criterion, topics=topics)
