"""Studies with suggestions whose pull towards the judge was planted.

A topic has a share of its own on which people say what the judge says. An assignment is a text with its questions in
one person's hands; it draws its arm. Where somebody would have differed from the judge, a suggestion makes them take
the judge's grade over with a fixed probability: the pull. A person is as harsh in one arm as in another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from stats.judges.suggested_labels import AFTER, NONE, POST_EDIT, VERIFY, SuggestedLabels, pull, shift, turned
from tests.simulations.scenarios import Intervals, Scenario

GRADES = 4
OVERLAP = 3
QUESTIONS = 4
SECONDS = {NONE: 20.0, AFTER: 27.0, VERIFY: 16.0, POST_EDIT: 11.0}


@dataclass(frozen=True)
class Planted:
    """A study: `texts` of each topic, what share of labels follow the judge untouched, arms, and their pulls."""

    topics: int
    texts: int
    follows: float
    spread: float
    arms: Mapping[int, float]
    pulls: Mapping[int, float]
    uneven: bool = False


def labels_of(planted: Planted, rng: np.random.Generator) -> SuggestedLabels:
    """Draw the study's labels."""
    a, b = (share * (1 / planted.spread - 1) for share in (planted.follows, 1 - planted.follows))
    of_topic = rng.beta(a, b, planted.topics)
    texts = np.full(planted.topics, planted.texts)
    if planted.uneven:  # sizes have nothing to do with how hard a topic is, so the mean over labels stays the truth
        texts = 1 + rng.poisson(planted.texts - 1, planted.topics)
    topic_of_text = np.repeat(np.arange(planted.topics), texts)
    n_assignments = len(topic_of_text) * OVERLAP
    text = np.repeat(np.arange(len(topic_of_text)), OVERLAP)
    rater = np.concatenate([rng.permutation(12)[:OVERLAP] for _ in topic_of_text])
    arm_of = rng.choice(list(planted.arms), n_assignments, p=list(planted.arms.values()))
    assignment = np.repeat(np.arange(n_assignments), QUESTIONS)
    items = text[assignment] * QUESTIONS + np.tile(np.arange(QUESTIONS), n_assignments)
    judge = rng.integers(GRADES, size=items.max() + 1)[items]
    topics = topic_of_text[text[assignment]]
    arms = arm_of[assignment]
    agrees = rng.random(len(items)) < of_topic[topics]
    first = np.where(agrees, judge, (judge + rng.integers(1, GRADES, len(items))) % GRADES)
    pulled = rng.random(len(items)) < np.array([planted.pulls.get(arm, 0.0) for arm in range(4)])[arms]
    return SuggestedLabels(
        arms=arms,
        weights=1 / np.array([planted.arms.get(arm, 1.0) for arm in range(4)])[arms],
        grades=np.where(pulled, judge, first).astype(float),
        first=np.where((arms == NONE) | (arms == AFTER), first, np.nan),
        judge=judge.astype(float),
        seconds=rng.gamma(4, np.array([SECONDS[arm] for arm in range(4)])[arms] / 4),
        items=items,
        raters=rater[assignment],
        topics=topics,
    )


def draw(planted: Planted, rng: np.random.Generator) -> Intervals:
    """Return every arm's pull and shift, and what *after* turned, with what was planted."""
    labels = labels_of(planted, rng)
    found: Intervals = {}
    for arm in planted.arms:
        if arm == NONE:
            continue
        name = {AFTER: "after", VERIFY: "verify", POST_EDIT: "post-edit"}[arm]
        planted_pull = planted.pulls[arm]
        found[f"pull, {name}"] = pull(labels, arm), planted_pull
        found[f"shift, {name}"] = shift(labels, arm), planted_pull * (1 - planted.follows)
        if arm == AFTER:
            found["turned, after"] = turned(labels), planted_pull
    return found


FOUR = {NONE: 0.4, AFTER: 0.2, VERIFY: 0.2, POST_EDIT: 0.2}
TWO = {NONE: 0.7, POST_EDIT: 0.3}
PULLS = {AFTER: 0.15, VERIFY: 0.05, POST_EDIT: 0.364}  # .364 of the 44 % that differ: 56 % become 72 %
SHAPES = {
    "four arms, .56 follow": Planted(0, 8, 0.56, 0.05, FOUR, PULLS),
    "two arms, .70 to .30, .85 follow": Planted(0, 10, 0.85, 0.1, TWO, PULLS),
    "no pull at all, topics of uneven size": Planted(0, 8, 0.56, 0.1, FOUR, dict.fromkeys(FOUR, 0.0), uneven=True),
}
SIZES = (5, 10, 25, 50)


def scenarios() -> list[Scenario]:
    """Return the studies whose planted pull is to be found again."""
    return [
        Scenario(
            group="topics",
            study=f"suggestions: {shape}",
            n=n,
            draw=partial(draw, Planted(**{**vars(planted), "topics": n})),
            demanded=tuple(
                f"{figure}, {name}"
                for figure in ("pull", "shift")
                for arm, name in ((AFTER, "after"), (VERIFY, "verify"), (POST_EDIT, "post-edit"))
                if arm in planted.arms
            ),
        )
        for shape, planted in SHAPES.items()
        for n in SIZES
    ]
