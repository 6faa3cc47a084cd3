"""Which nuggets a report answers, by one source: by its sentences where they are judged, else by the whole report."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from collection.banks.versions import dropped_elements
from collection.models import Criterion, RubricElement
from collection.models.studies import TaskType
from collection.texts.cited_reports import CitedReport
from evaluation.leaderboards.answer_points import stated_importance
from evaluation.leaderboards.nuggets.bank_nuggets import bank_nuggets
from evaluation.leaderboards.nuggets.trees import BankNugget, trees_of
from evaluation.leaderboards.sources import Scorer, Source
from stats.measures.cited_reports import AnsweredNugget

Grades = dict[tuple[int, int], list[tuple[int | None, float]]]


@dataclass(frozen=True)
class Answered:
    """Whether a report answers a nugget, None where that is not judged, with what was said in words.

    `rightly` and `wrongly` are the numbers of the sentences that answer it. `undecided`: no judged sentence answers it
    rightly, and others are not judged.
    """

    positive: bool | None
    said: str
    rightly: tuple[int, ...] = ()
    wrongly: tuple[int, ...] = ()
    undecided: bool = False

    @property
    def sign(self) -> str:
        """What says it without colour."""
        return "?" if self.positive is None else "●" if self.positive else "✕" if self.wrongly else "○"


@dataclass(frozen=True)
class _Asked:
    """The source's grades under a criterion, by report and element."""

    criterion: Criterion | None
    grades: Grades


class NuggetsOfReports:
    """The nuggets of every topic, or its sub-questions where it has none, with what a source says of reports."""

    def __init__(self, scorer: Scorer, source: Source) -> None:
        self.elements = _elements(scorer)
        self._in_banks = bank_nuggets(scorer)
        self._importance = stated_importance(scorer)
        self._by_sentence = _read(scorer, source, (TaskType.SENTENCE_NUGGET, "answers"))
        self._by_report = [
            _read(scorer, source, asked)
            for asked in ((TaskType.NUGGET, "support"), (TaskType.ANSWERABILITY, "answerability"))
        ]

    def answered(self, report: CitedReport) -> list[tuple[RubricElement, Answered]]:
        """Return each nugget of the report's topic with whether the report answers it.

        By its sentences it does not only where every sentence is judged and none answers it rightly.
        """
        return [(one, self._answered(report, one.pk)) for one in self.elements.get(report.topic, ())]

    def of_report(self, report: CitedReport) -> list[AnsweredNugget]:
        """Return the topic's nuggets for the measures: those that are parts of another one decide that one.

        One whose parts are judged is answered rightly where its aggregator gives it full credit.
        """
        answered = {element.pk: one for element, one in self.answered(report)}
        said = {pk: one.positive for pk, one in answered.items()}
        some_undecided = any(one.undecided for one in answered.values())
        in_banks = {one.element: one for one in self._in_banks.get(report.topic, ()) if one.element in said}
        listed = [in_banks.get(pk) or BankNugget(pk, "", None, "", None, "") for pk in said]
        known = {pk: float(positive) for pk, positive in said.items() if positive is not None}
        found = []
        for pk, nugget in trees_of(listed, known).items():
            least, most = nugget.bounds
            is_open = least < 1 <= most
            undecided = is_open and (answered[pk].undecided or (some_undecided and bool(nugget.parts)))
            found.append(AnsweredNugget(None if is_open else least >= 1, self._importance.get(pk, ""), undecided))
        return found

    def _answered(self, report: CitedReport, element: int) -> Answered:
        number = {sentence.pk: sentence.number for sentence in report.sentences}
        said = self._by_sentence.grades.get((report.pk, element), [])
        threshold = self._by_sentence.criterion.threshold if self._by_sentence.criterion else 0
        rightly = tuple(sorted(number[sentence or 0] for sentence, grade in said if grade >= threshold))
        wrongly = tuple(sorted(number[sentence or 0] for sentence, grade in said if 0 < grade < threshold))
        if rightly:
            return Answered(positive=True, said="answered", rightly=rightly, wrongly=wrongly)
        if said and len(said) == len(report.sentences):
            said_of_all = "answered wrongly" if wrongly else "not answered"
            return Answered(positive=False, said=said_of_all, wrongly=wrongly)
        for asked in self._by_report:
            if asked.criterion and (of_report := asked.grades.get((report.pk, element))):
                grade = of_report[0][1]
                point = asked.criterion.scale.point(grade)
                return Answered(
                    grade >= asked.criterion.threshold, str(point["name"]) if point else f"{grade:g}", rightly, wrongly
                )
        said_of_some = "judged in some sentences only" if said else "not judged"
        return Answered(None, said_of_some, rightly, wrongly, undecided=bool(said))


def _elements(scorer: Scorer) -> dict[int, Sequence[RubricElement]]:
    kinds = RubricElement.Kind.NUGGET, RubricElement.Kind.SUB_QUESTION
    found: dict[int, dict[str, list[RubricElement]]] = defaultdict(lambda: defaultdict(list))
    listed = RubricElement.objects.filter(topic__collection=scorer.study.collection_id, masked=False, kind__in=kinds)
    for one in listed.exclude(pk__in=dropped_elements(scorer.study.collection_id)).order_by("position"):
        found[one.topic_id][one.kind].append(one)
    return {topic: by_kind.get(kinds[0]) or by_kind[kinds[1]] for topic, by_kind in found.items()}


def _read(scorer: Scorer, source: Source, asked: tuple[str, str]) -> _Asked:
    """Return what the source says of reports and elements, or of their sentences: a judge is known by its name."""
    criterion = scorer.loader.criterion_named(*asked)
    same = next((one for one in scorer.loader.sources_of(criterion) if one.name == source.name), None)
    found: Grades = defaultdict(list)
    if criterion and same:
        grades = scorer.loader.item_grades(same)
        items = scorer.loader.items_under(criterion).filter(report__isnull=False)
        for item, *about, sentence in items.values_list("pk", "report__pk", "element__pk", "sentence__pk"):
            grade = grades.get(item, np.nan)
            if not np.isnan(grade):
                found[about[0], about[1]].append((sentence, grade))
    return _Asked(criterion, found)
