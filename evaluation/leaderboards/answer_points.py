"""Scores of answers by key points (LONG²RAG) and nuggets (TREC RAG), from a study's judgments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from collection.models import RubricElement
from collection.models.studies import TaskType
from evaluation.leaderboards.nuggets.bank_nuggets import bank_nuggets
from evaluation.leaderboards.sources import NOT_JUDGED, Scorer, Source, yes
from stats.measures.long2rag import key_point_f1, key_point_precision, key_point_recall
from stats.measures.nuggets import AssignedNugget, Importance, Support, nugget_scores, support_of
from stats.measures.scores import Score
from stats.ranking.answer_measures import AnswerScore, OfAnswers

OWN = "run"


def score_key_points(scorer: Scorer, measure: OfAnswers, source: Source) -> Iterator[AnswerScore]:
    """The question's final key points in answers, and the answers' own (`attributes.run`) in documents.

    Final is what is not masked. All of them, and all own ones, are in the denominators: one that nobody was asked
    about, for it has no document, say, counts as ungraded.
    """
    grades, at = scorer.loader.item_grades(source), source.criterion.threshold
    recalled: dict[tuple[str, str], dict[int, bool | None]] = defaultdict(dict)
    claimed: dict[tuple[str, str], dict[int, list[bool | None]]] = defaultdict(lambda: defaultdict(list))
    points = key_points(scorer)
    own = {pk: run for pk, _, run in points if run}
    asked = scorer.loader.items_under(source.criterion)
    for item, topic_pk, run, element in asked.values_list("pk", "topic__pk", "report__run__name", "element__pk"):
        flag, topic = yes(grades.get(item), at), scorer.topic_names[topic_pk]
        if element in own:
            claimed[own[element], topic][element].append(flag)
        elif run:
            recalled[run, topic][element] = flag
    for pk, topic, run in points:
        if run and (run, topic) in claimed:
            claimed[run, topic].setdefault(pk, [None])
        for system in [system for system, of in recalled if of == topic] if not run else []:
            recalled[system, topic].setdefault(pk, None)
    for system, topic in sorted(recalled.keys() | claimed.keys()):
        said = list(recalled.get((system, topic), {}).values())
        found = [_any(flags) for flags in claimed.get((system, topic), {}).values()]
        recall, precision = _if_judged(key_point_recall, said), _if_judged(key_point_precision, found)
        score = {"KPR": recall, "KPP": precision, "KPF": key_point_f1(recall, precision)}[measure.name]
        n_asked = {"KPR": len(said), "KPP": len(found)}
        yield AnswerScore(system, topic, score, n_asked.get(measure.name, sum(n_asked.values())))


def key_points(scorer: Scorer) -> list[tuple[int, str, str]]:
    """Return each visible key point that is not masked, its topic, and the run whose own it is, or nothing."""
    points = RubricElement.objects.filter(
        topic__collection=scorer.study.collection_id, kind=RubricElement.Kind.KEY_POINT, masked=False
    )
    return [
        (pk, scorer.topic_names[topic], str(attributes.get(OWN, "")))
        for pk, topic, attributes in points.values_list("pk", "topic__pk", "attributes")
        if topic in scorer.topic_names
    ]


def _any(flags: Iterable[bool | None]) -> bool | None:
    """Whether any passage says it; None if none is known to and one is not known."""
    listed = list(flags)
    return True if True in listed else None if None in listed else False


def _if_judged(measure: Any, flags: list[bool | None]) -> Score:
    if flags and all(flag is None for flag in flags):
        return Score(None, NOT_JUDGED)
    score: Score = measure(flags)
    return score


def score_nuggets(scorer: Scorer, measure: OfAnswers, source: Source) -> Iterator[AnswerScore]:
    grades, criterion = scorer.loader.item_grades(source), source.criterion
    lowest = min(map(float, criterion.scale.values))
    importance = _importance(scorer, source)
    asked: dict[tuple[str, int], dict[int, Support | None]] = defaultdict(dict)
    rows = scorer.loader.items_under(criterion).filter(report__isnull=False)
    for item, topic, run, element in rows.values_list("pk", "topic__pk", "report__run__name", "element__pk"):
        asked[run, topic][element] = support_of(grades.get(item), threshold=criterion.threshold, lowest=lowest)
    for (system, topic), supports in sorted(asked.items()):
        in_bank = [one.element for one in bank_nuggets(scorer).get(topic, ()) if one.kind == RubricElement.Kind.NUGGET]
        nuggets = dict.fromkeys(in_bank) | supports  # one of the bank that nobody was asked about has no grade
        assigned = [AssignedNugget(importance.get(pk, "okay"), support) for pk, support in nuggets.items()]
        topic_name = scorer.topic_names[topic]
        if all(nugget.support is None for nugget in assigned):
            yield AnswerScore(system, topic_name, Score(None, NOT_JUDGED))
        else:
            score: Score = getattr(nugget_scores(assigned), measure.name.removeprefix("nuggets-").replace("-", "_"))
            yield AnswerScore(system, topic_name, score, len(assigned))


def stated_importance(scorer: Scorer) -> dict[int, Importance]:
    """Return which nuggets are vital as far as the collection's banks, or its elements, say."""
    nuggets = RubricElement.objects.filter(topic__collection=scorer.study.collection_id, kind=RubricElement.Kind.NUGGET)
    stated = nuggets.exclude(importance="").values_list("pk", "importance")
    found: dict[int, Importance] = {pk: "vital" if said == "vital" else "okay" for pk, said in stated}
    in_banks = [one for nuggets in bank_nuggets(scorer).values() for one in nuggets if one.importance]
    return found | {one.element: "vital" if one.importance == "vital" else "okay" for one in in_banks}


def _importance(scorer: Scorer, source: Source) -> dict[int, Importance]:
    """Return which nuggets are vital: as the collection says, else by the source's grades of importance."""
    found = stated_importance(scorer)
    criterion = scorer.loader.criterion_named(TaskType.NUGGET, "importance")
    judged = scorer.loader.same_source(source, criterion) if criterion else None
    if criterion is None or judged is None:
        return found
    grades = scorer.loader.item_grades(judged)
    votes: dict[int, list[bool]] = defaultdict(list)
    for item, element in scorer.loader.items_under(criterion).values_list("pk", "element__pk"):
        if (said := yes(grades.get(item), criterion.threshold)) is not None:
            votes[element].append(said)
    by_votes: dict[int, Importance] = {
        element: "vital" if 2 * sum(said) > len(said) else "okay" for element, said in votes.items()
    }
    return by_votes | found
