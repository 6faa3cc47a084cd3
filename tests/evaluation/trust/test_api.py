from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from collection.models import Draw, Study, User
from tests.evaluation.sampled import N_DRAWN, sampled

__all__ = ["sampled"]

STUDY = "/api/v1/studies/bridges-study/"
CRITERION = {"criterion": "answerability"}
PATHS = ["calibration/", "calibration/plan/?half_width=0.1", "trust/", "agreement/details/"]


def asked(client: Client, path: str, **choice: Any) -> Any:
    return client.get(STUDY + path, CRITERION | choice)


def test_calibration_holds_all_scores_overall_and_by_system(client: Client, sampled: Study, rosa: User) -> None:
    client.force_login(rosa)

    answer = asked(client, "calibration/", judge="stork-7b", label_shift="true").json()

    assert set(answer["overall"]["scores"]) == {"people", "judge", "ppi", "post_stratified", "rogan_gladen"}
    assert answer["overall"]["scores"]["rogan_gladen"]["value"] is not None
    assert answer["overall"]["ungraded_share"] == 1 / 160
    assert [one["system"] for one in answer["systems"]] == ["heron", "ibis"]


def test_a_plan_is_for_a_half_width_or_for_two_systems(client: Client, sampled: Study, rosa: User) -> None:
    client.force_login(rosa)

    width = asked(client, "calibration/plan/", half_width=0.12).json()
    pair = asked(client, "calibration/plan/", separate=["heron", "ibis"]).json()

    assert width["plan"]["needed"] > 0
    assert width["pilot"]["n_labelled"] == N_DRAWN
    assert pair["systems"] == ["heron", "ibis"]


def test_drawing_says_how_many_are_left(client: Client, sampled: Study, rosa: User) -> None:
    client.force_login(rosa)

    response = client.post(f"{STUDY}calibration/draw/", CRITERION | {"n": 10}, content_type="application/json")

    assert response.status_code == 201
    assert response.json() == {"drawn": 10, "left": 90}
    assert Draw.objects.filter(purpose="active").count() == 10


def test_trust_and_details_are_those_of_the_pages(client: Client, sampled: Study, rosa: User) -> None:
    client.force_login(rosa)

    trust = asked(client, "trust/", people="crowd").json()
    details = asked(client, "agreement/details/").json()

    assert trust["alternative_annotator"]["epsilon"] == 0.1
    assert details["n_items"] == N_DRAWN


@pytest.mark.parametrize(
    ("path", "choice"),
    [
        ("calibration/", {"judge": "nobody"}),
        ("calibration/plan/", {}),
        ("calibration/plan/", {"half_width": 0.1, "system": "nobody"}),
        ("calibration/plan/", {"separate": ["heron", "heron"]}),
        ("trust/", {"people": "gods"}),
    ],
)
def test_a_bad_choice_is_refused(client: Client, sampled: Study, rosa: User, path: str, choice: dict[str, Any]) -> None:
    client.force_login(rosa)

    assert asked(client, path, **choice).status_code == 400


def test_too_many_items_are_refused(client: Client, sampled: Study, rosa: User) -> None:
    client.force_login(rosa)

    response = client.post(f"{STUDY}calibration/draw/", CRITERION | {"n": 500}, content_type="application/json")

    assert response.status_code == 400
    assert Draw.objects.count() == N_DRAWN


@pytest.mark.parametrize("path", PATHS)
def test_strangers_find_nothing(client: Client, judged: Study, mallory: User, path: str) -> None:
    client.force_login(mallory)

    assert asked(client, path).status_code == 404
    drawn = client.post(f"{STUDY}calibration/draw/", CRITERION | {"n": 1}, content_type="application/json")
    assert drawn.status_code == 404
