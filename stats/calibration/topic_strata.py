"""The mean over a population of topics, of which a stratified sample was drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean, variance

from stats.intervals import Estimate, Range, Sample, interval, undefined

# Fewer drawn topics of a stratum, or fewer different values, say too little of its spread; a stratum that was drawn
# whole has none. tests/simulations/topic_strata.py shows that intervals hold from here on.
FEWEST_OF_A_STRATUM = 10
FEWEST_VALUES = 4


def stratified_mean(
    values: Mapping[str, Sequence[float]], populations: Mapping[str, int], *, within: Range
) -> Estimate:
    """Return the mean over all topics of the strata, each of which has values of a simple random sample of its topics.

    - `values`: one value for each drawn topic, by stratum; `populations`: how many topics each stratum has.

    The mean is Σ W_h ȳ_h with W_h = N_h / N, its variance Σ W_h² (1 − n_h/N_h) s_h²/n_h; t has Satterthwaite's degrees
    of freedom. Source: Cochran, Sampling Techniques (3rd ed., 1977), 5.3 to 5.5. No value where a stratum has no drawn
    topic; no interval where one that was not drawn whole has fewer than FEWEST_OF_A_STRATUM topics, or fewer than
    FEWEST_VALUES different values, as a yes or no of each topic.
    """
    total = sum(populations.values())
    if empty := [name for name, n in populations.items() if n and not values.get(name)]:
        return undefined(f"no topic with a score was drawn of {empty[0]}" if empty[0] else "no topic has a score")
    n_drawn = sum(len(values[name]) for name in populations)
    mean = math.fsum(n / total * fmean(values[name]) for name, n in populations.items() if n)
    sample = Sample(n_topics=n_drawn)
    reasons = (_too_little(name, values[name], n) for name, n in populations.items() if n)
    if reason := next(filter(None, reasons), ""):
        return Estimate(mean, reason=reason, sample=sample)
    parts = {name: _part(values[name], n, total) for name, n in populations.items() if n}
    error = math.sqrt(math.fsum(parts.values()))
    spread = [(part, len(values[name]) - 1) for name, part in parts.items() if part > 0]
    freedom = math.fsum(parts.values()) ** 2 / math.fsum(part**2 / df for part, df in spread) if spread else n_drawn - 1
    return interval(mean, error, Sample(n_topics=n_drawn, effective=freedom + 1), within=within)


def _too_little(name: str, values: Sequence[float], population: int) -> str:
    """Return why the drawn topics of a stratum do not say how it varies; nothing where they do."""
    if len(values) >= population:
        return ""
    whose = f" of {name}" if name else ""
    if len(values) < FEWEST_OF_A_STRATUM:
        return f"fewer than {FEWEST_OF_A_STRATUM} topics were drawn{whose}"
    few = len(set(values)) < FEWEST_VALUES
    return f"the drawn topics{whose} have fewer than {FEWEST_VALUES} different values" if few else ""


def _part(values: Sequence[float], population: int, total: int) -> float:
    """Return the stratum's part of the variance."""
    n = len(values)
    if n >= population:
        return 0.0
    return (population / total) ** 2 * (1 - n / population) * variance(values) / n
