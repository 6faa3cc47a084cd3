from __future__ import annotations

from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from collection.judgments.draws import ItemsNotToBeDrawn, draw_items
from collection.models import Collection, Draw, Rater, Study
from evaluation.calibration.planning import disagreement_of, draw_next, plan_difference, plan_interval
from evaluation.data.judgments import load_criterion
from evaluation.data.population import JudgeNotFound, judge_choices, load_population, population_of
from tests.evaluation.judged import AT, criterion_of, judge_items
from tests.evaluation.sampled import N_DRAWN, sampled
from tests.factories import a_judge_rater, a_study

__all__ = ["sampled"]


def population(study: Study, **choices: Any) -> Any:
    return population_of(criterion_of(study), "stork-7b", **choices)


def test_a_drawn_label_stands_for_the_items_of_its_draw(sampled: Study) -> None:
    found = population(sampled)

    weights = found.labels.weights
    assert found.known == "drawn"
    assert np.isfinite(weights).sum() == N_DRAWN
    assert np.nansum(weights) == pytest.approx(160)


def test_drawn_items_that_nobody_judged_yet_are_stood_for_by_their_topic(sampled: Study, ada_as_rater: Rater) -> None:
    topic = sampled.items.filter(judgments__rater=ada_as_rater).order_by("pk").first().topic  # type: ignore[union-attr]
    judged = sampled.items.filter(topic=topic, judgments__rater=ada_as_rater).order_by("pk")
    n_judged = judged.count()
    criterion_of(sampled).judgments.filter(item=judged[0], rater__kind="assessor").delete()

    found = population(sampled)

    here = np.isin(found.item_ids, list(sampled.items.filter(topic=topic).values_list("pk", flat=True)))
    assert found.n_waiting == 1
    assert np.nansum(found.labels.weights[here]) == pytest.approx(n_judged * 160 / N_DRAWN)


def test_labels_outside_the_draw_are_set_aside(sampled: Study, ada_as_rater: Rater) -> None:
    undrawn = sampled.items.filter(draws=None).order_by("pk")[:3]
    judge_items(criterion_of(sampled), ada_as_rater, list(undrawn), [1, 1, 1])

    found = population(sampled)

    assert found.n_set_aside == 3
    assert found.labels.n_labelled == N_DRAWN
    assert found.undrawn.sum() == 160 - N_DRAWN - 3


def test_where_everything_is_labelled_no_draw_is_needed(judged: Study) -> None:
    found = population_of(criterion_of(judged), None)

    assert found.known == "all"
    assert found.labels.n_ungraded == 1


def test_a_later_draw_is_weighed_among_what_was_left(sampled: Study, ada_as_rater: Rater) -> None:
    n = draw_next(population(sampled), n=40, how="strata", judges=[], at=AT + timedelta(days=1), seed=3)
    drawn = [draw.item for draw in Draw.objects.filter(purpose="active").select_related("item").order_by("pk")]
    judge_items(criterion_of(sampled), ada_as_rater, drawn, [1.0] * 40)

    found = population(sampled)

    assert n == 40
    assert found.labels.n_labelled == N_DRAWN + 40
    assert found.n_waiting == found.n_set_aside == 0
    assert np.nansum(found.labels.weights) == pytest.approx(160)


def test_active_draws_after_judgments_nobody_drew_take_those_for_certain(sampled: Study, ada_as_rater: Rater) -> None:
    Draw.objects.all().delete()
    draw_next(population(sampled), n=50, how="strata", judges=[], at=AT, seed=3)
    drawn = [draw.item for draw in Draw.objects.select_related("item").order_by("pk")]
    judge_items(criterion_of(sampled), ada_as_rater, drawn, [1.0] * 50)

    found = population(sampled)

    assert found.known == "drawn"
    assert (found.labels.weights == 1).sum() >= N_DRAWN
    assert np.nansum(found.labels.weights) == pytest.approx(160)


def test_two_judges_that_differ_make_an_item_disputed(sampled: Study) -> None:
    other = a_judge_rater(sampled.collection, "heron-1b")
    judge_items(criterion_of(sampled), other, list(sampled.items.order_by("pk")), [1.0] * 160)
    of_people = load_criterion(criterion_of(sampled))
    choices = judge_choices(of_people)
    found = load_population(of_people, choices[-1])

    disagreement = disagreement_of(found, choices)

    assert disagreement is not None
    assert disagreement_of(found, choices[:1]) is None
    assert set(np.unique(disagreement[1:])) == {0.0, 0.5}
    assert np.isnan(disagreement[0])  # one of the two left it ungraded


def test_plans_rest_on_the_labels_at_hand(sampled: Study) -> None:
    found = population(sampled)

    wide, narrow = plan_interval(found, 0.12), plan_interval(found, 0.1)
    pair = plan_difference(found, "heron", "ibis", difference=None)

    assert wide.plan.needed is not None
    assert narrow.plan.needed is None or narrow.plan.needed > wide.plan.needed
    assert pair.difference > 0
    assert pair.pilot.n_items == 80


def test_an_unknown_judge_is_told_who_there_is(sampled: Study) -> None:
    with pytest.raises(JudgeNotFound, match="Judges that did: stork-7b"):
        population_of(criterion_of(sampled), "nobody")


def test_a_draw_is_all_or_nothing(sampled: Study) -> None:
    free, taken = sampled.items.filter(draws=None).first(), sampled.items.exclude(draws=None).first()
    assert free
    assert taken

    with pytest.raises(ItemsNotToBeDrawn, match="1 of these items were drawn before"):
        draw_items(
            study=sampled, drawn={free.pk: 0.5, taken.pk: 0.5}, purpose=Draw.Purpose.ACTIVE, design="simple", at=AT
        )

    assert Draw.objects.count() == N_DRAWN


def test_items_of_another_study_are_not_drawn(sampled: Study, collection: Collection) -> None:
    other = a_study(collection, name="other")
    item = sampled.items.filter(draws=None).first()
    assert item

    with pytest.raises(ItemsNotToBeDrawn, match="not in the study"):
        draw_items(study=other, drawn={item.pk: 1.0}, purpose=Draw.Purpose.ACTIVE, design="simple", at=AT)
