"""All figures of one criterion of a study: what its page, its downloads and the API show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from collection.models import Criterion, Exclusion, Rater
from collection.task_types import TASK_TYPES
from evaluation.agreement.written_answers import WrittenAgreement, measure_written
from evaluation.charts.coverage import CoveragePoint
from evaluation.data.judge_pairs import JudgedText, JudgePairs, PairedJudge, judged_texts, pair_judges
from evaluation.data.judgments import load_criterion
from evaluation.data.visibility import PartName, Parts
from evaluation.formats.text import LABELS
from stats.agreement.report import Agreement, measure_agreement, plain_grade, rater_counts
from stats.answers_in_words import agreement_of_people, order_by_coverage
from stats.intervals import CELLS
from stats.judges.comparison import Comparison
from stats.pattern_intervals import Estimate
from stats.ratings import Grade
from stats.votes import RULE_OF_PEOPLE

MEANINGS = {
    "percent_agreement": "How often two assessors gave an item the same grade. Some of that is chance.",
    "fleiss_kappa": ("Agreement beyond what the shares of the grades alone would give. Low when one grade dominates."),
    "randolph_kappa": "Agreement beyond what random choice among the grades of the scale would give.",
    "gwet_ac1": "Agreement beyond chance, where chance affects only hard items. Stable where κ falls.",
    "gwet_ac2": "AC1 with partial credit for close grades; on a nominal scale the same as AC1.",
    "krippendorff_alpha": "One minus observed over expected disagreement, weighted by the scale’s level.",
}
SUMMARY = ("percent_agreement", "fleiss_kappa", "gwet_ac1")


@dataclass(frozen=True)
class Coefficient:
    """A coefficient with what it says in a line."""

    name: str
    label: str
    meaning: str
    estimate: Estimate


@dataclass(frozen=True)
class AssessorRow:
    """An assessor with the number of judgments and the share of each grade."""

    rater: Rater
    name: str
    n_judgments: int
    shares: tuple[float | None, ...]


@dataclass(frozen=True)
class JudgeFigures:
    """A judge with a row against all people together, then one against each of them.

    `part` is "all" where the study is not split. `readings`: how often the judge's test part was read.
    """

    one: PairedJudge
    comparison: Comparison
    rows: tuple[tuple[str, Comparison], ...]
    texts: list[JudgedText]
    part: PartName
    readings: int

    @property
    def named_rows(self) -> list[tuple[str, Comparison, list[tuple[str, Estimate]]]]:
        """Return each row with its figures one by one, then the accuracy that is a mean over people."""
        found = [(people, row, named_figures(row)) for people, row in self.rows]
        if mean := self.comparison.mean_accuracy:
            found.append((f"mean over assessors ({mean.n_raters})", self.comparison, [("accuracy", mean.estimate)]))
        return found

    def as_dict(self) -> dict[str, Any]:
        """Return the comparison, and in a study that is split its part."""
        return {
            "judge": self.one.name,
            "content_hash": self.one.judge.content_hash,
            **self.one.completeness.as_dict(),
            "criterion": self.one.criterion.name,
            "comparison": self.comparison.as_dict(),
            "left_out": {
                "human_only": self.one.paired.n_people_only,
                "judge_only": self.one.paired.n_judge_only,
            },
            **({} if self.part == "all" else {"part": self.part, "test_readings": self.readings}),
        }


@dataclass(frozen=True)
class CriterionFigures:
    """What people's judgments under a criterion say, and judges' beside them; `written` where they write answers.

    Where the study is split, `judges` are compared on its development part, and `tests` are those whose figures on the
    test part somebody has read; `locked` are the others that graded there.
    """

    criterion: Criterion
    agreement: Agreement
    assessors: tuple[AssessorRow, ...]
    grades: tuple[Grade, ...]
    excluded: tuple[Exclusion, ...]
    judges: tuple[JudgeFigures, ...]
    written: WrittenAgreement | None
    tests: tuple[JudgeFigures, ...]
    locked: tuple[Rater, ...]
    parts: Parts | None

    @property
    def coefficients(self) -> list[Coefficient]:
        """Return every coefficient over all raters."""
        return [
            Coefficient(name, LABELS[name], MEANINGS[name], estimate)
            for name, estimate in self.agreement.statistics.items()
        ]

    @property
    def summary(self) -> list[Coefficient]:
        """The three that belong together."""
        return [coefficient for coefficient in self.coefficients if coefficient.name in SUMMARY]

    @property
    def others(self) -> list[Coefficient]:
        """Return the rest of them."""
        return [coefficient for coefficient in self.coefficients if coefficient.name not in SUMMARY]

    @property
    def answer(self) -> str:
        """How far assessors' labels can be relied on, in a sentence; empty where nobody judged what another did."""
        return agreement_of_people(self.agreement.statistics["krippendorff_alpha"]) if self.agreement.n_pairable else ""

    @property
    def coverage_answer(self) -> str:
        """Whether the first judge orders texts as people do, in a sentence; empty without a judge of whole texts."""
        judge = next((judge for judge in self.judges if judge.texts), None)
        if judge is None:
            return ""
        return order_by_coverage(judge.one.name, self.unit, judge.comparison.coverage.kendall)

    @property
    def unit(self) -> str:
        """What is judged: a report or a passage."""
        return judged_unit(self.criterion)

    @property
    def has_simulated(self) -> bool:
        """Whether any of these grades were made by a simulation."""
        raters = [row.rater for row in self.assessors] + [judge.one.judge for judge in self.judges]
        return any(rater.simulated for rater in raters)

    @property
    def n_marks(self) -> int:
        """How many marks the coverage chart has."""
        return sum(len(judge.texts) for judge in self.judges)

    def as_dict(self) -> dict[str, Any]:
        """Return everything, as the API and the JSON download have it."""
        return {
            "study": self.criterion.study.name,
            "criterion": self.criterion.name,
            "agreement": self.agreement.as_dict(),
            "n_ungraded": self.agreement.n_ungraded,
            "excluded": [exclusion.rater.name for exclusion in self.excluded],
            "simulated": self.has_simulated,
            **({"written_answers": self.written.as_dict()} if self.written else {}),
            "judges": [figures.as_dict() for figures in (*self.judges, *self.tests)],
            **({"split": self.parts.as_dict()} if self.parts else {}),
        }

    def tables(self) -> dict[str, list[list[Any]]]:
        """Return the page's tables by name, each with a first row of names."""
        return {
            "coefficients": [
                ["coefficient", *CELLS],
                *([one.name, *one.estimate.cells] for one in self.coefficients),
            ],
            "pairs": [
                ["rater_a", "rater_b", "items", "weights", *CELLS],
                *(
                    [*pair.raters, pair.n_items, weights, *estimate.cells]
                    for pair in self.agreement.pairs
                    for weights, estimate in (
                        ("none", pair.kappa),
                        ("linear", pair.linear),
                        ("quadratic", pair.quadratic),
                    )
                ),
            ],
            "assessors": [
                ["assessor", "origin", "judgments", *(f"share of {plain_grade(grade)}" for grade in self.grades)],
                *([row.name, row.rater.origin, row.n_judgments, *row.shares] for row in self.assessors),
            ],
            "judges": [
                [*JUDGE_COLUMNS, *CELLS],
                *(
                    [
                        figures.one.name,
                        figures.part,
                        figures.readings,
                        figures.one.criterion.name,
                        people,
                        row.n_items,
                        row.n_ungraded,
                        name,
                        figures.one.completeness.mark,
                        *estimate.cells,
                    ]
                    for figures in (*self.judges, *self.tests)
                    for people, row, named in figures.named_rows
                    for name, estimate in named
                ),
            ],
            "coverage": [
                ["judge", self.unit, "topic", "items", "people_mean", "judge_coverage", *self._people()],
                *(
                    [figures.one.name, text.name, text.topic, text.n_items, text.people_mean, text.judge]
                    + [text.people.get(name) for name in self._people()]
                    for figures in self.judges
                    for text in figures.texts
                ),
            ],
            **self._written(),
        }

    def _written(self) -> dict[str, list[list[Any]]]:
        if self.written is None:
            return {}
        return {"answers": [["item", "assessor_a", "assessor_b", "rouge_l"], *self.written.rows()]}

    def _people(self) -> list[str]:
        return [row.name for row in self.assessors]


JUDGE_COLUMNS = ("judge", "part", "test_readings", "criterion", "people", "items", "ungraded", "figure", "mark")


def named_figures(row: Comparison) -> list[tuple[str, Estimate]]:
    """Return a comparison's figures one by one."""
    return [
        *row.threshold.figures().items(),
        ("kappa_unweighted_at_threshold", row.threshold.kappa),
        ("kappa_unweighted", row.kappa),
        ("kappa_quadratic", row.kappa_quadratic),
        ("krippendorff_alpha", row.krippendorff_alpha),
        ("spearman", row.spearman),
        ("kendall", row.kendall),
        ("coverage_spearman", row.coverage.spearman),
        ("coverage_kendall", row.coverage.kendall),
    ]


def measure_criterion(criterion: Criterion) -> CriterionFigures:
    """Read the judgments under a criterion and return all figures about them."""
    judged = load_criterion(criterion)
    people = judged.people
    raters = [judged.raters[column] for column in judged.columns(Rater.Kind.ASSESSOR)]
    found = pair_judges(judged)
    here: PartName = "development" if found.parts else "all"
    return CriterionFigures(
        criterion=criterion,
        agreement=measure_agreement(people),
        assessors=tuple(
            AssessorRow(rater, name, n, tuple(times / n if n else None for times in grades.values()))
            for rater, (name, n, grades) in zip(raters, rater_counts(people), strict=True)
        ),
        grades=people.scale,
        excluded=judged.excluded,
        judges=tuple(_judge_figures(found, found.pairs, here)),
        tests=tuple(_judge_figures(found, found.tests, "test")),
        written=measure_written(criterion),
        locked=found.locked,
        parts=found.parts,
    )


def _judge_figures(found: JudgePairs, pairs: Sequence[PairedJudge], part: PartName) -> Iterator[JudgeFigures]:
    for one, texts in zip(pairs, judged_texts(pairs), strict=True):
        comparison = one.compared()
        yield JudgeFigures(one, comparison, tuple(_rows(comparison)), texts, part, found.readings_of(one))


def _rows(comparison: Comparison) -> Iterable[tuple[str, Comparison]]:
    if len(comparison.by_rater) > 1:
        yield f"all people ({RULE_OF_PEOPLE})", comparison
    yield from comparison.by_rater.items()


def judged_unit(criterion: Criterion) -> str:
    """Return what the criterion's items judge: a report or a passage."""
    return TASK_TYPES[criterion.task_type].text if criterion.task_type in TASK_TYPES else "text"


def coverage_points(criterion: Criterion) -> list[CoveragePoint]:
    """Return the marks of the coverage chart, one a text and judge: read and counted without the other figures.

    Where the study is split they are of the development part.
    """
    pairs = pair_judges(load_criterion(criterion)).pairs
    return [
        CoveragePoint(
            judge_name=one.name,
            text=f"{text.name} · {text.topic}",
            people_mean=text.people_mean,
            people_least=min(share for share in text.people.values() if share is not None),
            people_most=max(share for share in text.people.values() if share is not None),
            judge=text.judge,
        )
        for one, texts in zip(pairs, judged_texts(pairs), strict=True)
        for text in texts
    ]
