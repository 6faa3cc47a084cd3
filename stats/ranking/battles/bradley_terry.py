"""Battles: systems put in order from pairs of their reports, by Bradley and Terry's model with ties and sides.

The model is `bradley_terry_fit`'s. It has numbers for all systems only where, however these are parted in two, some
system of either part beat or tied with one of the other: Ford, Solution of a ranking problem from binary comparisons
(American Mathematical Monthly 64, 1957).

Intervals follow `stats.intervals`: each topic is left out in turn. From five raters on they are over raters too:
Cameron, Gelbach and Miller, Robust inference with multiway clustering (JBES 29, 2011). What places a system may have:
Mogstad, Romano, Shaikh and Wilhelm, Inference for ranks (Review of Economic Studies 91, 2024), the marginal sets, with
Bonferroni's bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stats.intervals import LEVEL, SHARE, UNBOUNDED, Estimate, Range, interval, undefined
from stats.ranking.battles.bradley_terry_fit import Figure, Fit, Votes
from stats.ratings import BoolArray, FloatArray, IntArray
from stats.rounding import rounded

NO_VOTES = "There are no votes."
ALL_TIES = "Every vote is a tie, which tells no system from another."
TOO_FEW = "These votes are too few for the model: some of its numbers would be infinite."
PENALISED = "no interval, for the penalty pulls the systems together"


@dataclass(frozen=True)
class Standing:
    """A system among the others.

    - `win_rate`: how often it is expected to beat a system of average ability, a tie being half;
    - `log_odds`: its ability θ; the mean of all systems is 0;
    - `rank`: 1 is the best, equals share the better one; `ranks`: the places that it may truly have, at 95 % or more.

    Wins, ties and losses are counted, whatever the model says.
    """

    system: str
    rank: int | None
    ranks: tuple[int, int] | None
    win_rate: Estimate
    log_odds: Estimate
    wins: int
    ties: int
    losses: int


@dataclass(frozen=True)
class BradleyTerry:
    """What votes say of systems.

    - `standings`: best first; without a fit by name; `reason`: why there is no fit, with what would help;
    - `left`: how often the left is expected to win against an equal, a tie being half; None where that is not asked for
      or cannot be told; `tie_rate`: how often equals tie;
    - `told_apart`: whether the row's and the column's system differ by more than chance at 5 %, in the order of
      `votes.systems`; None without intervals;
    - `over_raters`: whether intervals speak of other raters too, or of these alone.
    """

    votes: Votes
    fit: Fit | None
    standings: tuple[Standing, ...]
    reason: str
    left: Estimate | None
    tie_rate: float | None
    told_apart: BoolArray | None
    n_topics: int
    n_raters: int
    n_ungraded: int

    @property
    def over_raters(self) -> bool:
        return self.fit is not None and self.fit.over_raters


def bradley_terry(votes: Votes, *, side: bool = True, penalty: float = 0.0) -> BradleyTerry:
    """Fit the model and say how sure it is.

    `side`: whether the advantage of the left is a part of it. `penalty`: λ of λ·Σθ²/2 taken from the log-likelihood,
    which gives a finite number to systems that never lose or never win, and takes away the intervals. No penalty
    compares systems that no chain of votes connects.
    """
    decided = votes.decided
    reason = why_not(decided, side=side, penalty=penalty)
    fit = None if reason else Fit.of(decided, side=side, penalty=penalty)
    return BradleyTerry(
        votes=votes,
        fit=fit,
        standings=_standings(decided, fit),
        reason=reason,
        left=_estimates(fit, lambda at: fit.left_of(at)[..., None], SHARE)[0] if fit and fit.has_side else None,
        tie_rate=float(fit.tie_rate_of(fit.parameters)) if fit else None,
        told_apart=_told_apart(fit) if fit else None,
        n_topics=len(np.unique(decided.topic)),
        n_raters=len(np.unique(decided.rater)),
        n_ungraded=len(votes.left) - len(decided.left),
    )


# --- When there is a fit -------------------------------------------------------------------------


def why_not(votes: Votes, *, side: bool = True, penalty: float = 0.0) -> str:
    """Say why these votes put no finite number on each system, and what would help; nothing where they do."""
    if not len(votes.left):
        return NO_VOTES
    met = votes.wins + votes.ties
    apart = _components(met + met.T, "weak")
    if len(apart) > 1:
        parts = " from ".join(_names(votes, part) for part in apart)
        return f"Not connected: no chain of votes leads {parts}. Ask for pairs that join them."
    if not votes.wins.any():
        return ALL_TIES
    parts_in_order = [] if penalty else _components(met, "strong")
    if len(parts_in_order) > 1:
        best = next(part for part in parts_in_order if not np.delete(met, part, axis=0)[:, part].any())
        return (
            f"{_names(votes, best)} never lost to any other system, nor tied with one, so no finite number says how "
            f"much better {'it is' if len(best) == 1 else 'they are'}. More votes or a declared penalty would help."
        )
    return TOO_FEW if Fit.empty(votes, side=side, penalty=penalty).unbounded else ""


def _components(met: FloatArray, connection: str) -> list[list[int]]:
    """Return the systems that are connected, as lists of places."""
    from scipy.sparse.csgraph import connected_components  # imported late: it weighs much

    n, labels = connected_components(met > 0, directed=True, connection=connection)
    return [np.flatnonzero(labels == label).tolist() for label in range(n)]


def _names(votes: Votes, places: Sequence[int]) -> str:
    names = sorted(f"“{votes.systems[place]}”" for place in places)
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


# --- What it says --------------------------------------------------------------------------------


def _standings(votes: Votes, fit: Fit | None) -> tuple[Standing, ...]:
    """Return the systems, best first."""
    k = len(votes.systems)
    played = list(zip(*(votes.wins.sum(1), votes.ties.sum(1), votes.wins.sum(0)), strict=True))
    abilities = rounded(fit.abilities_of(fit.parameters)) if fit else np.zeros(k)
    rates, log_odds = (
        (_estimates(fit, fit.rates_of, SHARE), _estimates(fit, fit.abilities_of, UNBOUNDED))
        if fit
        else ([undefined("")] * k,) * 2
    )
    ranks = _ranks(fit) if fit else None
    return tuple(
        Standing(
            votes.systems[place],
            1 + int((abilities > abilities[place]).sum()) if fit else None,
            ranks[place] if ranks else None,
            rates[place],
            log_odds[place],
            *map(int, played[place]),
        )
        for place in sorted(range(k), key=lambda place: (-abilities[place], votes.systems[place]))
    )


def _estimates(fit: Fit, figure: Figure, within: Range) -> list[Estimate]:
    """Return the values of a figure, each with its interval."""
    values = figure(fit.parameters)
    if fit.penalty:
        return [Estimate(float(value), reason=PENALISED, sample=fit.sample) for value in values]
    errors = fit.error_of(figure)
    listed = [None] * len(values) if errors is None else errors.tolist()
    return [
        interval(float(value), error, fit.sample, within=within) for value, error in zip(values, listed, strict=True)
    ]


def _distances(fit: Fit) -> FloatArray | None:
    """Return how far systems are apart, in standard errors of the difference, signed; None without intervals."""
    errors = None if fit.penalty or fit.sample.reason else fit.error_of(fit.ahead_of)
    if errors is None:
        return None
    np.fill_diagonal(errors, 1)
    return np.asarray(fit.ahead_of(fit.parameters) / np.maximum(errors, np.finfo(float).tiny))


def _told_apart(fit: Fit) -> BoolArray | None:
    distances = _distances(fit)
    return None if distances is None else np.asarray(np.abs(distances) > _quantile(fit, 1))


def _ranks(fit: Fit) -> list[tuple[int, int]] | None:
    """Return the best and the worst place of each system, compared with all others at once."""
    distances = _distances(fit)
    if distances is None:
        return None
    k = len(distances)
    surely = _quantile(fit, k - 1)
    above, below = (distances < -surely).sum(axis=1), (distances > surely).sum(axis=1)
    return [(1 + int(better), k - int(worse)) for better, worse in zip(above, below, strict=True)]


def _quantile(fit: Fit, comparisons: int) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(fit.sample.freedom, 1 - (1 - LEVEL) / 2 / comparisons))


def by_topic(fit: Fit, topics: IntArray) -> FloatArray:
    """Return the abilities that resampled topics would give, one Newton step away, shape replicates × systems.

    `topics` says how often each topic of the fit is drawn, shape replicates × topics in the order of their numbers.
    """
    slopes, information = fit.parts(fit.votes.topic)
    pull = np.linalg.pinv(np.tensordot(topics.astype(np.float64), information, 1), hermitian=True)
    return fit.abilities_of(fit.parameters + (pull @ (topics @ slopes)[:, :, None])[:, :, 0])
