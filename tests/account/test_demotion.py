"""Whoever is a researcher no more sees no study, collection or judge any more, at once and by every door."""

from __future__ import annotations

import pytest
from django.test import Client

from collection.models import Study, User
from tests.factories import a_token

PAGES = [
    "/studies/",
    "/studies/bridges-study/",
    "/studies/bridges-study/agreement/",
    "/studies/bridges-study/judging/",
    "/studies/bridges-study/crowd/judgments.csv",
    "/collections/",
    "/collections/bridges/",
    "/collections/bridges/export/",
    "/judges/",
    "/trust-in-judges/",
]
ENDPOINTS = [
    "/api/v1/studies/bridges-study/",
    "/api/v1/studies/bridges-study/judgments/",
    "/api/v1/studies/bridges-study/progress/",
    "/api/v1/collections/bridges/",
]


def demote(user: User) -> None:
    User.objects.filter(pk=user.pk).update(is_researcher=False)


@pytest.mark.parametrize("path", PAGES)
def test_an_open_session_ends_its_access(client: Client, study: Study, rosa: User, path: str) -> None:
    client.force_login(rosa)
    before = client.get(path, follow=True).status_code

    demote(rosa)

    assert (before, client.get(path).status_code) == (200, 404)


@pytest.mark.parametrize("path", ENDPOINTS)
def test_a_running_token_ends_its_access(study: Study, rosa: User, path: str) -> None:
    client = Client(headers={"Authorization": f"Token {a_token(rosa)}"})
    before = client.get(path).status_code

    demote(rosa)

    assert (before, client.get(path).status_code) == (200, 404)


@pytest.mark.parametrize("path", ["/studies/bridges-study/", "/collections/bridges/"])
def test_an_invitation_ends_its_access(client: Client, study: Study, mallory: User, path: str) -> None:
    study.collection.researchers.add(mallory)
    client.force_login(mallory)
    before = client.get(path).status_code

    demote(mallory)

    assert (before, client.get(path).status_code) == (200, 404)


def test_lists_hold_nothing_any_more(study: Study, rosa: User) -> None:
    client = Client(headers={"Authorization": f"Token {a_token(rosa)}"})

    demote(rosa)

    assert client.get("/api/v1/studies/").json()["results"] == []
    assert client.get("/api/v1/collections/").json()["results"] == []


def test_a_researcher_again_finds_everything_as_it_was(client: Client, study: Study, rosa: User) -> None:
    client.force_login(rosa)
    demote(rosa)
    User.objects.filter(pk=rosa.pk).update(is_researcher=True)

    assert client.get("/studies/bridges-study/").status_code == 200
