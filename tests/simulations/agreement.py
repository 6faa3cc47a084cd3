"""Simulated agreement: people with one another and judges with people, over topics that differ or single items."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np
from scipy.special import expit, logit

from stats.agreement import coefficients, report
from stats.agreement.pattern_correlations import pairs_of_values, rank_correlations
from stats.agreement.report import group_statistics
from stats.intervals import Sample
from stats.judges import thresholds
from stats.judges.accuracy import mean_accuracy
from stats.judges.best_of_several import differences, pseudo_values
from stats.judges.coverage import coverage
from stats.judges.summary import brief_of_items
from stats.judges.thresholds import at_threshold, kappa_at_threshold, kappa_without_topics
from stats.pattern_intervals import Estimate, estimate
from stats.ratings import BoolArray, CodeArray, FloatArray, IntArray, Ratings, count_patterns, pair_patterns
from tests.simulations.scenarios import Intervals, Scenario

TOPICS = (3, 5, 6, 8, 10, 15, 20, 30, 50)
SIX = (0.4, 0.2, 0.1, 0.1, 0.1, 0.1)
POPULATION = 60_000
RARE_TOPICS = (6, 10, 20, 50)
ITEMS = (30, 50, 100, 300)
NEAR_PERFECT = "near-perfect"
RARE = "one yes in twenty, topics far apart"
# Shares of what may be few items: where nearly all of these agree, an honest interval holds more than it promises.
COUNTED = ("precision", "recall", "F1")
ACCURACY = "accuracy of a judge, mean over people"
ALL = (
    "percent agreement",
    "Fleiss κ",
    "Gwet AC1",
    "α nominal",
    "α ordinal, 0–5",
    "κ (quadratic weights), 0–5",
    "κ (unweighted) of a judge",
    "difference of two judges’ κ",
    ACCURACY,
    *COUNTED,
)
CEILING = "human ceiling"
BESIDE = ("α nominal of judge and people", CEILING, f"{CEILING}, the judge", f"{CEILING}, the difference")
ORDERS = ("coverage, Spearman’s ρ", "coverage, Kendall’s τ_b")


@dataclass(frozen=True)
class Shape:
    """A study of yes and no, and of grades 0–5.

    Topics have `size` items in the median, with log sizes of sd `unequal`. A share `yes` of items deserves a yes, whose
    logit has the sd `apart` between topics. Three people and two judges see what is right with these probabilities
    (sensitivity and specificity), whose logits have the sd `errors_apart`.
    """

    name: str
    size: int
    unequal: float
    yes: float
    apart: float
    people: tuple[float, float]
    judge: tuple[float, float]
    errors_apart: float


SHAPES = (
    Shape("even", 20, 0, 0.5, 0.8, (0.9, 0.9), (0.85, 0.85), 0.5),
    Shape("skewed, unequal sizes", 20, 0.8, 0.2, 1.0, (0.92, 0.92), (0.75, 0.93), 0.7),
    Shape("topics far apart", 25, 0.6, 0.35, 1.5, (0.9, 0.9), (0.8, 0.85), 1.0),
    Shape(RARE, 20, 0, 0.05, 2.0, (0.92, 0.92), (0.75, 0.97), 0.5),
    Shape(NEAR_PERFECT, 20, 0.5, 0.3, 1.0, (0.98, 0.98), (0.98, 0.98), 0.5),
)
# Few yeses: a judge beside people has no interval where `too_rare` speaks.
RARE_SHAPES = tuple(
    Shape(f"{percent} % yes, {size} items a topic", size, 0.5, percent / 100, 1.0, (0.8, 0.995), (0.75, 0.985), 0.5)
    for percent in (2, 5, 10)
    for size in (20, 100)
)
GENEROUS = replace(RARE_SHAPES[3], name="5 % yes, 100 items a topic, a generous judge", judge=(0.8, 0.8))
# Nothing is demanded here: where few topics have nearly all yeses percent agreement itself holds less than it promises.
FAR_APART = tuple(replace(shape, name=f"{shape.name}, far apart", apart=2.0) for shape in RARE_SHAPES[1::2])


@dataclass(frozen=True)
class Study:
    """The grades of one draw, all of shape (items, …): three people, two judges, and grades 0–5 of two raters."""

    topics: IntArray
    people: CodeArray
    judges: CodeArray
    grades: CodeArray


def draw_study(rng: np.random.Generator, shape: Shape, n_topics: int) -> Study:
    sizes = np.maximum(5, np.round(shape.size * np.exp(shape.unequal * rng.standard_normal(n_topics)))).astype(int)
    topics = np.repeat(np.arange(n_topics), sizes)
    n = len(topics)

    def by_topic(chance: float, spread: float) -> FloatArray:
        found: FloatArray = expit(logit(chance) + spread * rng.standard_normal(n_topics))[topics]
        return found

    truth = rng.random(n) < by_topic(shape.yes, shape.apart)
    z = rng.standard_normal(n_topics)[topics]
    right = expit(np.where(truth, *map(logit, shape.people)) + shape.errors_apart * z)
    people = np.where(rng.random((n, 3)) < right[:, None], truth[:, None], ~truth[:, None])
    judges = []
    for sensitivity, specificity in (shape.judge, (shape.judge[0] - 0.1, shape.judge[1])):
        says_yes = np.where(
            truth, by_topic(sensitivity, shape.errors_apart), 1 - by_topic(specificity, shape.errors_apart)
        )
        judges.append(rng.random(n) < says_yes)
    common = rng.choice(6, size=n_topics, p=SIX)
    graded = np.where(rng.random(n) < 0.4, common[topics], rng.choice(6, size=n, p=SIX))
    seen = rng.random((n, 2)) < by_topic(0.75, shape.errors_apart)[:, None]
    near = np.clip(graded[:, None] + rng.choice([-2, -1, 1, 2], (n, 2)), 0, 5)
    return Study(
        topics,
        np.asfortranarray(people.astype(np.int16)),
        np.asfortranarray(np.stack(judges, axis=1).astype(np.int16)),
        np.asfortranarray(np.where(seen, graded[:, None], near).astype(np.int16)),
    )


def without_libraries() -> None:
    """Leave out the libraries' point values in this process: tests hold ours to them, and they take long."""
    thresholds._library_figures = lambda patterns, which: {}
    report.LARGEST_LIBRARY_TABLE = 0


def figures_of(study: Study) -> dict[str, Estimate]:
    """Return the figures of a study, by the functions that pages, files and commands call."""
    n = len(study.topics)
    people = Ratings(study.people, (0.0, 1.0), "nominal", range(n), range(3), topics=study.topics)
    graded = replace(people, codes=study.grades, scale=tuple(map(float, range(6))), level="ordinal", raters=range(2))
    group = group_statistics(count_patterns(people), people)
    ordinal = group_statistics(count_patterns(graded), graded)
    yes, ungraded = study.people.sum(axis=1) >= 2, np.zeros(n, bool)
    judge = at_threshold(yes, study.judges[:, 0] == 1, ungraded, study.topics, at=1, people_at=1)
    other = kappa_at_threshold(yes, study.judges[:, 1] == 1, ungraded, study.topics)
    return {
        "percent agreement": group["percent_agreement"],
        "Fleiss κ": group["fleiss_kappa"],
        "Gwet AC1": group["gwet_ac1"],
        "α nominal": group["krippendorff_alpha"],
        "α ordinal, 0–5": ordinal["krippendorff_alpha"],
        "κ (quadratic weights), 0–5": quadratic_kappa(graded),
        "κ (unweighted) of a judge": judge.kappa,
        "precision": judge.positive.precision,
        "recall": judge.positive.recall,
        "F1": judge.positive.f1,
        "difference of two judges’ κ": difference_of_two(judge.kappa, other, yes, study),
        ACCURACY: accuracy_of(study, np.arange(n), study.topics),
    }


def figures_beside_people(study: Study) -> dict[str, Estimate]:
    """Return what *Trust* and *All judges* begin with."""
    n = len(study.topics)
    people = Ratings(study.people, (0.0, 1.0), "nominal", range(n), range(3), topics=study.topics)
    judge = replace(people, codes=study.judges[:, :1], raters=range(1))
    brief = brief_of_items(people, judge, at=1, people_at=1, same_scale=True)
    ceilings = (brief.ceiling.people, brief.ceiling.judge, brief.ceiling.difference)
    return dict(zip(BESIDE, (brief.alpha, *ceilings), strict=True))


def accuracy_of(study: Study, items: IntArray, topics: IntArray | None) -> Estimate:
    """The first judge's accuracy against the three people: the first sees all items, the others two thirds of them."""
    people = study.people[items]
    judged = np.ones(people.shape, dtype=bool)
    judged[::3, 1], judged[1::3, 2] = False, False
    return mean_accuracy(people == study.judges[items, :1], judged, topics).estimate


def difference_of_two(first: Estimate, second: Estimate, yes: BoolArray, study: Study) -> Estimate:
    """As `stats.judges.side_by_side` has it."""
    if first.value is None or second.value is None or first.reason or second.reason:
        return Estimate(None if first.value is None or second.value is None else first.value - second.value)
    values = np.array([first.value, second.value])
    left = [kappa_without_topics(yes, judge == 1, None, study.topics) for judge in study.judges.T]
    found = differences(values, pseudo_values(values, np.stack(left, axis=1)), first.sample or Sample())
    return Estimate(float(found.value[0, 1]), float(found.low[0, 1]), float(found.high[0, 1]))


def quadratic_kappa(ratings: Ratings) -> Estimate:
    patterns = pair_patterns(ratings, 0, 1)
    differences = coefficients.pair_differences("quadratic", ratings.numbers)
    kappa = partial(coefficients.cohen_kappa, patterns=patterns, differences=differences)
    return estimate({"": kappa}, patterns)[""]


Figures = Callable[[Study], dict[str, Estimate]]


@cache
def truth_of(shape: Shape, figures: Figures = figures_of) -> dict[str, float]:
    """The figures over a great many topics."""
    found = figures(draw_study(np.random.default_rng(1), shape, POPULATION * 20 // max(shape.size, 20)))
    return {name: figure.value for name, figure in found.items() if figure.value is not None}


def draw_agreement(rng: np.random.Generator, shape: Shape, n: int, figures: Figures = figures_of) -> Intervals:
    truth = truth_of(shape, figures)
    return {name: (figure, truth[name]) for name, figure in figures(draw_study(rng, shape, n)).items()}


# Single items, without topics.


def draw_items(rng: np.random.Generator, shape: Shape, n: int) -> Intervals:
    truth = truth_of_items(shape)
    return {name: (figure, truth[name]) for name, figure in figures_of_items(rng, shape, n).items()}


def figures_of_items(rng: np.random.Generator, shape: Shape, n: int) -> dict[str, Estimate]:
    study = draw_study(rng, replace(shape, size=1, unequal=0), n)
    kept = rng.permutation(len(study.topics))[:n]
    people = Ratings(np.asfortranarray(study.people[kept]), (0.0, 1.0), "nominal", range(n), range(3))
    group = group_statistics(count_patterns(people), people)
    yes = people.codes.sum(axis=1) >= 2
    judge = at_threshold(yes, study.judges[kept, 0] == 1, np.zeros(n, bool), None, at=1, people_at=1)
    return {
        "Fleiss κ": group["fleiss_kappa"],
        "α nominal": group["krippendorff_alpha"],
        "κ (unweighted) of a judge": judge.kappa,
        "precision": judge.positive.precision,
        "recall": judge.positive.recall,
        "F1": judge.positive.f1,
        ACCURACY: accuracy_of(study, kept, None),
    }


@cache
def truth_of_items(shape: Shape) -> dict[str, float]:
    found = figures_of_items(np.random.default_rng(2), shape, POPULATION * 5)
    return {name: figure.value for name, figure in found.items() if figure.value is not None}


# Whether people and a judge order texts alike: three texts a topic, 15 questions each.


def draw_coverage(rng: np.random.Generator, n_topics: int, n_texts: int) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return people's and the judge's coverage of each text, and its topic."""
    texts = np.arange(n_topics * n_texts)
    topics = texts // n_texts
    ability = rng.normal(0, 0.7, n_topics)[topics] + rng.normal(0, 0.8, len(texts))
    chances = expit(ability)[:, None]
    noisy = expit(0.8 * ability + rng.normal(-0.3, 0.5, len(texts)))[:, None]
    items, asked = np.repeat(texts, 15), np.ones(len(texts) * 15, dtype=bool)
    sides = [(rng.random((len(texts), 15)) < chance).ravel() for chance in (chances, noisy)]
    people, judge = (coverage(side, asked, items, len(texts)) for side in sides)
    return people, judge, topics


def order_of_texts(rng: np.random.Generator, n_topics: int, n_texts: int) -> dict[str, Estimate]:
    people, judge, topics = draw_coverage(rng, n_topics, n_texts)
    found = rank_correlations(pairs_of_values(people, judge, topics), unit="texts")
    return dict(zip(ORDERS, (found["spearman"], found["kendall"]), strict=True))


@cache
def true_order(n_texts: int) -> dict[str, float]:
    found = order_of_texts(np.random.default_rng(3), POPULATION // n_texts, n_texts)
    return {name: figure.value for name, figure in found.items() if figure.value is not None}


def draw_order(rng: np.random.Generator, n: int, n_texts: int) -> Intervals:
    truth = true_order(n_texts)
    return {name: (figure, truth[name]) for name, figure in order_of_texts(rng, n, n_texts).items()}


def scenarios() -> list[Scenario]:
    """Return the studies, by topics and by items."""
    found = []
    for shape in SHAPES:
        by_topic, by_item = partial(draw_agreement, shape=shape), partial(draw_items, shape=shape)
        demands = demands_of(shape, ALL)
        found += [Scenario("topics", shape.name, n, partial(by_topic, n=n), *demands) for n in TOPICS]
        found += [Scenario("items", shape.name, n, partial(by_item, n=n), *demands) for n in ITEMS]
    for shape in (*RARE_SHAPES, GENEROUS, *FAR_APART):
        draw = partial(draw_agreement, shape=shape, figures=figures_beside_people)
        demanded = BESIDE if shape in RARE_SHAPES else ()
        found += [Scenario("topics", shape.name, n, partial(draw, n=n), demanded, least_given=0.2) for n in RARE_TOPICS]
    for n_texts in (3, 10):
        draw = partial(draw_order, n_texts=n_texts)
        found += [Scenario("topics", f"{n_texts} texts a topic", n, partial(draw, n=n), ORDERS) for n in TOPICS]
    return found


def demands_of(shape: Shape, names: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return for which figures 93 to 97 % is demanded, and for which at least 93 %."""
    cautious = names if shape.name == NEAR_PERFECT else COUNTED
    return tuple(name for name in names if name not in cautious), cautious
