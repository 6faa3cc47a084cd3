"""Rounds of battles: which pairs people compare next."""

from __future__ import annotations

import numpy as np
import pytest
from django.core.management import call_command
from django.test import Client
from django.test.client import MULTIPART_CONTENT
from django.utils.timezone import now

from annotate.studies.lifecycle import open_study
from collection.models import Draw, Study, User
from evaluation.battles.rounds import draw_next_pairs
from stats.calibration.active_sampling import TooFewItems
from stats.ranking.battles.rounds import doubt_of, draw_pairs
from tests.annotate.battles import a_collection_with_reports
from tests.annotate.studies.test_lifecycle import a_study_of
from tests.evaluation.battles.test_battles import RUNS, vote
from tests.evaluation.judged import AT, criterion_of
from tests.factories import rater_of
from tests.simulations.battles import Battles

DRAW = "/studies/study-of-1-0/battles/draw/"
API = "/api/v1/studies/study-of-1-0/battles/draw/"


@pytest.fixture
def begun(rosa: User) -> Study:
    """Of 60 pairs 20 were drawn to begin with."""
    collection = a_collection_with_reports(rosa, topics=6, runs=RUNS)
    study = a_study_of(collection, "battle", sample_sizes={"battle": 20})
    open_study(study=study, at=now())
    return study


def test_what_the_votes_leave_open_is_drawn_most() -> None:
    battles = Battles(4, 1, 1, topics=0.2)
    votes = battles.draw(np.random.default_rng(1), 12)
    left, right = np.repeat([0, 0], 50), np.repeat([1, 3], 50)

    doubt = doubt_of(votes)
    drawn = draw_pairs(votes, left, right, 20, available=np.ones(100, dtype=bool))

    assert doubt[0, 1] > doubt[0, 3]
    assert drawn.items.sum() == 20
    assert drawn.items[:50].sum() > drawn.items[50:].sum()
    assert drawn.probabilities.min() > 0
    assert drawn.probabilities.sum() == pytest.approx(20)


def test_without_votes_every_pair_is_as_likely(begun: Study) -> None:
    made = draw_next_pairs(begun, n=10, at=AT, seed=1)

    draws = Draw.objects.filter(item__study=begun, purpose=Draw.Purpose.ACTIVE)
    assert (made.drawn, made.left) == (10, 30)
    assert set(draws.values_list("inclusion_probability", flat=True)) == {0.25}


def test_a_round_becomes_tasks_when_the_study_is_opened(begun: Study, ada: User) -> None:
    vote(criterion_of(begun, "better"), rater_of(ada), 3)
    before = begun.tasks.count()

    draw_next_pairs(begun, n=10, at=AT, seed=1)
    made = open_study(study=begun, at=now())

    assert (before, made) == (20, 10)
    drawn = Draw.objects.filter(purpose=Draw.Purpose.ACTIVE).values_list("inclusion_probability", flat=True)
    assert len(set(drawn)) > 1


def test_more_than_are_left_cannot_be_drawn(begun: Study) -> None:
    with pytest.raises(TooFewItems, match="40 are available"):
        draw_next_pairs(begun, n=41, at=AT)

    assert not Draw.objects.filter(purpose=Draw.Purpose.ACTIVE).exists()


def test_page_api_and_command_draw(client: Client, begun: Study, rosa: User, ada: User) -> None:
    vote(criterion_of(begun, "better"), rater_of(ada), 3)
    client.force_login(rosa)

    page = client.post(DRAW, {"n": 5}, follow=True).content.decode()
    answer = client.post(API, {"n": 5}, "application/json")
    call_command("battles", "--study", begun.name, "--draw", "5")
    refused = client.post(DRAW, {"n": 100})

    assert "5 pairs drawn" in page
    assert "35 pairs were never drawn" in page
    assert (answer.status_code, answer.json()) == (201, {"drawn": 5, "left": 30})
    assert Draw.objects.filter(item__study=begun, purpose=Draw.Purpose.ACTIVE).count() == 15
    assert refused.status_code == 422
    assert "25 are available" in refused.content.decode()
    assert client.post(API, {"n": 0}, "application/json").status_code == 400


@pytest.mark.parametrize("address", [DRAW, API])
def test_strangers_draw_nothing(client: Client, begun: Study, mallory: User, address: str) -> None:
    client.force_login(mallory)

    assert (
        client.post(address, {"n": 5}, "application/json" if address == API else MULTIPART_CONTENT).status_code == 404
    )
    assert not Draw.objects.filter(purpose=Draw.Purpose.ACTIVE).exists()
