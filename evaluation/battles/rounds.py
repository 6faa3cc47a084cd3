"""Which pairs people compare next: drawn from those that were never drawn, by what the votes leave open."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from collection.judgments.draws import draw_items
from collection.models import Criterion, Draw, Study
from collection.models.studies import TaskType
from evaluation.battles.votes import battle_criterion, voters_of, votes_of
from evaluation.data.visibility import Visibility, parts_of, visibility_of
from stats.ranking.battles.bradley_terry_fit import Votes
from stats.ranking.battles.rounds import draw_pairs
from stats.refusals import Refused

DESIGN = "systematic, by doubt about the order of two systems"


class NoBattlesAsked(Refused):
    """The study has no battles to draw from."""


@dataclass(frozen=True)
class Round:
    """What a draw left: `drawn` pairs are new, `left` were never drawn."""

    drawn: int
    left: int


def draw_next_pairs(study: Study, *, n: int, at: datetime, seed: int | None = None) -> Round:
    """Draw `n` pairs for people and store the draw; opening the study makes their tasks.

    Of a split study with judges they are of the development topics. Raises NoBattlesAsked, TooFewItems where so many
    were not left, and ItemsNotToBeDrawn where somebody else drew meanwhile.
    """
    criterion = battle_criterion(study)
    if criterion is None:
        raise NoBattlesAsked("This study asks no battles: make one with the task type “battle of two reports”.")
    judges = [one.raters[0] for one in voters_of(criterion) if one.is_judge]
    visibility = visibility_of(parts_of(study), judges)
    pairs = visibility.of(study.items.filter(task_type=TaskType.BATTLE)).order_by("pk")
    rows = list(pairs.values_list("pk", "report__run__name", "other_report__run__name"))
    before = set(Draw.objects.filter(item__study=study).values_list("item__pk", flat=True))
    systems = sorted({name for _, first, second in rows for name in (first, second)})
    left = np.array([systems.index(first) for _, first, _ in rows], dtype=np.int64)
    right = np.array([systems.index(second) for _, _, second in rows], dtype=np.int64)
    available = np.array([pk not in before for pk, *_ in rows], dtype=np.bool_)
    votes = _peoples_votes(criterion, visibility, systems)
    drawn = draw_pairs(votes, left, right, n, available=available, seed=secrets.randbits(63) if seed is None else seed)
    chosen = np.flatnonzero(drawn.items)
    probabilities = {rows[row][0]: float(drawn.probabilities[row]) for row in chosen.tolist()}
    stored = draw_items(study=study, drawn=probabilities, purpose=Draw.Purpose.ACTIVE, design=DESIGN, at=at)
    return Round(stored, int(available.sum()) - stored)


def _peoples_votes(criterion: Criterion, visibility: Visibility, systems: list[str]) -> Votes:
    people = [one for one in voters_of(criterion) if not one.is_judge]
    if people:
        return votes_of(criterion, people[0], visibility, systems)
    nothing = np.array([], dtype=np.int64)
    return Votes(tuple(systems), nothing, nothing, np.array([]), nothing, nothing, np.array([], dtype=bool))
