"""What in a person's work deserves a look. Pure functions: they know no Django, and they decide nothing.

A flag is a reason to look, with its evidence in figures; never a reason to pay less or to drop labels unseen. It needs
an effect that matters, and an exact test in which it comes by chance in fewer than 1 of 1,000 (`SURE`). So nothing
needs a least number of observations: two say little, and their test says so. How often honest people are flagged all
the same is simulated (`tests/flags_check.py`, docs/quality.md).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby, pairwise
from math import inf, log, sqrt
from statistics import fmean, median, stdev
from typing import Literal

from stats.intervals import binomial_tail, student_tail

Kind = Literal["fast", "reading", "line", "disagrees", "attention", "gold", "pasting", "session", "inactive"]

SURE = 0.001
# Of anybody's items and texts, so many may look like nobody's work, though others' do not.
ODD_SHARE = 0.1
# A third of what others need at the median.
FAST_SHARE = 1 / 3
# Adults read English prose silently at about 240 words a minute, hardly anyone above 400 (Brysbaert 2019, Journal of
# Memory and Language 109); 600 leaves room for texts read before and for skimming to the place.
READING_WORDS_A_MINUTE = 600
# One word is five letters and a space, as typing tests count it.
CHARACTERS_A_WORD = 6
# A session that took less than a fifth of what was announced, or a third of what others' took.
SHORT_SHARE = 1 / 5
SHORTER_SHARE = 1 / 3
AGREEMENT_OTHERS = 2
# 1.4826 median absolute deviations are a standard deviation of a normal distribution.
MAD_TO_SD = 1.4826
AGREEMENT_DEVIATIONS = 3
AGREEMENT_MARGIN = 0.15
# Shorter than that is a name, a number or a term.
PASTED_LEAST = 40


@dataclass(frozen=True)
class Flag:
    """One reason to look at a person's work, in words with its figures."""

    kind: Kind
    title: str
    evidence: str


# --- Chance ---------------------------------------------------------------------------------------


def odd_by_chance(k: int, n: int, *, others: int, of: int) -> float:
    """Return how probable k odd ones of n or more are for somebody whose share of them is as large as others'.

    Others have `others` odd ones `of` theirs; a share of a tenth is granted to everybody.
    """
    return binomial_tail(k, n, max(ODD_SHARE, others / of if of else 0.0))


# --- Time -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class WorkPace:
    """A person's active seconds for each item of one task type."""

    seconds: Sequence[float]

    @property
    def median(self) -> float:
        return median(self.seconds)

    @property
    def n(self) -> int:
        return len(self.seconds)

    def below(self, bound: float) -> int:
        return sum(one < bound for one in self.seconds)


def too_fast(own: WorkPace, others: Iterable[WorkPace]) -> Flag | None:
    """Flag a median time per item below a third of the others' median, in one task type.

    The others' figure is the median of their medians, so that one busy person does not set the pace. More items must be
    below that third than others' share of such items makes probable.
    """
    others = list(others)
    if not others:
        return None
    theirs = median(other.median for other in others)
    bound = FAST_SHARE * theirs
    if own.median >= bound:
        return None
    odd, of = sum(other.below(bound) for other in others), sum(other.n for other in others)
    if odd_by_chance(own.below(bound), own.n, others=odd, of=of) >= SURE:
        return None
    return Flag(
        "fast",
        "Much faster than others",
        f"Median {own.median:.1f} s per item over {own.n} items; others need {theirs:.1f} s at the median.",
    )


Reading = tuple[int, float]


def words_a_minute(readings: Sequence[Reading]) -> float:
    """Return the pace over all texts together, each (characters, active seconds). Raises ZeroDivisionError for none."""
    return sum(length for length, _ in readings) / CHARACTERS_A_WORD / sum(seconds for _, seconds in readings) * 60


def texts_read_too_fast(readings: Iterable[Reading]) -> tuple[int, int]:
    """Return how many texts were read above 600 words a minute, and of how many; without those of unknown time."""
    paces = [words_a_minute([one]) for one in readings if one[1] > 0]
    return sum(pace > READING_WORDS_A_MINUTE for pace in paces), len(paces)


def reads_too_fast(readings: Iterable[Reading], *, others: int = 0, of: int = 0) -> Flag | None:
    """Flag a pace above 600 words a minute over all texts together.

    `readings` are the texts that the person judged: (characters, active seconds for all its questions). Since answering
    takes time too, the true pace is higher still. Texts without measured time are left out. More single texts must be
    above the pace than others' share of them (`others` `of` theirs) makes probable: where all skim, nobody is flagged.
    """
    timed = [one for one in readings if one[1] > 0]
    if not timed or (pace := words_a_minute(timed)) <= READING_WORDS_A_MINUTE:
        return None
    odd, n = texts_read_too_fast(timed)
    if odd_by_chance(odd, n, others=others, of=of) >= SURE:
        return None
    return Flag(
        "reading",
        "Faster than reading speed",
        f"{pace:,.0f} words a minute over {n:,} texts together; nobody reads above {READING_WORDS_A_MINUTE}.",
    )


def short_session(seconds: float, *, announced: float, others: Sequence[float]) -> Flag | None:
    """Flag a session that took less than a fifth of what was announced, or of other sessions far less than chance.

    All are in seconds, and above 0. Against `others` it must be under a third of their median, and so short under
    the normal distribution of their logarithms only 1 time in 1,000 (the prediction interval of one more observation).
    """
    is_short = seconds < SHORT_SHARE * announced
    if not is_short and not _is_shorter(seconds, others):
        return None
    beside = f"; others’ median is {median(others) / 60:.1f} (n = {len(others):,})" if others else ""
    return Flag(
        "session",
        "Short session",
        f"{seconds / 60:.1f} minutes in all; {announced / 60:.0f} were announced{beside}.",
    )


def _is_shorter(seconds: float, others: Sequence[float]) -> bool:
    if len(others) < 2 or seconds >= SHORTER_SHARE * median(others):
        return False
    logs = [log(other) for other in others]
    spread = stdev(logs) * sqrt(1 + 1 / len(logs))
    t = (fmean(logs) - log(seconds)) / spread if spread else inf
    return t > 0 and student_tail(t, len(logs) - 1) < SURE


def no_active_time(judged: int, active: float) -> Flag | None:
    """Flag tasks that were judged without a second at them."""
    if not judged or active > 0:
        return None
    return Flag(
        "inactive",
        "No active time",
        f"{judged:,} tasks judged, and the browser counted no second at them. Browsers without scripts count none.",
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
    """A person's grades under one criterion: how often each, how often it came again at once, and the longest run."""

    counts: Mapping[float, int]
    again: Mapping[float, int]
    grade: float
    length: int

    @property
    def n(self) -> int:
        return sum(self.counts.values())


def line_of(grades: Sequence[float]) -> Line:
    """Sum up grades in the order in which they were given. Raises ValueError for no grades."""
    again = Counter(one for one, other in pairwise(grades) if one == other)
    return Line(Counter(grades), again, *longest_run(grades))


def straight_line(own: Line, others: Iterable[Line], *, grades: int, criterion: str) -> Flag | None:
    """Flag a run of one grade that others' grades make all but impossible. `grades` is how many the scale has.

    The run must be longer than any other person's, and have a probability below 1 in 1,000 if the grade comes as often,
    and as often again after itself, as others give it (each counted once more, so that none is impossible): grades that
    follow one another about one text are alike. The person's own grades would excuse somebody who clicks only one.
    """
    others = list(others)
    if not others:
        return None
    longest_of_others = max(other.length for other in others)
    if own.length <= longest_of_others:
        return None
    given = sum(other.counts.get(own.grade, 0) for other in others)
    again = sum(other.again.get(own.grade, 0) for other in others)
    p = (given + 1) / (sum(other.n for other in others) + grades)
    chance = probability_of_run(p=max(p, (again + 1) / (given + grades)), n=own.n, length=own.length)
    if chance >= SURE:
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


def disagrees(own: Agreement | None, others: Sequence[Agreement], *, readers: float = 2.0) -> Flag | None:
    """Flag an agreement with others far below theirs: more than 3 robust deviations, and more than 0.15.

    `others` are the other people's agreements with everybody, at least two; `readers` is how many others graded an item
    of theirs, on average: so many pairs count as one observation. As many disagreements must be improbable for somebody
    who disagrees as often as others do.
    """
    if own is None or len(others) < AGREEMENT_OTHERS:
        return None
    middle = median(other.value for other in others)
    spread = MAD_TO_SD * median(abs(other.value - middle) for other in others)
    if own.value >= middle - max(AGREEMENT_DEVIATIONS * spread, AGREEMENT_MARGIN):
        return None
    n = int(own.n / max(readers, 1.0))
    if binomial_tail(int(n * (1 - own.value)), n, max(ODD_SHARE, 1 - middle)) >= SURE:
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
    """Flag so many known grades missed as somebody who meets the pass mark misses only 1 time in 1,000.

    One of ten may be missed by anybody, whatever the mark.
    """
    if not n or binomial_tail(n - right, n, max(ODD_SHARE, 1 - pass_mark)) >= SURE:
        return None
    low, high = wilson(right, n)
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
