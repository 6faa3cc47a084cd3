"""What in a person's work deserves a look. Pure functions: they know no Django, and they decide nothing.

A flag is a reason to look, with its evidence in figures; never a reason to pay less or to drop labels unseen. Each
bound is robust (medians, not means; others, not absolute values, wherever others are there) and needs a least number
of observations, below which nothing is said: None.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from math import sqrt
from statistics import median
from typing import Literal

Kind = Literal["fast", "reading", "line", "disagrees", "attention", "gold", "pasting"]

# A third of what others need at the median; fewer than five items say nothing about a person's pace.
FAST_SHARE = 1 / 3
FAST_LEAST = 5
# Adults read English prose silently at about 240 words a minute, hardly anyone above 400 (Brysbaert 2019, Journal of
# Memory and Language 109); 600 leaves room for texts read before and for skimming to the place.
READING_WORDS_A_MINUTE = 600
READING_LEAST = 5
# One word is five letters and a space, as typing tests count it.
CHARACTERS_A_WORD = 6
LINE_LEAST = 10
LINE_PROBABILITY = 0.001
AGREEMENT_LEAST = 20
AGREEMENT_OTHERS = 2
# 1.4826 median absolute deviations are a standard deviation of a normal distribution.
MAD_TO_SD = 1.4826
AGREEMENT_DEVIATIONS = 3
AGREEMENT_MARGIN = 0.15
GOLD_LEAST = 5
# Shorter than that is a name, a number or a term.
PASTED_LEAST = 40


@dataclass(frozen=True)
class Flag:
    """One reason to look at a person's work, in words with its figures."""

    kind: Kind
    title: str
    evidence: str


# --- Time -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class WorkPace:
    """A person's median active seconds per item of one task type, over `n` items."""

    median: float
    n: int


def pace_of(seconds: Sequence[float]) -> WorkPace:
    """Raises StatisticsError for no seconds."""
    return WorkPace(median(seconds), len(seconds))


def too_fast(own: WorkPace, others: Iterable[WorkPace]) -> Flag | None:
    """Flag a median time per item below a third of the others' median, in one task type.

    The others' figure is the median of their medians, so that one busy person does not set the pace.
    """
    medians = [other.median for other in others if other.n >= FAST_LEAST]
    if own.n < FAST_LEAST or not medians:
        return None
    theirs = median(medians)
    if own.median >= FAST_SHARE * theirs:
        return None
    return Flag(
        "fast",
        "Much faster than others",
        f"Median {own.median:.1f} s per item over {own.n} items; others need {theirs:.1f} s at the median.",
    )


def reads_too_fast(readings: Iterable[tuple[int, float]]) -> Flag | None:
    """Flag a median pace above 600 words a minute.

    `readings` are the texts that the person judged: (characters, active seconds for all its questions). Since
    answering takes time too, the true pace is higher still. Texts without measured time are left out.
    """
    paces = [characters / CHARACTERS_A_WORD / seconds * 60 for characters, seconds in readings if seconds > 0]
    if len(paces) < READING_LEAST:
        return None
    pace = median(paces)
    if pace <= READING_WORDS_A_MINUTE:
        return None
    return Flag(
        "reading",
        "Faster than reading speed",
        f"Median {pace:,.0f} words a minute over {len(paces)} texts; nobody reads above {READING_WORDS_A_MINUTE}.",
    )


# --- Straight lines -------------------------------------------------------------------------------


def longest_run(grades: Sequence[float]) -> tuple[float, int]:
    """Return the grade that was given most often in a row, and how often. Raises ValueError for no grades."""
    runs = ((grade, sum(1 for _ in run)) for grade, run in groupby(grades))
    return max(runs, key=lambda run: run[1])


def probability_of_run(*, p: float, n: int, length: int) -> float:
    """Return the probability that n independent draws with success probability p hold a run of at least `length`.

    Exact, by the recursion on the first failure (Feller, An Introduction to Probability Theory I, XIII.7):
    no run in n draws = sum over j < length of p^j (1 - p) times no run in n - j - 1 draws.
    """
    if length <= 0:
        return 1.0
    without = [1.0] * (n + 1)
    for draws in range(length, n + 1):
        if draws == length:
            without[draws] = 1 - p**length
        else:
            without[draws] = without[draws - 1] - p**length * (1 - p) * without[draws - length - 1]
    return min(1.0, max(0.0, 1 - without[n]))


@dataclass(frozen=True)
class Line:
    """A person's grades under one criterion: how many, how often each, and the longest run of one."""

    counts: Mapping[float, int]
    grade: float
    length: int

    @property
    def n(self) -> int:
        return sum(self.counts.values())


def line_of(grades: Sequence[float]) -> Line:
    """Sum up grades in the order in which they were given. Raises ValueError for no grades."""
    return Line(Counter(grades), *longest_run(grades))


def straight_line(own: Line, others: Iterable[Line], *, grades: int, criterion: str) -> Flag | None:
    """Flag a run of one grade that others' grades make all but impossible. `grades` is how many the scale has.

    The run must be longer than any other person's, since grades that follow one another about one text are alike, and
    have a probability below 1 in 1,000 under the others' distribution (each grade counted once more, so that none is
    impossible). The person's own distribution would excuse whoever only ever clicks one.
    """
    others = list(others)
    if own.n < LINE_LEAST or own.length < LINE_LEAST or not others:
        return None
    longest_of_others = max(other.length for other in others)
    if own.length <= longest_of_others:
        return None
    given = sum(other.counts.get(own.grade, 0) for other in others)
    p = (given + 1) / (sum(other.n for other in others) + grades)
    chance = probability_of_run(p=p, n=own.n, length=own.length)
    if chance >= LINE_PROBABILITY:
        return None
    return Flag(
        "line",
        "The same grade over and over",
        f"{criterion}: grade {own.grade:g} {own.length} times in a row, of {own.n}; others’ longest run is "
        f"{longest_of_others}, and they give it {percent(p)} of the time. {_chance(chance)}",
    )


def _chance(chance: float) -> str:
    return f"By chance: 1 in {1 / chance:,.0f}." if chance >= 1e-9 else "By chance: less than 1 in a billion."


# --- Agreement ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Agreement:
    """How far a person agrees with others: the mean over `n` pairs of grades of one item, 1 is the same grade."""

    value: float
    n: int


def closeness(a: float, b: float, *, width: float | None) -> float:
    """Return how near two grades are, in [0, 1]: 1 − |a − b| / width; where grades have no order (None), 1 or 0."""
    if width is None or width == 0:
        return float(a == b)
    return 1 - abs(a - b) / width


def pairwise_agreement(
    ratings: Iterable[Mapping[int, float]], *, width: float | None = None
) -> dict[tuple[int, int], Agreement]:
    """Return the agreement of each two raters (lower key first) who graded the same items.

    `ratings` holds for each item the grade of each rater who gave one; `width` is the scale's, None if it is nominal.
    """
    totals: defaultdict[tuple[int, int], list[float]] = defaultdict(lambda: [0.0, 0])
    for grades in ratings:
        for a, b in combinations(sorted(grades), 2):
            total = totals[a, b]
            total[0] += closeness(grades[a], grades[b], width=width)
            total[1] += 1
    return {pair: Agreement(value / n, int(n)) for pair, (value, n) in totals.items()}


def pooled(agreements: Iterable[Agreement]) -> Agreement | None:
    """Return the mean of agreements, each weighted by its pairs. None for none."""
    agreements = list(agreements)
    n = sum(one.n for one in agreements)
    return Agreement(sum(one.value * one.n for one in agreements) / n, n) if n else None


def disagrees(own: Agreement | None, others: Iterable[Agreement]) -> Flag | None:
    """Flag an agreement with others far below theirs: more than 3 robust deviations, and more than 0.15.

    `others` are the other people's agreements with everybody; those with fewer than 20 pairs are left out.
    """
    values = [other.value for other in others if other.n >= AGREEMENT_LEAST]
    if own is None or own.n < AGREEMENT_LEAST or len(values) < AGREEMENT_OTHERS:
        return None
    middle = median(values)
    spread = MAD_TO_SD * median(abs(value - middle) for value in values)
    if own.value >= middle - max(AGREEMENT_DEVIATIONS * spread, AGREEMENT_MARGIN):
        return None
    return Flag(
        "disagrees",
        "Agrees less than others do",
        f"Agreement {own.value:.2f} over {own.n} pairs; others have {middle:.2f} at the median.",
    )


# --- Checks ---------------------------------------------------------------------------------------


def failed_attention(failed: int, asked: int, *, counts_from: int) -> Flag | None:
    """Flag as many failed checks as the study's rule lets count (two, or one in a study under five minutes)."""
    if failed < counts_from:
        return None
    return Flag("attention", "Failed attention checks", f"{failed} of {asked} failed; from {counts_from} on it counts.")


def pasted_text(pasted: Sequence[tuple[int, int]], submitted: int) -> Flag | None:
    """Flag answers with pasted text, given as (times, characters) for each answer with any. A sign, never proof."""
    answers = [(times, characters) for times, characters in pasted if characters >= PASTED_LEAST]
    if not answers:
        return None
    times, characters = (sum(one[n] for one in answers) for n in (0, 1))
    return Flag(
        "pasting",
        "Pasted text",
        f"{characters:,} characters pasted from elsewhere, in {times:,} pastes, into {len(answers):,} answers; "
        f"{submitted:,} tasks submitted. Not proof of anything: dictation and writing aids paste too.",
    )


def low_gold(right: int, n: int, *, pass_mark: float) -> Flag | None:
    """Flag a share of met gold whose 95 % Wilson interval lies below the pass mark."""
    if n < GOLD_LEAST:
        return None
    low, high = wilson(right, n)
    if high >= pass_mark:
        return None
    return Flag(
        "gold",
        "Misses known grades",
        f"{right} of {n} right ({percent(right / n)}; 95 % interval {percent(low)} to {percent(high)}); "
        f"the mark is {percent(pass_mark)}.",
    )


def wilson(k: int, n: int) -> tuple[float, float]:
    """Return the 95 % Wilson score interval of a share k of n (Wilson 1927). n must not be 0."""
    z = 1.959964
    middle = (k + z * z / 2) / (n + z * z)
    half = z / (n + z * z) * sqrt(k * (n - k) / n + z * z / 4)
    return max(0.0, middle - half), min(1.0, middle + half)


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"
