"""No browser stores what a signed-in person sees."""

from __future__ import annotations

import pytest
from django.test import Client

from collection.models import Study, User
from tests.factories import a_token

PAGES = [
    "/account/",
    "/studies/",
    "/studies/bridges-study/",
    "/studies/bridges-study/qrels/file/",
    "/collections/bridges/",
    "/collections/bridges/export/",
    "/collections/bridges/studies/bridges-study/judgments.csv",
    "/judges/",
    "/nowhere/",
]


@pytest.mark.parametrize("path", PAGES)
def test_a_page_of_the_signed_in_is_not_stored(client: Client, study: Study, rosa: User, path: str) -> None:
    client.force_login(rosa)

    response = client.get(path)

    assert {"no-store", "private"} <= set(response["Cache-Control"].split(", "))


def test_an_answer_to_a_token_is_not_stored(study: Study, rosa: User) -> None:
    client = Client(headers={"Authorization": f"Token {a_token(rosa)}"})

    response = client.get("/api/v1/studies/")

    assert "no-store" in response["Cache-Control"]


@pytest.mark.parametrize("path", ["/robots.txt", "/favicon.ico"])
def test_what_everybody_may_see_is_stored(client: Client, db: None, path: str) -> None:
    assert "no-store" not in client.get(path).headers.get("Cache-Control", "")
