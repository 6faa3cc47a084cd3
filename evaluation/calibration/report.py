"""A judge's scores corrected by people's labels: what the calibration page, its command and the API show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from collection.models import Criterion
from collection.splits import AskedPart
from collection.web.tables import Column, Table
from evaluation.charts.reliability import OVERALL, recalibration_chart, scores_chart
from evaluation.data.drawn_labels import NAMED
from evaluation.data.population import JudgeChoice, Population, population_of
from evaluation.data.visibility import Visibility
from stats.answers_in_words import corrected_score
from stats.calibration.estimators import Corrected, Score, correct
from stats.calibration.labels import Labels
from stats.calibration.planning import least_half_width
from stats.calibration.recalibration import CurvePoint, recalibration_curve
from stats.plurals import counted

# More systems than these make a picture nobody reads; the table has them all.
MOST_SYSTEMS_DRAWN = 30
METHODS = {
    "people": ("Human labels alone", "The mean of the human labels, without the judge."),
    "judge": ("Judge alone", "The judge’s mean. Its interval does not include the judge’s errors."),
    "ppi": ("PPI++", "The judge’s mean, corrected for the errors that human labels show."),
    "post_stratified": (
        "Post-stratified by judge grade",
        "The human mean for each judge grade, weighted by the grade’s frequency.",
    ),
    "rogan_gladen": ("Rogan–Gladen", "The judge’s share, corrected by its sensitivity and specificity."),
}
HOW_KNOWN = {
    "drawn": "Labelled items were drawn with stored probabilities; each is weighted by the items it represents.",
    "all": "Assessors have labelled every item that the judge was asked about, so there is nothing to correct.",
    "named": NAMED,
    "declared": (
        "The labelled items that nobody drew are declared a simple random sample of the judge’s items; each item that "
        "was drawn is weighted by the items it represents."
    ),
    "unknown": (
        "The probabilities with which the labelled items were drawn are not recorded. Human labels alone, PPI++ and "
        "the post-stratified estimate need them and are missing: only the judge alone is left, and Rogan–Gladen’s "
        "correction if you declare label shift."
    ),
}


@dataclass(frozen=True)
class SystemScores:
    """A run's scores. `circular`: the judge and the system belong to one family."""

    name: str
    family: str
    corrected: Corrected
    circular: bool


@dataclass(frozen=True)
class MethodScore:
    """A score with the name of its method as pages print it, and what the method does."""

    key: str
    label: str
    meaning: str
    score: Score


@dataclass(frozen=True)
class Calibration:
    """A judge's scores over a criterion's items, overall and by system, with its recalibration curve.

    `least_half_width` is that of PPI++'s interval if people labelled all items; None where it cannot be told.
    `measures`: of rankings, for which labels can be planned.
    """

    population: Population
    overall: Corrected
    systems: tuple[SystemScores, ...]
    curve: tuple[CurvePoint, ...]
    label_shift: bool
    least_half_width: float | None
    measures: tuple[str, ...] = ()

    @property
    def choice(self) -> JudgeChoice:
        return self.population.choice

    @property
    def criterion(self) -> Criterion:
        return self.population.criterion

    @property
    def how_known(self) -> str:
        """How it is known what each label stands for, in words."""
        return HOW_KNOWN[self.population.known]

    @property
    def methods(self) -> list[MethodScore]:
        """The overall scores in the order in which pages show them."""
        return method_scores(self.overall)

    @property
    def outlook(self) -> str:
        """What all labels on these topics would bring, in words; empty where it cannot be told."""
        return outlook(self.population.labels, self.least_half_width)

    @property
    def answer(self) -> str:
        """Whether the judge's own score is off, in a sentence."""
        scores = self.overall.scores
        return corrected_score(self.choice.key, scores["judge"].estimate, scores["ppi"].estimate)

    @property
    def warnings(self) -> list[str]:
        """Return what makes these estimates less than they seem, each said once."""
        of_methods: dict[str, list[str]] = {}
        for one in self.methods:
            for warning in one.score.warnings:
                of_methods.setdefault(warning, []).append(one.label)
        n_methods = len([one for one in self.methods if one.score.warnings])
        found = [
            warning if len(labels) == n_methods > 1 else f"{' and '.join(labels)}: {warning}"
            for warning, labels in of_methods.items()
        ]
        if self.population.doubt:
            found.append(self.population.doubt.removesuffix("."))
        if self.population.n_waiting:
            found.append(
                f"{self.population.n_waiting} drawn items are waiting for their first judgment. The estimates assume "
                "that it is random which of a topic’s drawn items have been judged"
            )
        if self.population.n_set_aside:
            found.append(
                f"{self.population.n_set_aside} labelled items were never drawn. Their labels are left out, because "
                "it is not known how they were chosen"
            )
        return found

    def as_dict(self) -> dict[str, Any]:
        """Return everything, as the command and the API have it."""
        return {
            "study": self.criterion.study.name,
            "criterion": self.criterion.name,
            "judge": self.choice.key,
            "judge_criterion": self.choice.criterion.name,
            "content_hash": self.choice.rater.content_hash,
            **self.choice.completeness.as_dict(),
            **_part_of(self.population),
            "threshold": {"human_at": self.criterion.threshold, "judge_at": self.population.at},
            "score": "mean over topics of the share of yes",
            "inclusion_probabilities": self.population.known,
            "label_shift": self.label_shift,
            "simulated": self.population.simulated,
            "n_topics": self.population.labels.n_topics,
            "n_waiting": self.population.n_waiting,
            "n_set_aside": self.population.n_set_aside,
            "n_people_only": self.population.n_people_only,
            "warnings": self.warnings,
            "overall": self.overall.as_dict(),
            "systems": [
                {"system": one.name, "family": one.family, "circular": one.circular, **one.corrected.as_dict()}
                for one in self.systems
            ],
            "recalibration": [point_as_dict(point) for point in self.curve],
            "half_width_if_all_labelled": self.least_half_width,
        }

    @property
    def visibility(self) -> Visibility:
        return self.population.visibility

    @property
    def simulated(self) -> bool:
        return self.population.simulated

    @property
    def whose(self) -> str:
        return self.choice.key

    def tables(self) -> dict[str, Table]:
        everything = [("", "", False, self.overall)]
        everything += [(one.name, one.family, one.circular, one.corrected) for one in self.systems]
        scores = (
            (
                *(name, family, int(circular), of.n_items, of.n_labelled, of.n_ungraded, method, score.estimate),
                *(score.effective_labels, score.power, score.estimate.reason, "; ".join(score.warnings)),
            )
            for name, family, circular, of in everything
            for method, score in of.scores.items()
        )
        systems = (
            (
                *(one.name, "same family" if one.circular else None, one.corrected.n_items, one.corrected.n_labelled),
                *(one.corrected.n_ungraded, *(score.estimate for score in one.corrected.scores.values())),
                _rounded(one.corrected.ppi.effective_labels),
            )
            for one in self.systems
        )
        by_method = (Column(key, label, "estimate") for key, (label, _) in METHODS.items())
        return {
            "overall": overall_table(self.overall),
            "systems": Table.of("Scores of each system", (*SYSTEMS, *by_method, EFFECTIVE), systems),
            "recalibration": curve_table(self.curve),
            "scores": Table.of("All scores", SCORES, scores),
        }


EFFECTIVE = Column("effective_labels", "Effective labels (PPI++)", "count")
SYSTEMS = (
    *(Column("system", "System"), Column("family", "Family"), Column("items", "Items", "count")),
    *(Column("labelled", "Labelled", "count"), Column("ungraded", "Ungraded", "count")),
)
SCORES = (
    *(Column(key) for key in ("system", "family", "circular", "items", "labelled", "ungraded", "method")),
    Column("value", kind="estimate", parts=("value", "low", "high", "se"), names=("value", "low", "high", "se")),
    *(Column(key) for key in ("effective_labels", "lambda", "reason", "warnings")),
)
OVERALL_SCORES = (
    *(Column("score", "Score"), Column("value", "Value", "estimate")),
    *(Column("effective_labels", "Effective labels", "count"), Column("lambda", "Weight of the judge (λ)", "number")),
    Column("description", "Description", "words"),
)
CURVE = (
    *(Column("grade"), Column("judge", "Judge", filed=False), Column("items", "Items", "count")),
    Column("labelled", "Labelled", "count"),
    Column("people", "Human share of yes", "estimate", names=("people", "low", "high")),
    *(Column("isotonic", "Isotonic curve", "number"), Column("reason")),
)


def overall_table(corrected: Corrected) -> Table:
    """Return the scores over all items, with what each is, or why there is none."""
    rows = (
        (
            *(one.label, one.score.estimate, _rounded(one.score.effective_labels), one.score.power),
            one.meaning if one.score.estimate.value is not None else f"None: {one.score.estimate.reason}.",
        )
        for one in method_scores(corrected)
    )
    note = "All items, 95 % intervals. Effective labels: as many human labels alone would have this standard error."
    return Table.of("Scores over all items", OVERALL_SCORES, rows, note=note)


def curve_table(curve: Sequence[CurvePoint]) -> Table:
    """Return people's share of yes by the judge's grade."""
    rows = (
        (
            *(point.grade, "ungraded" if point.grade is None else f"{point.grade:g}".replace("-", "−"), point.n_items),
            *(point.n_labelled, point.people, point.isotonic, point.people.reason),
        )
        for point in curve
    )
    return Table.of("Human share of yes by the judge’s grade", CURVE, rows)


def _rounded(n: float | None) -> int | None:
    return None if n is None else round(n)


def curve_chart(found: Calibration) -> dict[str, Any]:
    return recalibration_chart(found.curve, judge=found.choice.key)


def systems_chart(found: Calibration) -> dict[str, Any]:
    """Return the scores of all items and of the first systems, by each method that has one."""
    scores = [
        (system, METHODS[method][0], score.estimate)
        for system, corrected in [
            (OVERALL, found.overall),
            *((one.name, one.corrected) for one in found.systems[:MOST_SYSTEMS_DRAWN]),
        ]
        for method, score in corrected.scores.items()
        if found.overall.scores[method].estimate.value is not None
    ]
    return scores_chart(scores, judge=found.choice.key, n_systems=len(found.systems))


def method_scores(corrected: Corrected) -> list[MethodScore]:
    """Return the five scores with their names."""
    return [MethodScore(key, *METHODS[key], score) for key, score in corrected.scores.items()]


def outlook(labels: Labels, least_half_width: float | None) -> str:
    """Return what all labels on these topics would bring, in words; empty where it cannot be told."""
    if least_half_width is None or labels.n_labelled == labels.n_items:
        return ""
    of = "" if labels.n_topics is None else f" of these {counted(labels.n_topics, 'topics')}"
    more = "" if labels.n_topics is None else " A narrower interval needs more topics."
    items = counted(labels.n_items, "items")
    return f"With all {items}{of} labelled, the interval would be about ± {least_half_width:.3f}.{more}"


def point_as_dict(point: CurvePoint) -> dict[str, Any]:
    """Return a point of the recalibration curve; `grade` is null for ungraded replies."""
    return {
        "grade": point.grade,
        "n_items": point.n_items,
        "n_labelled": point.n_labelled,
        "people": point.people.as_dict(),
        "isotonic": point.isotonic,
    }


def _part_of(population: Population) -> dict[str, Any]:
    """Return of a study that is split which part the figures rest on, and how often the test part was read."""
    visibility = population.visibility
    return visibility.as_dict() | (
        {"test_readings": visibility.readings_of(population.choice.rater)} if visibility.parts else {}
    )


def calibrate(
    criterion: Criterion,
    *,
    judge: str | None = None,
    label_shift: bool = False,
    part: AskedPart = "development",
) -> Calibration:
    """Correct a judge's scores under the criterion, on the visible topics. Raises as `population_of` does."""
    population = population_of(criterion, judge, part=part)
    return calibrate_population(population, label_shift=label_shift)


def calibrate_population(population: Population, *, label_shift: bool = False) -> Calibration:
    """Return all scores of the population and of each of its systems."""
    labels = population.labels
    return Calibration(
        population=population,
        overall=correct(labels, label_shift=label_shift),
        systems=tuple(
            SystemScores(
                name=system.name,
                family=system.family,
                corrected=correct(labels.of_items(system.rows), label_shift=label_shift),
                circular=system.name in population.circular,
            )
            for system in population.systems
        ),
        curve=tuple(recalibration_curve(labels)),
        label_shift=label_shift,
        least_half_width=least_half_width(labels, population.units),
    )
