"""How much the human summaries answer of what their documents answer: the check of CRUX's questions (Table 1, #2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from collection.models import Rater
from collection.models.studies import TaskType
from evaluation.leaderboards.sources import JudgmentLoader, Scorer, Source
from stats.answers_in_words import summaries_cover
from stats.measures.crux import coverage, oracle_answers
from stats.measures.grades import GradeTable
from stats.ranking.measure_names import NoLeaderboard


@dataclass(frozen=True)
class SummaryCoverage:
    """The mean coverage of a run of summaries over `n_topics`, by the source that judged the reports.

    `value` is None, with the `reason`, where no topic has one. `criterion` and `threshold` are those of the reports.
    """

    run: str
    source: str
    value: float | None
    n_topics: int
    n_ungraded: int
    criterion: str
    threshold: float
    reason: str = ""

    @property
    def answer(self) -> str:
        return self.reason or summaries_cover(self.run, self.value or 0.0, self.n_topics, self.n_ungraded)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def coverage_of_summaries(
    scorer: Scorer, source: Source, tables: Mapping[str, GradeTable], *, run: str
) -> SummaryCoverage:
    """Return the coverage of the run’s reports over the questions that the passages in `tables` answer.

    The same people must have judged the reports, or a judge of the same engine and model. Raises NoLeaderboard.
    """
    runs = sorted({name for _, name, _ in scorer.report_texts()})
    if run not in runs:
        raise NoLeaderboard(f"No run “{run}” has reports. Choose one of: {', '.join(runs) or 'none'}.")
    same = _judge_of_reports(scorer.loader, source)
    if same is None:
        raise NoLeaderboard(f"{source.name} judged no reports here: have “{run}” judged for answerability first.")
    criterion = same.criterion
    reports, at = scorer.grades(same).tables, source.criterion.threshold
    scores = []
    for topic, table in tables.items():
        if (judged := reports.get(topic)) is None or run not in judged.passages:
            continue
        answered = dict(zip(table.elements, oracle_answers(table.grades, threshold=at), strict=True))
        counted = np.array([answered.get(element, False) for element in judged.elements], dtype=bool)
        scores.append(coverage(judged.of([run]), counted, threshold=criterion.threshold))
    known = [one.value for one in scores if one.value is not None]
    return SummaryCoverage(
        run,
        same.name,
        float(np.mean(known)) if known else None,
        len(known),
        sum(one.ungraded for one in scores),
        criterion.name,
        criterion.threshold,
        "" if known else f"{same.name} judged no summary of “{run}” on a topic with answered questions.",
    )


def _judge_of_reports(loader: JudgmentLoader, source: Source) -> Source | None:
    """Return the source under a criterion of reports; a judge rates passages and reports by a prompt each."""
    of_reports = [one for one in loader.criteria if one.task_type == TaskType.ANSWERABILITY]
    for criterion in of_reports:
        if same := loader.same_source(source, criterion):
            return same
    found = (one for criterion in of_reports for one in loader.sources_of(criterion))
    judges = (one for one in found if one.kind == source.kind == Rater.Kind.JUDGE)
    return next((one for one in judges if _model(one) == _model(source) != (None, None)), None)


def _model(source: Source) -> tuple[object, object]:
    told = source.raters[0].attributes
    return told.get("engine"), told.get("model")
