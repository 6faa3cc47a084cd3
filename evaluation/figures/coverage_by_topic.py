"""Coverage of reports topic by topic, a panel a run: the judge's line, a mark a person, bars of people's mean.

Source: Ju et al., CRUX (2025), Figure 4.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import numpy as np

from collection.models import Rater, Study
from collection.models.studies import TaskType
from evaluation.charts.coverage_by_topic import CoverageMark, coverage_by_topic_chart
from evaluation.data.judge_pairs import judged_texts, pair_judges, text_names
from evaluation.data.judgments import CriterionRatings, load_criterion
from evaluation.data.visibility import parts_of, visibility_of
from evaluation.figures.figure import StudyFigure, chosen_of
from stats.answers_in_words import in_brackets, listed, shown
from stats.intervals import SHARE, Estimate, mean_interval
from stats.judges.coverage import coverage
from stats.plurals import counted
from stats.ranking.rank_correlation import spearman
from stats.ratings import MISSING, grades_of

NAME = "coverage-by-topic"
TITLE = "Coverage of reports, topic by topic"
NONE, FEW = "no judge", "undefined: fewer than four reports that both judged, or all alike"


def coverage_by_topic(study: Study, *, criterion: str = "", judge: str = "") -> StudyFigure:
    """Return the figure under a criterion of yes and no, with one judge beside people. Raises NoFigure."""
    there = list(study.criteria.filter(task_type=TaskType.ANSWERABILITY).select_related("study__collection", "scale"))
    loaded = {one.name: load_criterion(one) for one in there}
    criteria = [(name, name) for name, one in loaded.items() if one.columns(Rater.Kind.ASSESSOR)]
    name = chosen_of(criterion, criteria, "criterion under which people judged reports")
    chosen = loaded[name]
    pairs = pair_judges(chosen)
    judges = [(one.name, one.completeness.after(one.name)) for one in pairs.pairs]
    by = chosen_of(judge, [*judges, (NONE, NONE)], "judge")
    paired = next((one for one in pairs.pairs if one.name == by), None)
    visibility = visibility_of(parts_of(study), [paired.judge] if paired else [], part="development")
    chosen = visibility.of_ratings(chosen)
    people = _people(chosen)
    of_judge = {(one.topic, one.name): one.judge for one in judged_texts([paired])[0]} if paired else {}
    persons = sorted({person for _, _, person in people})
    texts = sorted({(run, topic) for topic, run, _ in people})
    marks = [CoverageMark(run, topic, person, share) for (topic, run, person), share in people.items()]
    marks += [CoverageMark(run, topic, by, share) for (topic, run), share in of_judge.items()]
    runs = sorted({run for run, _ in texts})
    rho = {run: {one: _rho(people, of_judge, one, run) for one in persons} for run in (*runs, "")}
    return StudyFigure(
        name=NAME,
        title=f"Coverage by topic under {name}",
        answer=" ".join(filter(None, (_covers(people, runs), _agrees(rho[""], by) if of_judge else ""))),
        visibility=visibility,
        simulated=chosen.has_simulated_people or bool(paired and paired.judge.simulated),
        description=coverage_by_topic_chart(
            marks,
            runs=runs,
            people=persons,
            judge=by if of_judge else "",
            rho={run: _rho_in_words(of_run) for run, of_run in rho.items()},
            title="Coverage of reports by topic",
            subtitle=f"Share of sub-questions answered; bars: mean of {counted(len(persons), 'people')}"
            + (f"; line: {by}; ρ of each person with it" if of_judge else ""),
        ),
        head=["run", "person", "reports", "spearman_with_judge", "reason"],
        rows=[
            [run or "all", one, found[0], found[1].value, "" if found[1].value is not None else FEW]
            for run, of_run in rho.items()
            for one, found in of_run.items()
        ],
        long_head=["run", "topic", "by", "coverage"],
        long_rows=[
            [one.run, one.topic, one.by, one.share] for one in sorted(marks, key=lambda one: (one.run, one.topic))
        ],
        notes=[
            f"{counted(len(texts), 'reports')} by {counted(len(persons), 'people')}"
            + (f"; {by} graded {counted(len(of_judge), 'of them')}" if of_judge else "; no judge graded them"),
            "Coverage: the share of the sub-questions asked of a report that are answered; masked ones are not asked. "
            "A judge’s is over the sub-questions that people judged too.",
            "ρ is Spearman’s, over the reports that both judged.",
        ],
        choices={"criterion": criteria, "judge": [*judges, (NONE, NONE)]},
        chosen={"criterion": name, "judge": by},
    )


def offers(study: Study) -> bool:
    items = study.items.filter(task_type=TaskType.ANSWERABILITY, report__isnull=False)
    return items.filter(judgments__rater__kind=Rater.Kind.ASSESSOR).exists()


def _people(judged: CriterionRatings) -> dict[tuple[str, str, str], float]:
    """Return each person's coverage of each report by (topic, run, person)."""
    ratings = judged.people
    assert ratings.texts is not None  # load_criterion
    numbers, first, texts = np.unique(ratings.texts, return_index=True, return_inverse=True)
    names = text_names({ratings.items[row] for row in first.tolist()})
    found = {}
    for person, column in zip(map(str, ratings.raters), ratings.codes.T, strict=True):
        yes = grades_of(column, ratings.numbers) >= judged.criterion.threshold
        shares = coverage(yes, column != MISSING, texts, len(numbers)).tolist()
        for row, share in zip(first.tolist(), shares, strict=True):
            run, topic = names[ratings.items[row]]
            if not math.isnan(share):
                found[topic, run, person] = share
    return found


def _rho(people: Any, of_judge: Any, person: str, run: str) -> tuple[int, Any]:
    """Return of how many reports, and how far, a person and the judge put coverage in the same order."""
    both = [
        (share, of_judge[topic, of_run])
        for (topic, of_run, who), share in people.items()
        if who == person and run in ("", of_run) and (topic, of_run) in of_judge
    ]
    return len(both), spearman([one for one, _ in both], [other for _, other in both])


def _covers(people: Mapping[tuple[str, str, str], float], runs: Sequence[str]) -> str:
    """Say which run's reports cover most and which least: the mean over topics of the mean of its people."""
    found = {}
    for run in runs:
        by_topic: dict[str, list[float]] = defaultdict(list)
        for (topic, of_run, _), share in people.items():
            if of_run == run:
                by_topic[topic].append(share)
        found[run] = mean_interval([fmean(shares) for shares in by_topic.values()], within=SHARE)
    ordered = sorted(runs, key=lambda run: -(found[run].value or 0))
    said = [f"“{run}” {in_brackets('coverage', found[run])}" for run in ordered]
    if len(said) == 1:
        return f"People judged the reports of {said[0]}."
    own = "each interval is of its own, without a correction for their number"
    return f"By people, reports of {said[0]} cover most of what is asked, and those of {said[-1]} least; {own}."


def _agrees(rho: Mapping[str, tuple[int, Estimate]], judge: str) -> str:
    """Say how far each person and the judge put the reports in the same order."""
    known = {person: (n, one.value) for person, (n, one) in rho.items() if one.value is not None}
    if not known:
        return f"Whether {judge} puts them in people’s order cannot be told."
    told = listed([f"{shown(value)} with {person} ({counted(n, 'reports')})" for person, (n, value) in known.items()])
    return f"{judge} orders the reports with ρ {told}; ρ has no interval, for reports on one topic are not independent."


def _rho_in_words(of_run: dict[str, Any]) -> str:
    """Return ρ of each person who has one, in the order of the legend: “ρ 1.00, 0.90”."""
    known = [found.value for _, found in of_run.values()]
    return f"ρ {', '.join('–' if one is None else f'{one:.2f}' for one in known)}" if any(known) else ""
