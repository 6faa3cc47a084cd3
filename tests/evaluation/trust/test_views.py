from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from collection.models import Judgment, Rater, Study, User
from tests.evaluation.judged import FINGERPRINTS, criterion_of, judge_items
from tests.evaluation.sampled import sampled
from tests.factories import a_judge_rater

__all__ = ["sampled"]

PAGE = "/studies/bridges-study/trust/"
QUERY = "?criterion=answerability&judge=stork-7b"
NAMES = ["trust.json", "thresholds.csv", "thresholds.tex", "families.csv", "thresholds.svg", "thresholds.vl.json"]
FILES = [f"{PAGE}{name}{QUERY}" for name in NAMES]


def test_shows_threshold_ceiling_replacement_and_audits(client: Client, sampled: Study, rosa: User) -> None:
    client.force_login(rosa)

    page = client.get(PAGE).content.decode()

    assert "which was not used to choose" in page
    assert "the judge with the same assessors" in page
    assert "the alternative-annotator test</strong>" in page
    assert "2 assessors are tested; the test needs 3 or more" in page.lower()
    assert "a text twice as long gets" in page
    assert "Judges of the family <strong>stork (fictitious)</strong>" in page
    assert "it does not compare pairs of answers" in page


def test_says_where_the_people_are_a_simulation(client: Client, sampled: Study, rosa: User) -> None:
    client.force_login(rosa)
    address = f"/studies/{sampled.name}/trust/"
    before = client.get(address).text

    Rater.objects.filter(kind="assessor").update(origin="simulated", user=None)

    assert "made by a simulation" not in before
    assert "made by a simulation" in client.get(address).text


def test_small_studies_get_reasons_in_the_place_of_figures(client: Client, judged: Study, rosa: User) -> None:
    client.force_login(rosa)

    answer = client.get(f"{PAGE}trust.json", {"criterion": "answerability"}).json()

    assert answer["alternative_annotator"]["winning_rate"] is None
    assert "6 shared items; the test needs 30" in answer["alternative_annotator"]["reason"]
    assert answer["audits"]["length"]["per_doubling"]["value"] is None
    assert answer["audits"]["self_preference"]["cells"] is None
    assert answer["human_ceiling"]["n_ungraded"] == 1


def test_no_verdict_where_the_most_frequent_grade_alone_would_pass(client: Client, sampled: Study, rosa: User) -> None:
    client.force_login(rosa)
    Judgment.objects.filter(item__study=sampled).update(grade=0, ungraded="")

    page = client.get(f"{PAGE}{QUERY}").content.decode()
    answers = [
        client.get(f"{PAGE}trust.json{QUERY}").json(),
        client.get(f"/api/v1/studies/{sampled.name}/trust/{QUERY}").json(),
    ]

    assert 'data-passes="None"' in page
    for one in (answer["alternative_annotator"] for answer in answers):
        assert (one["passes"], one["winning_rate"]) == (None, 1)
        assert "always gives 0" in one["reason"]


def test_who_would_be_replaced_sets_the_allowance(client: Client, sampled: Study, rosa: User) -> None:
    client.force_login(rosa)

    answer = client.get(f"{PAGE}trust.json{QUERY}&people=experts").json()

    assert answer["alternative_annotator"]["epsilon"] == 0.2


def test_without_a_judge_the_page_says_what_it_takes(client: Client, study: Study, rosa: User) -> None:
    client.force_login(rosa)

    assert "No judge can be compared with humans yet" in client.get(PAGE).content.decode()


def test_an_unknown_judge_is_not_found(client: Client, sampled: Study, rosa: User) -> None:
    client.force_login(rosa)

    assert client.get(PAGE, {"judge": "nobody"}).status_code == 422
    assert client.get(PAGE, {"criterion": "nothing"}).status_code == 404
    assert client.get(f"{PAGE}nothing.csv{QUERY}").status_code == 404


@pytest.mark.slow
def test_everything_can_be_taken_away(client: Client, sampled: Study, rosa: User) -> None:
    client.force_login(rosa)

    assert {url: client.get(url).status_code for url in FILES} == dict.fromkeys(FILES, 200)


def test_the_number_of_queries_stays_the_same_with_more_judges(client: Client, sampled: Study, rosa: User) -> None:
    client.force_login(rosa)
    with CaptureQueriesContext(connection) as with_one:
        client.get(PAGE)
    for number in range(3):
        rater = a_judge_rater(sampled.collection, f"judge-{number}")
        judge_items(criterion_of(sampled), rater, list(sampled.items.order_by("pk")), [1.0] * 160)

    with CaptureQueriesContext(connection) as with_four:
        client.get(PAGE)

    assert len(with_four) == len(with_one) <= 23 + FINGERPRINTS
