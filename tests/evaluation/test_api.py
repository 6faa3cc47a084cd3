from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from collection.models import Study, User

AGREEMENT = "/api/v1/studies/bridges-study/agreement/"
COMPARISON = "/api/v1/studies/bridges-study/comparison/"
QRELS = "/api/v1/studies/bridges-study/qrels/"


def asked(client: Client, url: str, **choice: str) -> Any:
    return client.get(url, choice).json()


def test_agreement_is_that_of_the_command(client: Client, judged: Study, rosa: User) -> None:
    client.force_login(rosa)

    agreement = asked(client, AGREEMENT, criterion="answerability")

    assert agreement["n_items"] == 6
    assert agreement["statistics"]["percent_agreement"]["value"] == pytest.approx(4 / 6)


def test_comparison_holds_each_judge(client: Client, judged: Study, rosa: User) -> None:
    client.force_login(rosa)

    comparison = asked(client, COMPARISON, criterion="answerability")

    assert [judge["judge"] for judge in comparison["judges"]] == ["small-judge"]


def test_qrels_come_with_their_provenance(client: Client, judged: Study, rosa: User) -> None:
    client.force_login(rosa)

    answer = asked(client, QRELS, criterion="answerability", rater="small-judge", per_element="true")

    assert answer["qrels"].startswith("t0/t0-q0 0 alpha-1 1\n")
    assert answer["provenance"]["counts"]["ungraded_items"] == 1


def test_qrels_follow_the_rule_that_is_asked_for(client: Client, judged: Study, rosa: User) -> None:
    client.force_login(rosa)

    answer = asked(
        client, QRELS, criterion="answerability", ties="undecided", fewest_raters="2", holes_at="5", names="true"
    )

    assert answer["provenance"]["rule"]["fewest_raters"] == "at least 2 an item"
    assert [rater["name"] for rater in answer["provenance"]["raters"]] == ["ada", "ben"]
    assert answer["unjudged"] == {}


@pytest.mark.parametrize(
    ("url", "choice", "status"),
    [
        (AGREEMENT, {}, 400),
        (AGREEMENT, {"criterion": "nothing"}, 404),
        (QRELS, {"criterion": "answerability", "rater": "eve"}, 400),
        (QRELS, {"criterion": "answerability", "combine": "magic"}, 400),
        (QRELS, {"criterion": "rating"}, 400),
    ],
)
def test_a_bad_choice_is_refused(
    client: Client, judged: Study, rosa: User, url: str, choice: dict[str, str], status: int
) -> None:
    client.force_login(rosa)

    assert client.get(url, choice).status_code == status


@pytest.mark.parametrize("url", [AGREEMENT, COMPARISON, QRELS])
def test_strangers_find_nothing(client: Client, judged: Study, mallory: User, url: str) -> None:
    assert client.get(url, {"criterion": "answerability"}).status_code in (401, 403)

    client.force_login(mallory)

    assert client.get(url, {"criterion": "answerability"}).status_code == 404
