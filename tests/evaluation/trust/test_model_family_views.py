from __future__ import annotations

import pytest
from django.test import Client

from collection.models import Study, System, User
from evaluation.data.model_families import FamilyNotFound, state_families
from evaluation.leaderboards.leaderboard import measure_leaderboard
from evaluation.leaderboards.sources import Scorer
from stats.ranking.measure_names import parse_measure
from tests.factories import a_judge_rater

PAGE = "/studies/bridges-study/families/"
API = "/api/v1/studies/bridges-study/families/"


def fields(study: Study) -> tuple[str, str]:
    judge = study.collection.raters.get(kind="judge")
    return f"judge-{judge.pk}", f"system-{System.objects.get().pk}"


def test_rosa_states_families_and_circular_scores_are_marked(client: Client, judged: Study, rosa: User) -> None:
    client.force_login(rosa)
    judge, system = fields(judged)

    response = client.post(PAGE, {judge: "Grey", system: "Grey"}, follow=True)

    assert "2 changed" in response.content.decode()
    board = measure_leaderboard(Scorer.of(judged), parse_measure("coverage"))
    assert board.columns[1].board.circular == {"alpha-1"}
    assert ">same family</span>" in client.get("/studies/bridges-study/leaderboard/").content.decode()


def test_a_statement_is_taken_back_and_other_attributes_stay(client: Client, judged: Study, rosa: User) -> None:
    rater = judged.collection.raters.get(kind="judge")
    rater.attributes = {"family": "Grey", "prompt": "p"}
    rater.save()
    client.force_login(rosa)
    judge, system = fields(judged)

    client.post(PAGE, {judge: "", system: ""})

    rater.refresh_from_db()
    assert rater.attributes == {"prompt": "p"}


def test_what_is_stated_stands_in_the_form(client: Client, judged: Study, rosa: User) -> None:
    System.objects.update(family="Qwen")
    client.force_login(rosa)

    assert 'value="Qwen"' in client.get(PAGE).content.decode()


def test_too_long_a_name_is_refused(client: Client, judged: Study, rosa: User) -> None:
    client.force_login(rosa)
    judge, system = fields(judged)

    assert client.post(PAGE, {judge: "x" * 101, system: ""}).status_code == 422
    assert judged.collection.raters.get(kind="judge").attributes == {}


def test_a_judge_of_another_study_is_not_touched(judged: Study) -> None:
    other = a_judge_rater(judged.collection, "elsewhere")

    with pytest.raises(FamilyNotFound):
        state_families(study=judged, judges={other.pk: "Grey"}, systems={})


def test_without_judges_and_systems_the_page_says_so(client: Client, study: Study, rosa: User) -> None:
    System.objects.all().delete()
    client.force_login(rosa)

    assert "No judges or systems" in client.get(PAGE).content.decode()


def test_the_api_states_and_tells(client: Client, judged: Study, rosa: User) -> None:
    client.force_login(rosa)

    stated = client.post(API, {"judges": {"small-judge": "Grey"}}, content_type="application/json")
    unknown = client.post(API, {"systems": {"nobody": "Grey"}}, content_type="application/json")

    assert stated.json() == {"judges": {"small-judge": "Grey"}, "systems": {"alpha": ""}}
    assert client.get(API).json() == stated.json()
    assert unknown.status_code == 400


@pytest.mark.parametrize("url", [PAGE, API])
def test_strangers_and_assessors_find_nothing(
    client: Client, judged: Study, mallory: User, ada: User, url: str
) -> None:
    for user in (mallory, ada):
        client.force_login(user)
        assert client.get(url).status_code == 404
        assert client.post(url, {}).status_code == 404
