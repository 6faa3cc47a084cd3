"""A cited report with what somebody says of its citations, as the measures take it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from collection.texts.cited_reports import CitedReport
from stats.measures.cited_reports import JudgedSentence, support_of_grade


@dataclass(frozen=True)
class CitationGrades:
    """Grades of citations by (sentence, passage), and of the need for one by sentence, as primary keys.

    From the thresholds up support is full, and a citation is needed. What is not in there, or NaN, is not judged.
    """

    support: Mapping[tuple[int, int], float]
    need: Mapping[int, float]
    full_from: float
    needed_from: float = 1


def judged_sentences(report: CitedReport, grades: CitationGrades) -> list[JudgedSentence]:
    """Return the report's sentences with their support. A document without a text here is a hole."""
    return [
        JudgedSentence(
            tuple(_support(grades, sentence.pk, cited.passage) for cited in sentence.citations),
            _needs_citation(grades, sentence.pk),
            frozenset(place for place, cited in enumerate(sentence.citations) if cited.passage is None),
        )
        for sentence in report.sentences
    ]


def _support(grades: CitationGrades, sentence: int, passage: int | None) -> float | None:
    grade = None if passage is None else grades.support.get((sentence, passage))
    return None if grade is None or np.isnan(grade) else support_of_grade(grade, threshold=grades.full_from)


def _needs_citation(grades: CitationGrades, sentence: int) -> bool | None:
    grade = grades.need.get(sentence)
    return None if grade is None or np.isnan(grade) else grade >= grades.needed_from
