"""Scores of cited reports (TREC RAG, ARGUE), from a study's judgments of citations, sentences and nuggets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from collection.models.studies import TaskType
from collection.texts.cited_reports import CitedReport, cited_reports_of
from evaluation.data.cited_sentences import CitationGrades, judged_sentences
from evaluation.leaderboards.citations.answered_nuggets import NuggetsOfReports
from evaluation.leaderboards.sources import NOT_JUDGED, JudgmentLoader, Scorer, Source
from stats.measures.cited_reports import (
    JUDGED_IN_PART,
    AnsweredNugget,
    JudgedSentence,
    argue,
    bounded,
    too_many_in_part,
    weighted_precision,
    weighted_recall,
)
from stats.measures.scores import Score
from stats.ranking.answer_measures import AnswerScore, OfAnswers, argue_name


def score_citations(scorer: Scorer, measure: OfAnswers, source: Source) -> Iterator[AnswerScore]:
    """Each report that the study asks about; what the source has not judged is left out and counted."""
    return without_parts(_scores_of_citations(scorer, measure, source))


def without_parts(scores: Iterable[AnswerScore]) -> Iterator[AnswerScore]:
    """Yield the scores; none has a value where too many of their reports are judged in part."""
    found = list(scores)
    reason = too_many_in_part(one.score for one in found)
    for one in found:
        yield replace(one, score=replace(one.score, value=None, reason=reason), counts=()) if reason else one


def _scores_of_citations(scorer: Scorer, measure: OfAnswers, source: Source) -> Iterator[AnswerScore]:
    grades = citation_grades(scorer.loader, source)
    for report in asked_reports(scorer, source):
        sentences = judged_sentences(report, grades)
        n_asked = sum(len(sentence.support) for sentence in sentences)
        n_judged = sum(one is not None for sentence in sentences for one in sentence.support)
        topic = scorer.topic_names[report.topic]
        if not n_judged:
            yield AnswerScore(report.run, topic, Score(None, NOT_JUDGED))
        elif figure := argue_name(measure.name):
            found = argue(sentences, ())[figure]
            yield AnswerScore(report.run, topic, found.score, n_asked, counts=found.counts)
        else:
            yield AnswerScore(report.run, topic, scored(measure.name, sentences), n_asked)


def score_nuggets_of_reports(scorer: Scorer, measure: OfAnswers, source: Source) -> Iterator[AnswerScore]:
    """ARGUE's nugget coverage and F1 of each report that the study asks about; what is not judged is left out.

    `judged` of a score is the share of the topic's nuggets that are.
    """
    return without_parts(_scores_of_nuggets(scorer, measure, source))


def _scores_of_nuggets(scorer: Scorer, measure: OfAnswers, source: Source) -> Iterator[AnswerScore]:
    nuggets = NuggetsOfReports(scorer, source)
    by_citations = source.criterion.task_type == TaskType.CITATION_SUPPORT
    grades = citation_grades(scorer.loader, source) if by_citations else None
    for report in asked_reports(scorer, source):
        sentences = judged_sentences(report, grades) if grades else []
        answered = nuggets.of_report(report)
        found = argue(sentences, answered)[argue_name(measure.name)]
        score, topic = found.score, scorer.topic_names[report.topic]
        if score.reason == JUDGED_IN_PART:
            yield AnswerScore(report.run, topic, score)
        elif score.value is None:
            yield AnswerScore(report.run, topic, Score(None, _why_not(answered, needs_both=by_citations)))
        else:
            n_asked = len(answered) + sum(len(sentence.support) for sentence in sentences)
            judged = sum(one.rightly is not None for one in answered) / len(answered)
            yield AnswerScore(report.run, topic, score, n_asked, counts=found.counts, judged=judged)


def _why_not(nuggets: Sequence[AnsweredNugget], *, needs_both: bool) -> str:
    if not nuggets:
        return "the topic has no nuggets"
    if all(one.rightly is None for one in nuggets):
        return f"{NOT_JUDGED}: which nuggets it answers" if needs_both else NOT_JUDGED
    return f"{NOT_JUDGED}: how its sentences are supported"


def scored(name: str, sentences: list[JudgedSentence]) -> Score:
    """Return the measure of this name, one of those of citations."""
    if figure := argue_name(name):
        return argue(sentences, ())[figure].score
    measure = weighted_precision if name.startswith("citation-precision") else weighted_recall
    return bounded(partial(measure, citations="first" if name.endswith("(first)") else "all"), sentences)


def asked_reports(scorer: Scorer, source: Source) -> list[CitedReport]:
    """Return the cited reports that the study asks about under the source's criterion, visible, read once."""
    items = scorer.loader.items_under(source.criterion).filter(report__isnull=False)

    def read() -> list[CitedReport]:
        reports = {pk for pk in items.values_list("report__pk", flat=True).distinct() if pk is not None}
        return [one for one in cited_reports_of(scorer.study.collection) if one.pk in reports]

    return scorer.once(f"cited reports under {source.criterion.pk}", read)


def citation_grades(loader: JudgmentLoader, source: Source) -> CitationGrades:
    """Return the source's grades of citations, and of sentences in need of one where it was asked."""
    of_items = loader.item_grades(source)
    rows = loader.items_under(source.criterion).values_list("pk", "sentence__pk", "passage__pk")
    support = {(sentence, passage): of_items[item] for item, sentence, passage in rows if item in of_items}
    asked = loader.criterion_named(TaskType.CITATION_NEED, "citation_need")
    same = loader.same_source(source, asked) if asked else None
    if asked is None or same is None:
        return CitationGrades(support, {}, source.criterion.threshold)
    needed = loader.item_grades(same)
    sentences = loader.items_under(asked).values_list("pk", "sentence__pk")
    need = {sentence: needed[item] for item, sentence in sentences if item in needed}
    return CitationGrades(support, need, source.criterion.threshold, asked.threshold)
