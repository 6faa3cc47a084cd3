"""Bradley and Terry's model with ties and sides: votes, the maximum of their likelihood, and how sure it is.

Of systems with abilities θ (log-odds, mean 0), shown on the left and on the right, a rater prefers the left in
proportion to exp(θ_left + δ/2), the right to exp(θ_right − δ/2), neither to ν·exp((θ_left + θ_right)/2); δ is the
advantage of the left, 0 unless it is asked for. The likelihood is concave in θ, log ν and δ.

Sources: Davidson, On extending the Bradley-Terry model to accommodate ties in paired comparison experiments (JASA 65,
1970); the side: Davidson and Beaver, On extending the Bradley-Terry model to incorporate within-pair order effects
(Biometrics 33, 1977).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stats.intervals import Sample, effective_number
from stats.ratings import BoolArray, FloatArray, IntArray

LEFT, TIE, RIGHT = 1.0, 0.5, 0.0
FEWEST_RATERS = 5
EXACT = 1e-9

Figure = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class Votes:
    """Votes on pairs of reports, each array of the shape (votes,).

    - `left`, `right`: the systems, as places in `systems`; they differ;
    - `outcome`: 1 the left is better, 0 the right, ½ neither; NaN: ungraded;
    - `topic`, `rater`: whose they are, as any numbers;
    - `sided`: whether it is known which stood on the left; where not, left and right tell nothing of the sides.
    """

    systems: tuple[str, ...]
    left: IntArray
    right: IntArray
    outcome: FloatArray
    topic: IntArray
    rater: IntArray
    sided: BoolArray

    def __post_init__(self) -> None:
        n, k = len(self.left), len(self.systems)
        if any(array.shape != (n,) for array in (self.right, self.outcome, self.topic, self.rater, self.sided)):
            raise ValueError("Each vote needs a left, a right, an outcome, a topic, a rater, and whether it has sides.")
        if not np.isin(self.outcome[np.isfinite(self.outcome)], (LEFT, TIE, RIGHT)).all():
            raise ValueError("An outcome is 1 (the left is better), ½ (a tie) or 0 (the right is better).")
        if (self.left == self.right).any():
            raise ValueError("A system cannot meet itself.")
        if n and not 0 <= min(self.left.min(), self.right.min()) <= max(self.left.max(), self.right.max()) < k:
            raise ValueError(f"Systems are numbers from 0 to {k - 1}.")

    @cached_property
    def decided(self) -> Votes:
        """The votes that are not ungraded."""
        return self.where(np.isfinite(self.outcome))

    def where(self, rows: BoolArray) -> Votes:
        """Return some of the votes."""
        of = {name: getattr(self, name)[rows] for name in ("left", "right", "outcome", "topic", "rater", "sided")}
        return Votes(self.systems, **of)

    @cached_property
    def wins(self) -> FloatArray:
        """How often the row's system was preferred to the column's, shape systems × systems."""
        won, lost = self.outcome == LEFT, self.outcome == RIGHT
        return self._counts(self.left, self.right, won) + self._counts(self.right, self.left, lost)

    @cached_property
    def ties(self) -> FloatArray:
        """How often neither of two systems was preferred, shape systems × systems, symmetric."""
        tied = self.outcome == TIE
        return self._counts(self.left, self.right, tied) + self._counts(self.right, self.left, tied)

    def _counts(self, one: IntArray, other: IntArray, rows: BoolArray) -> FloatArray:
        k = len(self.systems)
        return np.bincount(one[rows] * k + other[rows], minlength=k * k).reshape(k, k).astype(np.float64)


@dataclass(frozen=True)
class Fit:
    """A model of votes, none of them ungraded, and the parameters that make them likeliest.

    Parameters are the abilities but the last (which makes their mean 0), log ν where there are ties, δ where sides are
    asked for and can be told. Arrays of parameters have the shape (…, parameters).
    """

    votes: Votes
    has_side: bool
    penalty: float
    parameters: FloatArray

    @classmethod
    def of(cls, votes: Votes, *, side: bool, penalty: float = 0.0) -> Fit:
        """Fit the model. Where nothing is `unbounded`, the maximum exists and is one."""
        from scipy.optimize import minimize  # imported late: it weighs much

        empty = cls.empty(votes, side=side, penalty=penalty)
        utilities, chosen, kind = empty._kinds
        n = np.bincount(kind).astype(np.float64)
        found = minimize(
            lambda at: empty._loss(at, utilities, chosen, n),
            empty.parameters,
            jac=lambda at: -(n[:, None] * _slopes(at, utilities, chosen)[0]).sum(axis=0) + empty._pull @ at,
            hess=lambda at: np.tensordot(n, _slopes(at, utilities, chosen)[1], 1) + empty._pull,
            method="trust-exact",
            options={"gtol": EXACT * float(n.sum()), "maxiter": 1_000},
        )
        return cls(votes, empty.has_side, penalty, np.asarray(found.x, dtype=np.float64))

    @classmethod
    def empty(cls, votes: Votes, *, side: bool, penalty: float = 0.0) -> Fit:
        """Return the model before it is fitted: all systems are equal."""
        sided = votes.outcome[votes.sided]
        has_side = side and bool((sided == LEFT).any() and (sided == RIGHT).any())
        return cls(votes, has_side, penalty, np.zeros(len(votes.systems) - 1 + bool(votes.ties.any()) + has_side))

    @property
    def unbounded(self) -> bool:
        """Whether some parameter could grow for ever and the votes only become likelier: there is no maximum then.

        Source: Albert and Anderson, On the existence of maximum likelihood estimates in logistic regression models
        (Biometrika 71, 1984), as a linear program (Konis 2007).
        """
        from scipy.optimize import linprog

        utilities, chosen, _ = self._kinds
        taken = utilities[np.arange(len(chosen)), chosen]
        ahead = (taken[:, None, :] - utilities).reshape(-1, utilities.shape[2])
        if self.penalty:
            ahead = ahead[:, len(self.votes.systems) - 1 :]
        if not ahead.shape[1]:
            return False
        found = linprog(-ahead.sum(axis=0), A_ub=-ahead, b_ub=np.zeros(len(ahead)), bounds=(-1, 1), method="highs")
        return bool(-found.fun > EXACT)

    # --- the model ---

    @cached_property
    def _basis(self) -> FloatArray:
        """Makes abilities of parameters, shape systems × parameters."""
        last = len(self.votes.systems) - 1
        found = np.zeros((last + 1, len(self.parameters)))
        found[:last, :last] = np.eye(last)
        found[last, :last] = -1
        return found

    @cached_property
    def _pull(self) -> FloatArray:
        return np.asarray(self.penalty * self._basis.T @ self._basis)

    @cached_property
    def _kinds(self) -> tuple[FloatArray, IntArray, IntArray]:
        """The kinds of votes: the utilities and the choice of each, and of which kind every vote is."""
        votes, k = self.votes, len(self.votes.systems)
        shape = (k, k, 3, 2)
        codes = np.ravel_multi_index((votes.left, votes.right, self._chosen, votes.sided.astype(np.int64)), shape)
        kinds, places = np.unique(codes, return_inverse=True)
        left, right, chosen, sided = np.unravel_index(kinds, shape)
        return self._utilities(left, right, sided), chosen, places

    @property
    def _chosen(self) -> IntArray:
        """Which choice each vote is: 0 the left, 1 the right, 2 neither."""
        return np.select([self.votes.outcome == LEFT, self.votes.outcome == RIGHT], [0, 1], 2).astype(np.int64)

    def _utilities(self, left: IntArray, right: IntArray, sided: IntArray | BoolArray) -> FloatArray:
        """Return what each parameter adds to each choice, shape votes × choices × parameters."""
        first, second = self._basis[left], self._basis[right]
        neither = (first + second) / 2
        if self.has_side:
            first[:, -1], second[:, -1] = sided * 0.5, sided * -0.5
        choices = [first, second]
        if self._has_ties:
            neither[:, self._nu] = 1
            choices.append(neither)
        return np.stack(choices, axis=1)

    def _loss(self, at: FloatArray, utilities: FloatArray, chosen: IntArray, n: FloatArray) -> float:
        values = utilities @ at
        likely = values[np.arange(len(chosen)), chosen] - _log_sum(values)
        return float(-(n * likely).sum() + at @ self._pull @ at / 2)

    @property
    def _has_ties(self) -> bool:
        return bool(self.votes.ties.any())

    @property
    def _nu(self) -> int:
        return len(self.votes.systems) - 1

    # --- its figures, of any parameters ---

    def abilities_of(self, parameters: FloatArray) -> FloatArray:
        """Return θ, shape (…, systems)."""
        return np.asarray(parameters @ self._basis.T)

    def rates_of(self, parameters: FloatArray) -> FloatArray:
        """Return how often each system beats an average one, a tie being half, shape (…, systems)."""
        return self._shares(parameters[..., None, :], self.abilities_of(parameters))[0]

    def expected_of(self, parameters: FloatArray) -> FloatArray:
        """Return how often the row's system beats the column's, a tie being half, shape (…, systems, systems)."""
        return self._shares(parameters[..., None, None, :], self.ahead_of(parameters))[0]

    def ahead_of(self, parameters: FloatArray) -> FloatArray:
        """Return how far the row's system is ahead of the column's in log-odds, shape (…, systems, systems)."""
        abilities = self.abilities_of(parameters)
        return np.asarray(abilities[..., :, None] - abilities[..., None, :])

    def left_of(self, parameters: FloatArray) -> FloatArray:
        """Return how often the left beats an equal, a tie being half, shape (…); a half where there is no side."""
        return self._shares(parameters, self.has_side * parameters[..., -1])[0]

    def tie_rate_of(self, parameters: FloatArray) -> FloatArray:
        """Return how often equals tie, shape (…)."""
        return self._shares(parameters, np.zeros(parameters.shape[:-1]))[1]

    def _shares(self, parameters: FloatArray, ahead: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the share of wins with half of the ties, and of ties, of who is so far ahead in log-odds."""
        log_nu = parameters[..., self._nu] if self._has_ties else np.asarray(-np.inf)
        values = np.stack([ahead / 2, -ahead / 2, np.broadcast_to(log_nu, ahead.shape)], axis=-1)
        shares = np.exp(values - _log_sum(values)[..., None])
        return np.asarray(shares[..., 0] + shares[..., 2] / 2), np.asarray(shares[..., 2])

    # --- how sure it is ---

    @cached_property
    def over_raters(self) -> bool:
        """Whether there are enough raters to speak of others like them."""
        return len(np.unique(self.votes.rater)) >= FEWEST_RATERS

    @cached_property
    def sample(self) -> Sample:
        """What the figures rest on."""
        groups = [self.votes.topic, self.votes.rater] if self.over_raters else [self.votes.topic]
        sizes = [np.unique(of, return_counts=True)[1].tolist() for of in groups]
        return Sample(len(sizes[0]), len(self.votes.left), min(map(effective_number, sizes)), "votes")

    @cached_property
    def _left_out(self) -> list[FloatArray] | None:
        """The parameters without each topic; over raters also without each of these, and without each of both."""
        groups = [np.unique(of, return_inverse=True)[1] for of in (self.votes.topic, self.votes.rater)]
        groups = [*groups, groups[0] * (groups[1].max() + 1) + groups[1]] if self.over_raters else groups[:1]
        found = [one for one in map(self.without_each, groups) if one is not None]
        return found if len(found) == len(groups) else None

    def without_each(self, groups: IntArray) -> FloatArray | None:
        """Return the parameters without each group of votes, one Newton step away, shape groups × parameters.

        None where the votes that are left cannot tell them.
        """
        slopes, information = self.parts(groups)
        rest = information.sum(axis=0) + self._pull - information
        if len(rest) < 2 or np.linalg.cond(rest).max() > 1 / EXACT:
            return None
        return np.asarray(self.parameters - np.linalg.solve(rest, slopes[:, :, None])[:, :, 0])

    def parts(self, groups: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return each group's slope of the log-likelihood and its information, in the order of the groups' numbers."""
        utilities, chosen, kind = self._kinds
        names, places = np.unique(groups, return_inverse=True)
        size = len(names) * len(chosen)
        n = np.bincount(places * len(chosen) + kind, minlength=size).reshape(len(names), -1).astype(np.float64)
        slopes, information = _slopes(self.parameters, utilities, chosen)
        return n @ slopes, np.tensordot(n, information, 1)

    def likelihood_error_of_differences(self) -> FloatArray:
        """Return the standard errors of `ahead_of` as if votes were independent, shape systems × systems."""
        _, information = self.parts(np.zeros_like(self.votes.topic))
        covariance = self._basis @ np.linalg.pinv(information[0] + self._pull, hermitian=True) @ self._basis.T
        of_each = np.diag(covariance)
        return np.asarray(np.sqrt(np.maximum(of_each[:, None] + of_each[None, :] - 2 * covariance, 0)))

    def error_of(self, figure: Figure) -> FloatArray | None:
        """Return a figure's standard errors, of the figure's shape; None where they are undefined or meaningless.

        Each topic is left out in turn. Over raters too it is √(topics² + raters² − both²), and at least either.
        """
        if self._left_out is None:
            return None
        variances = [(len(one) - 1) * figure(one).var(axis=0) for one in self._left_out]
        if len(variances) == 1:
            return np.asarray(np.sqrt(variances[0]))
        topics, raters, both = variances
        return np.asarray(np.sqrt(np.maximum(topics + raters - both, np.maximum(topics, raters))))


def _slopes(at: FloatArray, utilities: FloatArray, chosen: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return each vote's slope of the log-likelihood and its information (minus the curvature)."""
    values = utilities @ at
    shares = np.exp(values - _log_sum(values)[:, None])
    mean = np.einsum("vc,vcp->vp", shares, utilities)
    centred = utilities - mean[:, None, :]
    weighted = shares[:, :, None] * centred
    return utilities[np.arange(len(chosen)), chosen] - mean, weighted.transpose(0, 2, 1) @ centred


def _log_sum(values: FloatArray) -> FloatArray:
    return np.asarray(np.logaddexp.reduce(values, axis=-1))
