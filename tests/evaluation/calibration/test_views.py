from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from collection.models import Draw, Rater, Study, User
from tests.evaluation.judged import FINGERPRINTS, criterion_of, judge_items
from tests.evaluation.sampled import N_DRAWN, sampled
from tests.factories import a_judge_rater

__all__ = ["sampled"]

PAGE = "/studies/bridges-study/calibration/"
DRAW = f"{PAGE}draw/"
QUERY = "?criterion=answerability&judge=stork-7b"
FILES = [
    f"{PAGE}{name}{QUERY}"
    for name in (
        "calibration.json",
        "scores.csv",
        "scores.tex",
        "recalibration.csv",
        "recalibration.svg",
        "scores.vl.json",
    )
]


def test_shows_corrected_scores_beside_people_and_judge(client: Client, sampled: Study, rosa: User) -> None:
    client.force_login(rosa)

    page = client.get(PAGE).content.decode()

    assert "Labelled items were drawn with stored probabilities" in page
    assert all(
        label in page for label in ("Human labels alone", "Judge alone", "PPI++", "Post-stratified by judge grade")
    )
    assert "None: label shift was not declared." in page
    assert "heron" in page
    assert "1 of 160 replies ungraded" in page


def test_rogan_and_gladen_come_with_the_declaration(client: Client, sampled: Study, rosa: User) -> None:
    client.force_login(rosa)

    page = client.get(PAGE, {"label_shift": "on"}).content.decode()

    assert "label shift was not declared" not in page


def test_a_system_of_the_judges_family_is_marked_circular(client: Client, sampled: Study, rosa: User) -> None:
    client.force_login(rosa)

    systems = client.get(f"{PAGE}calibration.json{QUERY}").json()["systems"]

    assert {one["system"]: one["circular"] for one in systems} == {"heron": False, "ibis": True}


def test_a_study_drawn_without_probabilities_says_what_it_cannot_have(
    client: Client, sampled: Study, rosa: User
) -> None:
    Draw.objects.all().delete()
    client.force_login(rosa)

    page = client.get(PAGE).content.decode()

    assert "are not recorded" in page
    assert "None: the probabilities with which the labelled items were drawn are not recorded." in page
    assert 'href="/studies/bridges-study/calibration/declarations/"' in page


def test_a_declared_sample_brings_the_estimates_back(client: Client, sampled: Study, rosa: User) -> None:
    Draw.objects.all().delete()
    client.force_login(rosa)

    client.post(f"{PAGE}declarations/", {"random_sample": "on"})

    answer = client.get(f"{PAGE}calibration.json{QUERY}").json()

    assert answer["inclusion_probabilities"] == "declared"
    assert answer["overall"]["scores"]["ppi"]["value"] is not None


def test_the_plan_says_how_many_more_labels(client: Client, sampled: Study, rosa: User) -> None:
    client.force_login(rosa)

    page = client.get(PAGE, {"half_width": "0.12", "first": "heron", "second": "ibis"}).content.decode()

    assert "items in all) for an interval of ± 0.12 around the share of yes of all items." in page
    assert "between heron and ibis" in page or "heron and ibis cannot be told apart here" in page


def test_a_plan_of_one_system_is_refused_beside_the_form(client: Client, sampled: Study, rosa: User) -> None:
    client.force_login(rosa)

    good = client.get(PAGE, {"half_width": "0.07"})
    bad = client.get(PAGE, {"half_width": "0.07", "first": "heron"})

    assert (good.status_code, bad.status_code) == (200, 422)
    assert "Choose both systems" in bad.content.decode()


@pytest.mark.parametrize("how", ["strata", "doubt"])
def test_drawing_stores_items_nobody_was_asked_with_their_probabilities(
    client: Client, sampled: Study, rosa: User, how: str
) -> None:
    client.force_login(rosa)
    before = set(Draw.objects.values_list("item", flat=True))

    response = client.post(DRAW, {"criterion": "answerability", "judge": "stork-7b", "n": 20, "how": how})

    drawn = Draw.objects.filter(purpose="active")
    assert response.status_code == 302
    assert drawn.count() == 20
    assert not before & set(drawn.values_list("item", flat=True))
    assert all(0 < draw.inclusion_probability <= 1 and draw.design for draw in drawn)
    assert "20 drawn items are waiting for their first judgment" in client.get(PAGE).content.decode()


def test_more_than_there_are_cannot_be_drawn(client: Client, sampled: Study, rosa: User) -> None:
    client.force_login(rosa)

    response = client.post(DRAW, {"criterion": "answerability", "judge": "stork-7b", "n": 101, "how": "doubt"})

    assert response.status_code == 422
    assert "101 items cannot be drawn: 100 are available" in response.content.decode()
    assert Draw.objects.count() == N_DRAWN


def test_without_a_judge_the_page_says_what_it_takes(client: Client, study: Study, rosa: User) -> None:
    client.force_login(rosa)

    assert "No judge has graded these items" in client.get(PAGE).content.decode()


def test_a_study_without_criteria_says_so(client: Client, study: Study, rosa: User) -> None:
    study.criteria.all().delete()
    client.force_login(rosa)

    assert "This study has no criteria yet" in client.get(PAGE).content.decode()


def test_an_unknown_judge_is_refused(client: Client, sampled: Study, rosa: User) -> None:
    client.force_login(rosa)

    assert client.get(PAGE, {"judge": "nobody"}).status_code == 422
    assert client.get(f"{PAGE}calibration.json?criterion=answerability&judge=nobody").status_code == 404
    assert client.get(f"{PAGE}nothing.csv{QUERY}").status_code == 404


def test_everything_can_be_taken_away(client: Client, sampled: Study, rosa: User) -> None:
    client.force_login(rosa)

    assert {url: client.get(url).status_code for url in FILES} == dict.fromkeys(FILES, 200)


@pytest.mark.parametrize("url", [PAGE, *FILES])
def test_strangers_and_assessors_find_nothing(
    client: Client, judged: Study, mallory: User, ada: User, url: str
) -> None:
    for user in (mallory, ada):
        client.force_login(user)
        assert client.get(url).status_code == 404
        assert client.post(DRAW, {"criterion": "answerability", "judge": "small-judge", "n": 1}).status_code == 404
    assert not Draw.objects.exists()


def test_the_number_of_queries_stays_the_same_with_more_judges(client: Client, sampled: Study, rosa: User) -> None:
    client.force_login(rosa)
    with CaptureQueriesContext(connection) as with_one:
        client.get(PAGE, {"judge": "stork-7b"})
    for number in range(3):
        rater = a_judge_rater(sampled.collection, f"judge-{number}")
        judge_items(criterion_of(sampled), rater, list(sampled.items.order_by("pk")), [1.0] * 160)

    with CaptureQueriesContext(connection) as with_four:
        page = client.get(PAGE, {"judge": "stork-7b"})

    assert "judge-2" in page.content.decode()
    assert len(with_four) == len(with_one) <= 38 + 2 * FINGERPRINTS


def test_simulated_grades_are_marked(client: Client, sampled: Study, rosa: User) -> None:
    Rater.objects.filter(name="stork-7b").update(origin="simulated", source="a coin")
    client.force_login(rosa)

    assert "made by a simulation" in client.get(PAGE).content.decode()
