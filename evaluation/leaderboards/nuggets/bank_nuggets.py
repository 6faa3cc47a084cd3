"""Scores of answers by the collection's nugget banks: the newest version of each, from a study's judgments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from collection.banks.versions import newest_versions
from collection.models import BankEntry, RubricElement
from collection.models.studies import TaskType
from evaluation.leaderboards.nuggets.trees import BankNugget, trees_of
from evaluation.leaderboards.sources import NOT_JUDGED, Scorer, Source, yes
from stats.measures.nugget_banks import nugget_coverage, rubric_score
from stats.measures.nuggets import CREDIT, support_of
from stats.measures.scores import Score
from stats.ranking.answer_measures import AnswerScore, OfAnswers

SCORES = {"nugget-coverage": nugget_coverage, "rubric-score": rubric_score}
KINDS = {
    TaskType.NUGGET.value: RubricElement.Kind.NUGGET.value,
    TaskType.ANSWERABILITY.value: RubricElement.Kind.SUB_QUESTION.value,
}


def bank_nuggets(scorer: Scorer) -> dict[int, list[BankNugget]]:
    """Return what is in the collection's banks, without masked elements, by the topics' primary keys.

    Of an element that is in several banks, what the bank with the newest version says counts.
    """
    return scorer.once("nuggets of banks", lambda: _read(scorer))


def _read(scorer: Scorer) -> dict[int, list[BankNugget]]:
    entries = BankEntry.objects.filter(version__in=newest_versions(scorer.study.collection), element__masked=False)
    names = ("element__kind", "parent__element", "importance", "weight", "element__aggregator", "element__weight")
    rows = entries.order_by("version__made_at", "version", "position")
    found: dict[int, dict[int, BankNugget]] = defaultdict(dict)
    for topic, element, kind, parent, importance, weight, aggregator, own in rows.values_list(
        "element__topic__pk", "element__pk", *names
    ):
        of_version = own if weight is None else weight
        found[topic][element] = BankNugget(element, kind, parent, importance, of_version, aggregator)
    return {topic: list(nuggets.values()) for topic, nuggets in found.items()}


def score_bank(scorer: Scorer, measure: OfAnswers, source: Source) -> Iterator[AnswerScore]:
    """The topic's nuggets of the kind that the source judged; one that nobody was asked about has no grade.

    Nuggets that are in no bank count as they are, beside those that are. Parts without an item of their own are left
    to their parent, where that has one.
    """
    grades, criterion = scorer.loader.item_grades(source), source.criterion
    lowest = min(map(float, criterion.scale.values))
    kind, in_banks = KINDS[criterion.task_type], bank_nuggets(scorer)
    known_credits: dict[tuple[str, int], dict[int, float | None]] = defaultdict(dict)
    rows = scorer.loader.items_under(criterion).filter(report__isnull=False)
    for item, topic, run, element in rows.values_list("pk", "topic__pk", "report__run__name", "element__pk"):
        grade = grades.get(item)
        if criterion.task_type == TaskType.NUGGET:
            support = support_of(grade, threshold=criterion.threshold, lowest=lowest)
            known_credits[run, topic][element] = CREDIT[support] if support else None
        else:
            flag = yes(grade, criterion.threshold)
            known_credits[run, topic][element] = None if flag is None else float(flag)
    for (run, topic), known in sorted(known_credits.items()):
        listed = [one for one in in_banks.get(topic, ()) if one.kind == kind or one.element in known]
        there = {one.element for one in listed}
        listed += [BankNugget(element, kind, None, "", None, "") for element in known if element not in there]
        nuggets = list(trees_of(listed, known).values())
        topic_name = scorer.topic_names[topic]
        if all(credit is None for credit in known.values()):
            yield AnswerScore(run, topic_name, Score(None, NOT_JUDGED))
        else:
            n_leaves = sum(1 for nugget in nuggets for _ in nugget.leaves)
            yield AnswerScore(run, topic_name, SCORES[measure.name](nuggets), n_leaves)
