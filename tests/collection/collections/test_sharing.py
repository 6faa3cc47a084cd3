"""Collections are shared by an invitation that somebody accepts; nothing tells whether a name is anybody's."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now
from pytest_django.asserts import assertContains, assertNotContains, assertRedirects
from rest_framework.test import APIClient

from annotate.crowd.privacy import close_account
from collection.collections.sharing import (
    InAlready,
    NoInvitation,
    accept_collection,
    decline_collection,
    invite_researcher,
    withdraw_invitation,
)
from collection.models import Collection, CollectionInvitation, User
from tests.factories import a_user

pytestmark = pytest.mark.django_db
NAMES = ["ruth", "ada", "nobody"]  # a researcher, an assessor, and no account


@pytest.fixture
def ruth(db: None) -> User:
    return a_user("ruth", is_researcher=True)


@pytest.fixture
def invitation(collection: Collection, rosa: User, ruth: User) -> CollectionInvitation:
    return invite_researcher(collection=collection, username="ruth", by=rosa, at=now())


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def by_api(user: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(user)
    return client


class TestNoOracle:
    def test_every_name_gets_the_same_answer_by_the_same_queries(
        self, collection: Collection, rosa: User, ruth: User, ada: User
    ) -> None:
        client, told = signed_in(rosa), []
        client.get("/collections/bridges/")

        for name in NAMES:
            with CaptureQueriesContext(connection) as queries:
                sent = client.post("/collections/bridges/", {"username": name})
            page = client.get("/collections/bridges/").content.decode()
            statements = [query["sql"].split(" WHERE ")[0].split(" VALUES ")[0] for query in queries]
            told.append((sent.status_code, f"If there is a researcher “{name}”" in page, statements))

        assert told[0][:2] == (302, True)
        assert told[0] == told[1] == told[2]
        assert [each.username for each in collection.invitations.all()] == NAMES
        assert not collection.researchers.exists()

    def test_and_so_in_the_api(self, collection: Collection, rosa: User, ruth: User, ada: User) -> None:
        client = by_api(rosa)

        answers = [
            client.post("/api/v1/collections/bridges/invitations/", {"username": name}, format="json") for name in NAMES
        ]

        assert [answer.status_code for answer in answers] == [201] * 3
        kinds = {tuple(sorted(answer.json().keys() - {"id", "username"})) for answer in answers}
        assert kinds == {("collection", "ends_at", "invited_at", "invited_by")}

    def test_declining_looks_like_waiting(
        self, collection: Collection, invitation: CollectionInvitation, rosa: User, ruth: User
    ) -> None:
        before = by_api(rosa).get("/api/v1/collections/bridges/invitations/").json()

        decline_collection(pk=invitation.pk, by=ruth, at=now())

        assert by_api(rosa).get("/api/v1/collections/bridges/invitations/").json() == before
        assertContains(signed_in(rosa).get("/collections/bridges/"), "Withdraw the invitation of ruth")

    def test_who_declined_is_not_asked_again_until_it_is_withdrawn(
        self, collection: Collection, invitation: CollectionInvitation, rosa: User, ruth: User
    ) -> None:
        decline_collection(pk=invitation.pk, by=ruth, at=now())

        again = invite_researcher(collection=collection, username="ruth", by=rosa, at=now())

        assert not CollectionInvitation.objects.to(ruth, at=now()).exists()
        withdraw_invitation(collection=collection, pk=again.pk)
        invite_researcher(collection=collection, username="ruth", by=rosa, at=now())
        assert CollectionInvitation.objects.to(ruth, at=now()).exists()


class TestAccepting:
    def test_ruth_sees_it_under_collections_and_accepts(
        self, collection: Collection, invitation: CollectionInvitation, ruth: User
    ) -> None:
        client = signed_in(ruth)
        assert client.get("/collections/bridges/").status_code == 404
        assertContains(client.get("/collections/"), "rosa shares it with you.")

        response = client.post(f"/invitations/{invitation.pk}/accept/")

        assertRedirects(response, "/collections/bridges/")
        assert list(collection.researchers.all()) == [ruth]
        assert not CollectionInvitation.objects.exists()

    def test_she_declines_and_it_is_gone(self, invitation: CollectionInvitation, ruth: User) -> None:
        client = signed_in(ruth)

        response = client.post(f"/invitations/{invitation.pk}/decline/", follow=True)

        assertContains(response, "The sender is not notified.")
        assertNotContains(response, "shares it with you")
        assert client.post(f"/invitations/{invitation.pk}/accept/").status_code == 404
        assert list(Collection.objects.of(ruth)) == []

    def test_by_the_api(self, collection: Collection, invitation: CollectionInvitation, ruth: User, rosa: User) -> None:
        client = by_api(ruth)
        (offer,) = client.get("/api/v1/invitations/").json()

        answers = [
            client.post(f"/api/v1/invitations/{offer['id']}/{answer}/").status_code
            for answer in ("nonsense", "accept", "accept")
        ]

        assert (offer["collection"], offer["invited_by"], answers) == ("bridges", "rosa", [404, 204, 404])
        assert list(Collection.objects.of(ruth)) == [collection]
        twice = by_api(rosa).post("/api/v1/collections/bridges/invitations/", {"username": "ruth"}, format="json")
        assert twice.status_code == 400

    @pytest.mark.parametrize("answer", ["accept", "decline"])
    def test_nobody_else_answers_it(
        self, invitation: CollectionInvitation, mallory: User, rosa: User, ada: User, answer: str
    ) -> None:
        for user in (mallory, rosa, ada):
            assert signed_in(user).post(f"/invitations/{invitation.pk}/{answer}/").status_code == 404
            assert by_api(user).post(f"/api/v1/invitations/{invitation.pk}/{answer}/").status_code == 404

        invitation.refresh_from_db()
        assert invitation.declined_at is None

    def test_only_a_researcher_accepts(self, collection: Collection, rosa: User, ada: User) -> None:
        offer = invite_researcher(collection=collection, username="ada", by=rosa, at=now())

        with pytest.raises(NoInvitation):
            accept_collection(pk=offer.pk, by=ada, at=now())

    def test_after_thirty_days_it_is_over(self, invitation: CollectionInvitation, ruth: User, rosa: User) -> None:
        later = now() + timedelta(days=31)

        assert not invitation.collection.invitations.pending(at=later).exists()
        with pytest.raises(NoInvitation):
            accept_collection(pk=invitation.pk, by=ruth, at=later)

    def test_a_name_that_was_closed_takes_its_invitations_with_it(
        self, invitation: CollectionInvitation, ruth: User
    ) -> None:
        close_account(user=ruth, at=now())

        assert not CollectionInvitation.objects.to(a_user("ruth", is_researcher=True), at=now()).exists()


class TestWithdrawing:
    def test_the_owner_withdraws(self, invitation: CollectionInvitation, rosa: User, ruth: User) -> None:
        response = signed_in(rosa).post(f"/collections/bridges/invitations/{invitation.pk}/withdraw/", follow=True)

        assertContains(response, "The invitation is withdrawn.")
        assert signed_in(ruth).post(f"/invitations/{invitation.pk}/accept/").status_code == 404

    def test_by_the_api(self, invitation: CollectionInvitation, rosa: User, ruth: User, mallory: User) -> None:
        path = f"/api/v1/collections/bridges/invitations/{invitation.pk}/"

        answers = [by_api(user).delete(path).status_code for user in (mallory, ruth, rosa, rosa)]

        assert answers == [404, 404, 204, 404]

    def test_one_of_another_collection_stays(self, invitation: CollectionInvitation, mallory: User) -> None:
        towers = Collection.objects.create(name="towers", owner=mallory)

        with pytest.raises(NoInvitation):
            withdraw_invitation(collection=towers, pk=invitation.pk)


@pytest.mark.parametrize("username", ["rosa", "ruth"])
def test_who_sees_the_collection_is_not_invited(collection: Collection, rosa: User, ruth: User, username: str) -> None:
    collection.researchers.add(ruth)

    with pytest.raises(InAlready):
        invite_researcher(collection=collection, username=username, by=rosa, at=now())
    assertContains(signed_in(rosa).post("/collections/bridges/", {"username": username}), "already", status_code=422)


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite writes one after the other anyway")
def test_accepted_while_it_is_withdrawn_it_is_one_or_the_other(collection: Collection, rosa: User, ruth: User) -> None:
    for _ in range(10):
        offer = invite_researcher(collection=collection, username="ruth", by=rosa, at=now())
        together = Barrier(2)

        def done(move: str, pk: int = offer.pk, together: Barrier = together) -> bool:
            try:
                together.wait()
                if move == "accept":
                    accept_collection(pk=pk, by=ruth, at=now())
                else:
                    withdraw_invitation(collection=collection, pk=pk)
            except NoInvitation:
                return False
            else:
                return True
            finally:
                connection.close()

        with ThreadPoolExecutor(2) as both:
            accepted, withdrawn = both.map(done, ["accept", "withdraw"])

        assert accepted != withdrawn
        assert collection.researchers.filter(pk=ruth.pk).exists() == accepted
        collection.researchers.clear()
