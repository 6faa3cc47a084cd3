"""How often the interval of a stratified mean holds the mean over all topics, of which it saw some."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from stats.calibration.topic_strata import stratified_mean
from stats.intervals import SHARE
from stats.ratings import FloatArray

# Drawn and all topics of each stratum: CLAPNQ's; unequal shares; small ones; one drawn whole; a large share drawn; ten.
DESIGNS = {
    "40 of 300 and 10 of 300": ((40, 300), (10, 300)),
    "40 of 300 and 10 of 30": ((40, 300), (10, 30)),
    "40 of 300 and 10 of 3,000": ((40, 300), (10, 3_000)),
    "20 of 200 and 20 of 600": ((20, 200), (20, 600)),
    "10 of 50 and 10 of 500": ((10, 50), (10, 500)),
    "20 of 100 and 8 of 8": ((20, 100), (8, 8)),
    "30 of 40 and 15 of 20": ((30, 40), (15, 20)),
    "25 of 600": ((25, 600),),
    "ten strata, 10 of 60 each": ((10, 60),) * 10,
}
Values = Callable[[np.random.Generator, int, int], FloatArray]
VALUES: dict[str, Values] = {
    "coverage (beta)": lambda rng, n, of: rng.beta(2 + of % 3, 3, n),
    "shares of 15": lambda rng, n, of: rng.binomial(15, rng.beta(2, 2 + of % 2, n)) / 15,
    "shares with zeros": lambda rng, n, of: np.where(rng.random(n) < 0.25, 0, rng.beta(3, 2, n)),
    "yes or no, .6 and .4": lambda rng, n, of: (rng.random(n) < (0.6, 0.4)[of % 2]).astype(float),
    "mostly zeros": lambda rng, n, _: np.where(rng.random(n) < 0.5, 0, rng.beta(3, 2, n)),
    "yes or no, .95": lambda rng, n, _: (rng.random(n) < 0.95).astype(float),
    "yes or no, .85 and .7": lambda rng, n, of: (rng.random(n) < (0.85, 0.7)[of % 2]).astype(float),
}


def coverages(simulations: int, seed: int) -> Iterator[tuple[str, str, int, float, float]]:
    """Yield design, values, how many had an interval, how often it held the mean, and the mean estimate minus truth."""
    rng = np.random.default_rng(seed)
    for design, strata in DESIGNS.items():
        for name, make in VALUES.items():
            held, given, off = 0, 0, 0.0
            for _ in range(simulations):
                everything = [make(rng, of, place) for place, (_, of) in enumerate(strata)]
                truth = float(np.concatenate(everything).mean())
                drawn = {
                    str(place): rng.choice(one, n, replace=False).tolist()
                    for place, (one, (n, _)) in enumerate(zip(everything, strata, strict=True))
                }
                found = stratified_mean(drawn, {str(p): of for p, (_, of) in enumerate(strata)}, within=SHARE)
                assert found.value is not None
                if found.low is not None and found.high is not None:
                    given += 1
                    held += found.low <= truth <= found.high
                off += found.value - truth
            yield design, name, given, held / given if given else np.nan, off / simulations
