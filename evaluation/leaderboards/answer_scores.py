"""Leaderboards of answers: reads what they need of a study. Grades of answers, and preferences, stand here."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from collection.models import Criterion
from collection.models.studies import TaskType
from evaluation.leaderboards.answer_points import score_key_points, score_nuggets
from evaluation.leaderboards.answer_texts import score_texts, score_unanswerable, unanswerable_topics
from evaluation.leaderboards.citations.scores import score_citations, score_nuggets_of_reports
from evaluation.leaderboards.nuggets.bank_nuggets import score_bank
from evaluation.leaderboards.sources import NOT_JUDGED, JudgmentLoader, Scorer, Source
from stats.measures.clapnq import AnswerRating, Preference, rating_means, win_rates
from stats.measures.scores import Score
from stats.ranking.answer_measures import AnswerScore, OfAnswers, table_of
from stats.ranking.measures.own_questions import OwnQuestion
from stats.ranking.measures.preferences import Preferences
from stats.ranking.measures.ratings import Ratings
from stats.ranking.scoring import ScoreTable
from stats.ratings import FloatArray, grades_of


def score_answers(scorer: Scorer, measure: OfAnswers, source: Source) -> ScoreTable:
    """Return the measure's scores of answers by the source."""
    found = list(READERS[measure.family](scorer, measure, source))
    met = {one.topic for one in found}
    return table_of(measure, found, [topic for topic in scorer.topic_names.values() if topic in met])


def _ratings(scorer: Scorer, measure: Ratings, source: Source) -> Iterator[AnswerScore]:
    """The mean over the source's raters; for F+A each rater's own two grades of an answer belong together."""
    criteria = [scorer.loader.criterion_named(TaskType.ANSWER_EVALUATION, one) for one in measure.criteria]
    by_rater = [grades_by_rater(scorer.loader, source, criterion) if criterion else {} for criterion in criteria]
    left_out = unanswerable_topics(scorer) if measure.of_answerable else set()
    asked = scorer.loader.items_under(source.criterion)
    for item, topic, run in asked.values_list("pk", "topic__pk", "report__run__name"):
        if run is None or topic in left_out:
            continue
        score, n_asked = rated([of.get(item, {}) for of in by_rater])
        yield AnswerScore(run, scorer.topic_names[topic], score, n_asked)


def rated(grades: list[dict[int, float]]) -> tuple[Score, int]:
    """Return the score of an answer by the grades of its raters, one dictionary a criterion, and of how many.

    Of two criteria, faithful and appropriate, it is their harmonic mean.
    """
    raters = sorted({rater for of in grades for rater in of})
    if not raters:
        return Score(None, NOT_JUDGED), 0
    if len(grades) == 2:
        faithful, appropriate = ([_whole(of.get(rater)) for rater in raters] for of in grades)
        ratings = [AnswerRating(f, a) for f, a in zip(faithful, appropriate, strict=True)]
        return rating_means(ratings).f_plus_a, len(raters)
    readable = [grades[0][rater] for rater in raters if not np.isnan(grades[0][rater])]
    n_ungraded = len(raters) - len(readable)
    if not readable:
        return Score(None, "There is no readable grade.", ungraded=n_ungraded), len(raters)
    return Score(float(np.mean(readable)), ungraded=n_ungraded), len(raters)


def _own_question(scorer: Scorer, measure: OwnQuestion, source: Source) -> Iterator[AnswerScore]:
    """The mean over a report's items, of each the mean over the source's raters."""
    grades = grades_by_rater(scorer.loader, source, source.criterion)
    of_report: dict[tuple[str, int], list[Score]] = defaultdict(list)
    asked = scorer.loader.items_under(source.criterion)
    for item, topic, run in asked.values_list("pk", "topic__pk", "report__run__name"):
        given = grades.get(item, {})
        if measure.of_positives:
            given = {
                of: grade if np.isnan(grade) else grade >= source.criterion.threshold for of, grade in given.items()
            }
        of_report[run, topic].append(rated([given])[0])
    for (run, topic), scores in of_report.items():
        known = [score.value for score in scores if score.value is not None]
        score = Score(float(np.mean(known))) if known else Score(None, NOT_JUDGED)
        yield AnswerScore(run, scorer.topic_names[topic], score, len(scores), judged=len(known) / len(scores))


def _whole(grade: float | None) -> int | None:
    return None if grade is None or np.isnan(grade) else int(grade)


def grades_by_rater(loader: JudgmentLoader, source: Source, criterion: Criterion) -> Mapping[int, dict[int, float]]:
    """Return for each item the grade of each of the source's raters who were asked; NaN where ungraded."""
    judged = loader.judgments(criterion)
    mine = {rater.pk for rater in source.raters}
    columns = [column for column, rater in enumerate(judged.raters) if rater.pk in mine]
    grades: FloatArray = grades_of(judged.ratings.codes[:, columns], judged.ratings.numbers)
    found: dict[int, dict[int, float]] = defaultdict(dict)
    for row, place in zip(*np.nonzero(judged.asked[:, columns]), strict=True):
        found[judged.ratings.items[row]][judged.raters[columns[place]].pk] = float(grades[row, place])
    return found


def _preferences(scorer: Scorer, measure: Preferences, source: Source) -> Iterator[AnswerScore]:
    """Each topic's wins over its comparisons, the raters' counted one by one."""
    grades = grades_by_rater(scorer.loader, source, source.criterion)
    said: dict[str, list[Preference]] = defaultdict(list)
    rows = scorer.loader.items_under(source.criterion).filter(report__isnull=False, other_report__isnull=False)
    for item, topic, first, second in rows.values_list(
        "pk", "topic__pk", "report__run__name", "other_report__run__name"
    ):
        for rater, grade in grades.get(item, {}).items():
            winner = first if grade > 0 else second if grade < 0 else None
            said[scorer.topic_names[topic]].append(
                Preference(str(topic), str(rater), (first, second), winner, ungraded=bool(np.isnan(grade)))
            )
    for topic_name, of_topic in sorted(said.items()):
        n_comparisons = Counter(system for one in of_topic for system in one.systems)
        for system, score in win_rates(of_topic, ties=measure.ties).items():
            n = n_comparisons[system]
            yield AnswerScore(system, topic_name, score if score.ungraded < n else Score(None, NOT_JUDGED), n)


READERS: dict[str, Callable[[Scorer, Any, Source], Iterator[AnswerScore]]] = {
    "key points": score_key_points,
    "nuggets": score_nuggets,
    "citations": score_citations,
    "nuggets of reports": score_nuggets_of_reports,
    "nugget banks": score_bank,
    "texts": score_texts,
    "ratings": _ratings,
    "own questions": _own_question,
    "unanswerable": score_unanswerable,
    "preferences": _preferences,
}
