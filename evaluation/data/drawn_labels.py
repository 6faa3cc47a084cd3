"""How the items that people labelled came to be labelled: the one place that says what their labels stand for.

Items were drawn here with probabilities that are stored, or a file brought theirs; a researcher declared the labelled
items a simple random sample, or irrelevant what people do not name; or nobody knows. Calibration, corrected scores,
estimates from a sample and plans read it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from collection.judgments.declarations import PEOPLE, declared_types, irrelevant_by_origin
from collection.models import Criterion, Draw, Judgment, Rater, Study
from collection.models.studies import TaskType
from stats.calibration.labels import weights_of_waves
from stats.ratings import BoolArray, FloatArray, IntArray

Known = Literal["drawn", "all", "named", "declared", "unknown"]

OF_PASSAGES = (TaskType.RELEVANCE, TaskType.RATING)
NAMED = "What people do not name is declared irrelevant, so nothing is left to correct."

# In the place of a wave, for items that were never drawn.
NEVER = -1
DECLARED = "declared a simple random sample"


@dataclass(frozen=True)
class Draws:
    """How items were drawn, in their order.

    - `waves`: in which wave, or NEVER; `probabilities`: with which, NaN without a draw; both of shape (items,);
    - `designs`: the designs in words;
    - `declared`: whether the first wave is what a researcher declared, not a draw that is stored.
    """

    waves: IntArray
    probabilities: FloatArray
    designs: str
    declared: bool = False

    @property
    def drawn(self) -> BoolArray:
        return np.asarray(self.waves >= 0)

    def of(self, rows: IntArray) -> Draws:
        """Return the draws of these items alone."""
        return Draws(self.waves[rows], self.probabilities[rows], self.designs, self.declared)


def draws_of_items(criterion: Criterion, item_ids: IntArray) -> Draws:
    """Return for each item the wave in which it was drawn, or NEVER, and with which probability.

    Samples for people are wave 0, whenever they were drawn, for each text meets the same line. Every moment of active
    drawing is a wave of its own, which knew the waves before. Where a declaration counts (`declared_types`), the
    labelled items that nobody drew are wave 0.
    """
    draws = Draw.objects.filter(item__study=criterion.study_id, item__task_type=criterion.task_type)
    rows = list(draws.values_list("item", "purpose", "inclusion_probability", "drawn_at", "design"))
    moments = sorted({at for _, purpose, _, at, _ in rows if purpose == Draw.Purpose.ACTIVE})
    wave_of = {at: number for number, at in enumerate(moments, start=1)}
    places = {pk: place for place, pk in enumerate(item_ids.tolist())}
    waves = np.full(len(item_ids), NEVER, dtype=np.int64)
    probabilities = np.full(len(item_ids), np.nan)
    # A sample for people is taken before a control item, and either before an active draw of the same item.
    first = {Draw.Purpose.SAMPLE: 0, Draw.Purpose.CONTROL: 1, Draw.Purpose.ACTIVE: 2}
    for pk, purpose, probability, at, _ in sorted(rows, key=lambda row: first[Draw.Purpose(row[1])], reverse=True):
        if (place := places.get(pk)) is not None:
            waves[place] = wave_of[at] if purpose == Draw.Purpose.ACTIVE else 0
            probabilities[place] = probability
    designs = {design for *_, design in rows if design}
    declared = criterion.task_type in declared_types(criterion.study)
    if declared:
        sample = np.isin(item_ids, _labelled_items(criterion)) & (waves == NEVER)
        waves[sample], probabilities[sample] = 0, sample.mean() if len(sample) else 1.0
        designs |= {DECLARED}
    return Draws(waves, probabilities, ", ".join(sorted(designs)), declared)


def names_all(criterion: Criterion, source: str = PEOPLE) -> bool:
    """Whether the passages that the source does not name under the criterion are declared irrelevant."""
    return criterion.task_type in OF_PASSAGES and bool(irrelevant_by_origin(criterion.study, source))


def _labelled_items(criterion: Criterion) -> IntArray:
    """Return the items of the criterion's task type to which people gave a grade."""
    graded = Judgment.objects.filter(
        criterion__study=criterion.study_id,
        criterion__task_type=criterion.task_type,
        rater__kind=Rater.Kind.ASSESSOR,
        grade__isnull=False,
    )
    return np.array(list(graded.order_by().values_list("item", flat=True).distinct()), dtype=np.int64)


def weights_of_labels(
    labelled: BoolArray, draws: Draws, topics: IntArray
) -> tuple[FloatArray | None, Known, BoolArray]:
    """Return how many items each label stands for, how that is known, and which labels may be used.

    Items were `drawn` with stored probabilities, `all` are labelled, a researcher `declared` a simple random sample, or
    nobody knows.
    """
    if labelled.all():
        return np.ones(len(labelled)), "all", labelled
    waves, drawn = draws.waves, draws.drawn
    if not drawn.any():
        return None, "unknown", labelled
    # Items that people had judged before anybody drew are known for certain, and draws were made from the others.
    certain = labelled & ~drawn if not (waves == 0).any() else np.zeros(len(labelled), dtype=bool)
    kept = labelled & (drawn | certain)
    weights = weights_of_waves(waves, draws.probabilities, drawn=drawn)
    weights = np.where(certain, 1.0, weights * _waiting_stand_for(drawn, kept, waves, topics, weights))
    return np.where(kept, weights, np.nan), "declared" if draws.declared else "drawn", kept


def _waiting_stand_for(
    drawn: BoolArray, kept: BoolArray, waves: IntArray, topics: IntArray, weights: FloatArray
) -> FloatArray:
    """By how much a label counts more, for drawn items of its topic (later: of its wave) that nobody has judged yet.

    Source: weighting within response homogeneity groups, Särndal, Swensson and Wretman, Model Assisted Survey Sampling
    (1992), section 15.6.
    """
    groups = np.where(waves > 0, -waves, topics)
    _, groups = np.unique(groups, return_inverse=True)
    all_drawn = np.bincount(groups, weights=np.where(drawn, weights, 0.0))
    judged = np.bincount(groups, weights=np.where(drawn & kept, weights, 0.0))
    factors = np.ones(len(all_drawn))
    np.divide(all_drawn, judged, out=factors, where=judged > 0)
    return np.asarray(factors[groups])


def labels_are_a_sample(study: Study) -> bool:
    """Whether people were asked about a part of the passages alone, by a draw or by what was declared."""
    passages = Draw.objects.filter(item__study=study, item__passage__isnull=False)
    return passages.filter(inclusion_probability__lt=1).exists() or not declared_types(study).isdisjoint(OF_PASSAGES)
