"""How many labels, and how many topics, an interval of a given half-width takes, or finding two systems different.

What labels and topics add to a score's variance is told by a pilot (`pilots`). Labels in the same topics only go so
far; where they do not suffice, more topics do.

Sources: topics and judgments against one another, Carterette, Pavlu, Kanoulas, Aslam and Allan, Evaluation over
thousands of queries (2008). Power: the noncentral t, as in Sakai, Topic set size design (2016).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from stats.calibration.labels import Labels
from stats.calibration.pilots import NoPlan, Pilot, pilot_of
from stats.intervals import t_quantile
from stats.plurals import counted
from stats.ratings import IntArray

POWER = 0.8
# How many labels a topic could have, in the table of topics and labels.
LABELS_A_TOPIC = (5, 10, 20, 50, 100)
MOST_TOPICS = 1_000_000
# How sure the number of topics is: the middle 80 % of what a pilot of so many topics may show.
SURE_TO = (0.1, 0.9)


@dataclass(frozen=True)
class Design:
    """So many topics like these with so many labels in each are enough."""

    labels_a_topic: int
    topics: int
    labels: int


@dataclass(frozen=True)
class Plan:
    """What is needed.

    - `needed`: labels in all among these items, `more` than there are; None where these items cannot give it, for
      `reason`; `needed_range`: between which numbers that lies as far as the pilot goes (80 %), the most None where it
      may be more than there are; None without such a range;
    - `least`: the half-width, or the difference, that is left when people have labelled all of these items; None where
      even then nothing can be said;
    - `topics`: how many topics like these, labelled whole, are enough, and `topics_range`, between which numbers that
      lies as far as the pilot's topics tell (80 %); None where items belong to no topics;
    - `designs`: the same with fewer labels in each topic.
    """

    needed: int | None
    more: int | None
    least: float | None
    needed_range: tuple[int, int | None] | None = None
    topics: int | None = None
    topics_range: tuple[int, int] | None = None
    designs: tuple[Design, ...] = ()
    reason: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return it as `manage.py trust plan --json` prints it."""
        return asdict(self)


def least_half_width(labels: Labels, units: IntArray | None = None) -> float | None:
    """Return what half-width is left when people have labelled all items; None where nothing can be said of it."""
    try:
        pilot = pilot_of(labels, units)
    except NoPlan:
        return None
    return pilot.half_width(pilot.n_items)


def plan_half_width(pilot: Pilot, half_width: float) -> Plan:
    """Return what a 95 % interval of ± `half_width` takes."""

    def reached(one: Pilot, n: int) -> float | None:
        return one.half_width(n)

    return _plan(pilot, half_width, reached, what="the interval is ±")


def plan_separation(pilot: Pilot, difference: float, *, power: float = POWER) -> Plan:
    """Return what finding a difference this large in a test at 5 % takes, with this power. The pilot is of pairs."""

    def reached(one: Pilot, n: int) -> float | None:
        sample = one.sample(n)
        return None if sample.reason else one.error(n) * noncentrality(sample.freedom, power)

    return _plan(pilot, abs(difference), reached, what="the smallest detectable difference is")


def _plan(pilot: Pilot, wanted: float, reached: Callable[[Pilot, int], float | None], *, what: str) -> Plan:
    if wanted <= 0:
        raise NoPlan("The half-width, or the difference, must be above 0.")

    def enough(one: Pilot, n: int) -> bool:
        found = reached(one, n)
        return found is not None and found <= wanted

    least, needed = reached(pilot, pilot.n_items), _first(lambda n: enough(pilot, n), pilot.n_items)
    plan = Plan(needed, None if needed is None else max(0, needed - pilot.n_labelled), least)
    if needed is None:
        plan = replace(plan, reason=_why_not(pilot, least, what))
    if pilot.n_topics is None:
        return plan

    def topics_for(labels_a_topic: int | None, widened: float = 1.0) -> int | None:
        def enough_topics(n_topics: int) -> bool:
            like = pilot.of_topics(n_topics, widened=widened)
            return enough(like, like.n_items if labels_a_topic is None else labels_a_topic * n_topics)

        return _first(enough_topics, MOST_TOPICS)

    around = [topics_for(None, widened) for widened in _spread_of_variance(pilot.n_topics - 1)]
    whole = pilot.n_items / pilot.n_topics
    designs = [
        Design(per_topic, found, found * per_topic)
        for per_topic in LABELS_A_TOPIC
        if per_topic < whole and (found := topics_for(per_topic)) is not None
    ]
    return replace(
        plan,
        topics=topics_for(None),
        topics_range=None if None in around else (around[0] or 0, around[1] or 0),
        designs=tuple(designs),
    )


def _why_not(pilot: Pilot, least: float | None, what: str) -> str:
    of = "" if pilot.n_topics is None else f" of these {counted(pilot.n_topics, 'topics')}"
    if least is None:
        return f"{pilot.sample(pilot.n_items).reason}, even if assessors label all"
    return f"with all {counted(pilot.n_items, 'items')}{of} labelled {what} {least:.3f}"


def more_labels(plan: Plan, what: str) -> str:
    """Say how many more labels are needed, of `what` in the plural."""
    return counted(plan.more, f"more {what}") + " needed" if plan.more else f"No more {what} needed"


def topics_answer(pilot: Pilot, plan: Plan, what: str) -> str:
    """Say what topics like these are needed; empty where items belong to none. `what` of them is labelled."""
    if pilot.n_topics is None:
        return ""
    if plan.topics is None:
        return f"Even {MOST_TOPICS:,} topics are not enough."
    found = f"About {plan.topics:,} topics like these are enough if assessors label all their {what}"
    if plan.topics_range is None:
        return f"{found}."
    low, high = plan.topics_range
    return f"{found}: between {low:,} and {high:,}, as far as {counted(pilot.n_topics, 'topics')} can tell."


def _first(enough: Callable[[int], bool], most: int) -> int | None:
    """Return the smallest number from 2 to `most` that is enough; what is above one that is enough is enough too."""
    low, high = 2, 2
    while not enough(high):
        if high >= most:
            return None
        low, high = high + 1, min(high * 2, most)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    return high


def noncentrality(freedom: float, power: float) -> float:
    """By how many standard errors a difference must be above 0 to be found this often."""
    from scipy.special import nctdtrinc

    return float(nctdtrinc(freedom, 1 - power, t_quantile(freedom)))


def _spread_of_variance(freedom: int) -> tuple[float, float]:
    """By how much a variance with these degrees of freedom may be too large or too small."""
    from scipy.stats import chi2

    low, high = (freedom / float(chi2.ppf(1 - at, freedom)) for at in SURE_TO)
    return low, high
