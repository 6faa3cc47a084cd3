"""All figures of one criterion of a study: what its page, its downloads and the API show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.text import capfirst

from collection.models import Criterion, Exclusion, Rater
from collection.questions.shapes import TASK_TYPES
from collection.web.tables import Column, Table
from evaluation.agreement.written_answers import WrittenAgreement, measure_written
from evaluation.charts.coverage import CoveragePoint, coverage_chart
from evaluation.data.judge_pairs import JudgedText, JudgePairs, PairedJudge, judged_texts, pair_judges
from evaluation.data.judgments import load_criterion
from evaluation.data.visibility import PartName, Parts
from evaluation.formats.text import LABELS
from stats.agreement.report import Agreement, measure_agreement, plain_grade, rater_counts
from stats.answers_in_words import agreement_of_people, order_by_coverage
from stats.intervals import CELLS
from stats.judges.comparison import Comparison
from stats.pattern_intervals import Estimate
from stats.plurals import counted
from stats.ratings import Ratings
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
OF_PAIRS = (
    "Cohen’s κ of each pair, over the items that both judged. Weights give partial credit for grades that are close; "
    "they make no difference on a two-grade scale."
)
OF_ANSWERS = (
    "Yes and no, with human judgments as the truth. An ungraded reply counts as a miss: it lowers recall, F1, accuracy "
    "and κ. Accuracy is the share of items with the same answer, part of which is chance; a mean gives each assessor "
    "equal weight."
)
WEIGHTS = {"none": "unweighted", "linear": "linear weights", "quadratic": "quadratic weights"}
COEFFICIENTS = (
    *(Column("coefficient"), Column("label", "Coefficient", filed=False)),
    *(Column("figure", "Value", "estimate", CELLS, CELLS), Column("meaning", "Meaning", "words", filed=False)),
)
PAIRS = (
    *(Column("pair", "Pair", filed=False), Column("rater_a"), Column("rater_b"), Column("items", "Items", "count")),
    *(Column(key, f"κ ({name})", "estimate", CELLS) for key, name in WEIGHTS.items()),
)
JUDGES = (
    *(Column("judge"), Column("part"), Column("test_readings"), Column("criterion"), Column("people")),
    *(Column("items"), Column("ungraded"), Column("figure"), Column("mark")),
    Column("value", "", "estimate", CELLS, CELLS),
)
ANSWERS = (
    *(Column("people", "Human"), Column("items", "Items", "count"), Column("ungraded", "Ungraded", "share")),
    *(Column("accuracy", "Accuracy", "estimate"), Column("kappa", "κ (unweighted)", "estimate")),
    *(
        Column(f"{side}_{name}", f"{name} of {side}", "estimate")
        for side in ("yes", "no")
        for name in ("Precision", "Recall", "F1")
    ),
)
ORDERS = (
    *(Column("people", "Human"), Column("texts", "Texts", "count")),
    *(Column("spearman", "Spearman’s ρ", "estimate"), Column("kendall", "Kendall’s τ_b", "estimate")),
)
OF_ONE_SCALE = ("κ (unweighted)", "κ (quadratic weights)", "α, ordinal", "Spearman’s ρ", "Kendall’s τ_b")
GRADES = (*ANSWERS[:2], *(Column(name, name, "estimate") for name in OF_ONE_SCALE))
WRITTEN = (Column("item"), Column("assessor_a"), Column("assessor_b"), Column("rouge_l", kind="number"))


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
    def named(self) -> tuple[Any, ...]:
        return self.one.name, self.part, self.readings, self.one.criterion.name

    @property
    def named_rows(self) -> list[tuple[str, Comparison, list[tuple[str, Estimate]]]]:
        """Return each row with its figures one by one, then the accuracy that is a mean over people."""
        found = [(people, row, named_figures(row)) for people, row in self.rows]
        if mean := self.comparison.mean_accuracy:
            found.append((f"mean over assessors ({mean.n_raters})", self.comparison, [("accuracy", mean.estimate)]))
        return found

    @property
    def tables(self) -> dict[str, Table]:
        of_test = ", test topics" if self.part == "test" else ""
        title = f"{self.one.name} against humans under {self.one.criterion.name}{of_test}"
        return tables_of_judge(self.comparison, title=title)

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
    assessors: Table
    simulated: bool
    excluded: tuple[Exclusion, ...]
    judges: tuple[JudgeFigures, ...]
    written: WrittenAgreement | None
    tests: tuple[JudgeFigures, ...]
    locked: tuple[Rater, ...]
    parts: Parts | None

    @property
    def summary(self) -> list[tuple[str, str, Estimate]]:
        """The three that belong together, each with its name and what it says."""
        return [(LABELS[name], MEANINGS[name], self.agreement.statistics[name]) for name in SUMMARY]

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
    def coverage_points(self) -> list[CoveragePoint]:
        """The marks of the coverage chart, one a text and judge; where the study is split, of its development part."""
        return [
            CoveragePoint(
                judge_name=judge.one.name,
                text=f"{text.name} · {text.topic}",
                people_mean=text.people_mean,
                people_least=min(share for share in text.people.values() if share is not None),
                people_most=max(share for share in text.people.values() if share is not None),
                judge=text.judge,
            )
            for judge in self.judges
            for text in judge.texts
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return everything, as the API and the JSON download have it."""
        return {
            "study": self.criterion.study.name,
            "criterion": self.criterion.name,
            "agreement": self.agreement.as_dict(),
            "n_ungraded": self.agreement.n_ungraded,
            "excluded": [exclusion.rater.name for exclusion in self.excluded],
            "simulated": self.simulated,
            **({"written_answers": self.written.as_dict()} if self.written else {}),
            "judges": [figures.as_dict() for figures in (*self.judges, *self.tests)],
            **({"split": self.parts.as_dict()} if self.parts else {}),
        }

    def tables(self) -> dict[str, Table]:
        """Return its tables by name; each judge has others for pages."""
        return {
            **tables_of_people(self.agreement),
            "assessors": self.assessors,
            **self._of_judges(),
            **({"answers": Table.of("Written answers", WRITTEN, self.written.rows())} if self.written else {}),
        }

    def _of_judges(self) -> dict[str, Table]:
        judges = [
            [*figures.named, people, row.n_items, row.n_ungraded, name, figures.one.completeness.mark, found]
            for figures in (*self.judges, *self.tests)
            for people, row, named in figures.named_rows
            for name, found in named
        ]
        if not judges:
            return {}
        people = [name for name, *_ in self.assessors.rows]
        texts = [
            [figures.one.name, text.name, text.topic, text.n_items, text.people_mean, text.judge]
            + [text.people.get(name) for name in people]
            for figures in self.judges
            for text in figures.texts
        ]
        columns = [
            *(Column("judge", "Judge"), Column(self.unit, self.unit.capitalize()), Column("topic", "Topic")),
            *(Column("items", "Questions", "count"), Column("people_mean", "Human mean", "share")),
            *(Column("judge_coverage", "The judge’s", "share"), *(Column(name, kind="share") for name in people)),
        ]
        coverage = {"coverage": Table.of(f"Coverage of each {self.unit}", columns, texts)} if texts else {}
        return {"judges": Table.of("Judges compared with humans", JUDGES, judges), **coverage}


def tables_of_people(agreement: Agreement) -> dict[str, Table]:
    """Return the coefficients over all assessors, and Cohen's κ of each pair."""
    coefficients = [
        [name, capfirst(LABELS[name]), estimate, MEANINGS[name]] for name, estimate in agreement.statistics.items()
    ]
    pairs = [
        [" and ".join(pair.raters), *pair.raters, pair.n_items, pair.kappa, pair.linear, pair.quadratic]
        for pair in agreement.pairs
    ]
    return {
        "coefficients": Table.of("Coefficients over all assessors", COEFFICIENTS, coefficients),
        "pairs": Table.of("Pairs of assessors", PAIRS, pairs, note=OF_PAIRS, long="weights"),
    }


def tables_of_judge(comparison: Comparison, *, title: str) -> dict[str, Table]:
    """Return a judge's answers, its order of texts by coverage and its grades beside all people's and each person's."""
    beside = list(_rows(comparison))
    answers: list[list[Any]] = [
        [people, row.n_items, row.ungraded_share, at.accuracy, at.kappa]
        + [one for of in (at.positive, at.negative) for one in (of.precision, of.recall, of.f1)]
        for people, row in beside
        for at in (row.threshold,)
    ]
    orders = [(people, row.coverage) for people, row in beside]
    if len(beside) > 1 and (mean := comparison.mean_accuracy):
        mean_of = f"mean over {counted(mean.n_raters, 'people')}"
        answers.append([mean_of, comparison.n_items, comparison.ungraded_share, mean.estimate, *[None] * 7])
    if len(beside) > 1 and comparison.mean_coverage:
        orders.append(("mean of their coverages", comparison.mean_coverage))
    of_orders = ([people, one.n_texts, one.spearman, one.kendall] for people, one in orders)
    grades = (
        [who, one.n_items, one.kappa, one.kappa_quadratic, one.krippendorff_alpha, one.spearman, one.kendall]
        for who, one in beside
    )
    return {
        "answers": Table.of(f"{title}, yes and no", ANSWERS, answers, note=OF_ANSWERS),
        "orders": Table.of(f"{title}, order", ORDERS, of_orders, note="Texts in order of their coverage."),
        "grades": Table.of(f"{title}, grades", GRADES, grades, note="Over the items that both graded."),
    }


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
        assessors=_assessors(people, raters),
        simulated=any(rater.simulated for rater in (*raters, *(one.judge for one in found.pairs))),
        excluded=judged.excluded,
        judges=tuple(_judge_figures(found, found.pairs, here)),
        tests=tuple(_judge_figures(found, found.tests, "test")),
        written=measure_written(criterion),
        locked=found.locked,
        parts=found.parts,
    )


def _assessors(people: Ratings, raters: Sequence[Rater]) -> Table:
    columns = [Column("assessor", "Assessor"), Column("origin", "Origin"), Column("judgments", "Judgments", "count")]
    columns += [Column(name := f"share of {plain_grade(grade)}", name, "share") for grade in people.scale]
    rows = (
        [name, rater.origin, n, *(times / n if n else None for times in grades.values())]
        for rater, (name, n, grades) in zip(raters, rater_counts(people), strict=True)
    )
    return Table.of("Grades by assessor", columns, rows)


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


def draw_coverage(figures: CriterionFigures) -> dict[str, Any] | None:
    """Return the description of the chart of people's coverage against judges'; None without a judge of texts."""
    points = figures.coverage_points
    return coverage_chart(points, unit=figures.unit) if points else None
