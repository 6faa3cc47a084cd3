"""A judge's scores corrected by people's labels: what the calibration page, its command and the API show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from collection.models import Criterion
from collection.splits import AskedPart
from evaluation.data.drawn_labels import NAMED
from evaluation.data.population import JudgeChoice, Population, population_of
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
    """

    population: Population
    overall: Corrected
    systems: tuple[SystemScores, ...]
    curve: tuple[CurvePoint, ...]
    label_shift: bool
    least_half_width: float | None

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

    def tables(self) -> dict[str, list[list[Any]]]:
        """Return the page's tables by name, each with a first row of names."""
        everything = [("", "", False, self.overall)]
        everything += [(one.name, one.family, one.circular, one.corrected) for one in self.systems]
        return {
            "scores": [
                ["system", "family", "circular", "items", "labelled", "ungraded", "method", *SCORE_COLUMNS],
                *(
                    [name, family, int(circular), of.n_items, of.n_labelled, of.n_ungraded, method, *_cells(score)]
                    for name, family, circular, of in everything
                    for method, score in of.scores.items()
                ),
            ],
            "recalibration": [
                ["grade", "items", "labelled", "people", "low", "high", "isotonic", "reason"],
                *(
                    [
                        point.grade,
                        point.n_items,
                        point.n_labelled,
                        point.people.value,
                        point.people.low,
                        point.people.high,
                        point.isotonic,
                        point.people.reason,
                    ]
                    for point in self.curve
                ),
            ],
        }


SCORE_COLUMNS = ("value", "low", "high", "se", "effective_labels", "lambda", "reason", "warnings")


def _cells(score: Score) -> list[Any]:
    one = score.estimate
    return [
        one.value,
        one.low,
        one.high,
        one.se,
        score.effective_labels,
        score.power,
        one.reason,
        "; ".join(score.warnings),
    ]


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
    sight = population.sight
    return sight.as_dict() | ({"test_readings": sight.readings_of(population.choice.rater)} if sight.parts else {})


def calibrate(
    criterion: Criterion,
    *,
    judge: str | None = None,
    label_shift: bool = False,
    part: AskedPart = "development",
) -> Calibration:
    """Correct a judge's scores under the criterion, on the topics in sight. Raises as `population_of` does."""
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
