"""The made-up campaign with many judges, which other tests import."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from collection.models import Collection, Judgment, User
from tests.factories import a_user
from tests.many_judges import a_campaign, import_campaign, write_campaign

SMALL: dict[str, Any] = {"n_topics": 3, "n_passages": 12, "n_judges": 8}


@pytest.fixture
def rosa() -> User:
    return a_user("rosa", is_researcher=True)


def test_writes_the_same_files_for_the_same_seed(tmp_path: Path) -> None:
    first, again = (write_campaign(tmp_path / name, texts=True, **SMALL) for name in "ab")

    assert {name: path.read_bytes() for name, path in first.items()} == {
        name: path.read_bytes() for name, path in again.items()
    }
    other = write_campaign(tmp_path / "c", seed=2, **SMALL)
    assert other["people.qrels"].read_bytes() != first["people.qrels"].read_bytes()


def test_makes_the_first_judges_alike_however_many_are_asked_for() -> None:
    few, all_of_them = a_campaign(n_judges=3), a_campaign()

    assert len(all_of_them.judges) == 33
    assert all(np.array_equal(grades, all_of_them.judges[name]) for name, grades in few.judges.items())


def test_makes_judges_of_differing_quality() -> None:
    campaign = a_campaign()

    agreeing = {name: float(np.mean(grades == campaign.people)) for name, grades in campaign.judges.items()}
    assert agreeing["opal-70b-plain"] > 0.75
    assert agreeing["finch-1b-plain"] < 0.45
    assert np.mean(campaign.judges["opal-8b-plain"]) > np.mean(campaign.people) + 0.4
    assert 0.08 < np.mean(campaign.judges["cedar-7b-plain"] < 0) < 0.16


@pytest.mark.django_db
def test_its_files_are_imported_without_a_word(rosa: User, tmp_path: Path) -> None:
    collection = Collection.objects.create(name="pool", owner=rosa)

    study = import_campaign(collection, tmp_path, **SMALL)

    assert collection.topics.count() == 3
    assert collection.runs.count() == 8
    assert Judgment.objects.filter(item__study=study, rater__name="people").count() == 36
    assert (
        len(set(Judgment.objects.filter(item__study=study, rater__kind="judge").values_list("rater", flat=True))) == 8
    )
