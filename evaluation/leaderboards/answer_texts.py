"""Scores of answers as texts (CLAPNQ): against references and passages, and whether they say that there is none."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from collection.models import Item, Passage, WrittenAnswer
from collection.models.studies import TaskType
from evaluation.data.judge_pairs import IDS_AT_ONCE, batched
from evaluation.leaderboards.sources import NOT_JUDGED, Scorer, Source, yes
from stats.measures.clapnq import answer_scores, unanswerable_accuracy
from stats.measures.scores import Score
from stats.ranking.answer_measures import AnswerScore, OfAnswers

NO_PASSAGE = "the topic has no passage to compare with"
# What an answer that does not know says, where a run's attributes do not name phrases of its own.
PHRASES = ("I don't know", "I do not know", "unanswerable")


def score_texts(scorer: Scorer, measure: OfAnswers, _source: Source) -> Iterator[AnswerScore]:
    references, passages = references_of(scorer), _passages(scorer)
    for topic, run, text in scorer.report_texts():
        topic_name = scorer.topic_names[topic]
        if topic in unanswerable_topics(scorer):
            continue
        if measure.name == "length":
            yield AnswerScore(run, topic_name, Score(float(len(text))))
            continue
        if measure.name == "ROUGE-L-passage" and topic not in passages:
            yield AnswerScore(run, topic_name, Score(None, NO_PASSAGE))
            continue
        found = answer_scores(text, references.get(topic, ()), passages.get(topic, ""))
        score = {"ROUGE-L": found.rouge_l, "ROUGE-1-recall": found.recall, "ROUGE-L-passage": found.rouge_l_passage}
        yield AnswerScore(run, topic_name, score[measure.name])


def references_of(scorer: Scorer) -> dict[int, list[str]]:
    """Return the references of each topic, by primary key: its own attribute `references`, and what people wrote here.

    Of people's answers those of round 1 count whose outcome is a yes at the criterion's threshold, and those of round 2
    that changed one.
    """
    found: dict[int, list[str]] = defaultdict(list)
    for topic, attributes in scorer.topic_attributes.items():
        stated = attributes.get("references")
        found[topic] += [str(text) for text in stated] if isinstance(stated, list) else []
    rounds = ((TaskType.WRITTEN_ANSWER, "outcome"), (TaskType.ANSWER_REVISION, "revision"))
    for criterion in filter(None, (scorer.loader.criterion_named(*of_round) for of_round in rounds)):
        excluded = [one.rater_id for one in scorer.loader.judgments(criterion).excluded]
        written = WrittenAnswer.objects.filter(judgment__criterion=criterion, judgment__grade__gte=criterion.threshold)
        rows = written.exclude(judgment__rater__in=excluded).order_by("judgment_id")
        for topic, text in rows.values_list("judgment__item__topic__pk", "text"):
            found[topic].append(text)
    return {topic: texts for topic, texts in found.items() if texts}


def _passages(scorer: Scorer) -> dict[int, str]:
    """Return the passage, under its title, that each topic's answers are made of: of its written answers, else its own.

    A topic's own is the one that its attribute `passage_id` names.
    """
    asked = Item.objects.filter(study=scorer.study, task_type=TaskType.WRITTEN_ANSWER, passage__text__isnull=False)
    rows = asked.values_list("topic__pk", "passage__title", "passage__text")
    found = {topic: _titled(title, text or "") for topic, title, text in rows}
    named = {
        str(attributes["passage_id"]): topic
        for topic, attributes in scorer.topic_attributes.items()
        if topic not in found and "passage_id" in attributes
    }
    stored = Passage.objects.filter(collection=scorer.study.collection_id, text__isnull=False)
    for some in batched(sorted(named), IDS_AT_ONCE):
        own = stored.filter(passage_id__in=some).values_list("passage_id", "title", "text")
        found |= {named[passage]: _titled(title, text or "") for passage, title, text in own}
    return found


def _titled(title: str, text: str) -> str:
    return f"{title} {text}" if title else text


def unanswerable_topics(scorer: Scorer) -> set[int]:
    """Return the topics that have no answer: as they say, else as most people who were to write one say."""
    return scorer.once("unanswerable", lambda: set(_find_unanswerable(scorer)))


def _find_unanswerable(scorer: Scorer) -> Iterator[int]:
    stated = {
        topic: bool(attributes["answerable"])
        for topic, attributes in scorer.topic_attributes.items()
        if "answerable" in attributes
    }
    yield from (topic for topic, answerable in stated.items() if not answerable)
    criterion = scorer.loader.criterion_named(TaskType.WRITTEN_ANSWER, "outcome")
    source = next((one for one in scorer.loader.sources_of(criterion) if one.kind == "assessor"), None)
    if criterion is None or source is None:
        return
    grades = scorer.loader.item_grades(source)
    outcomes: dict[int, list[float]] = defaultdict(list)
    for item, topic in scorer.loader.items_under(criterion).values_list("pk", "topic__pk"):
        if topic not in stated and item in grades and not np.isnan(grades[item]):
            outcomes[topic].append(grades[item])
    no_answer = min(map(float, criterion.scale.values))
    yield from (topic for topic, found in outcomes.items() if set(found) == {no_answer})


def score_unanswerable(scorer: Scorer, _measure: OfAnswers, source: Source) -> Iterator[AnswerScore]:
    """By the source's grades of `unknown`; by the text itself where the source is the references."""
    topics = unanswerable_topics(scorer)
    if source.is_text:
        phrases = {run.name: tuple(run.attributes.get("unknown_phrases", PHRASES)) for run in scorer.runs.values()}
        for topic, run, text in scorer.report_texts():
            if topic in topics:
                yield AnswerScore(run, scorer.topic_names[topic], unanswerable_accuracy([text], phrases[run]))
        return
    grades = scorer.loader.item_grades(source)
    rows = scorer.loader.items_under(source.criterion).values_list("pk", "topic__pk", "report__run__name")
    for item, topic, run in rows:
        if topic in topics and run:
            said = yes(grades.get(item), source.criterion.threshold)
            score = Score(None, NOT_JUDGED) if said is None else Score(float(said))
            yield AnswerScore(run, scorer.topic_names[topic], score, 1)
