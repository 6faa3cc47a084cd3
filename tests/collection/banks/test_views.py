"""Pages, API and command of nugget banks."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from collection.banks.versions import NewEntry, changes_between, dropped_elements, make_version
from collection.models import BankVersion, Collection, NuggetAnswer, NuggetBank, NuggetReference, RubricElement, User
from tests.collection.files import refused, run_command
from tests.evaluation.judged import AT

pytestmark = pytest.mark.django_db
PAGE = "/collections/bridges/banks/spring/"


@pytest.fixture
def bank(collection: Collection, rosa: User) -> NuggetBank:
    """Version 1 has a, b with its part c, and d; version 2 has a reweighed, b2 instead of b, no d, and e."""
    topic = collection.topics.order_by("pk")[0]

    def element(name: str, **fields: Any) -> RubricElement:
        return RubricElement.objects.create(
            topic=topic, kind="nugget", element_id=name, position=0, text=f"Nugget {name} <b>.", **fields
        )

    a, b, c, d, e = map(element, "abcde")
    b2 = element("b2", replaces=b, aggregator="and")
    answer = NuggetAnswer.objects.create(element=a, position=0, text="By hand.", right=False)
    NuggetReference.objects.create(element=a, answer=answer, position=0, docno="p77", quote="hands")
    bank = NuggetBank.objects.create(collection=collection, name="spring")
    first = [NewEntry(a.pk, "vital", 1), NewEntry(b.pk), NewEntry(c.pk, parent=1), NewEntry(d.pk)]
    second = [NewEntry(a.pk, "okay", -2.5), NewEntry(b2.pk), NewEntry(c.pk), NewEntry(e.pk)]
    make_version(bank=bank, topics={topic.pk: first}, by=rosa, at=AT, note="from spring")
    make_version(bank=bank, topics={topic.pk: second}, by=None, at=AT)
    return bank


def test_what_changed_between_two_versions(bank: NuggetBank) -> None:
    after, before = bank.versions.all()

    found = {}
    for one in changes_between(before, after):
        entry = one.after or one.before
        assert entry
        found[one.what, entry.element.element_id] = one.details

    assert found == {
        ("reweighed", "a"): ["vital → okay", "weight 1 → -2.5"],
        ("reworded", "b2"): ["no aggregator → and"],
        ("reweighed", "c"): ["no longer a part"],
        ("added", "e"): [],
        ("dropped", "d"): [],
    }
    assert set(dropped_elements(bank.collection).values_list("element_id", flat=True)) == {"b", "d"}


def test_the_same_again_makes_no_version(bank: NuggetBank) -> None:
    topic = bank.collection.topics.order_by("pk")[0]
    newest = bank.versions.all()[0]
    same = [NewEntry(one.element_id, one.importance, one.weight) for one in newest.entries.order_by("position")]

    assert make_version(bank=bank, topics={topic.pk: same}, by=None, at=AT) is None
    assert BankVersion.objects.count() == 2


def test_pages_show_nuggets_changes_and_versions(client: Client, bank: NuggetBank, rosa: User) -> None:
    client.force_login(rosa)

    listed = client.get("/collections/bridges/banks/").content.decode()
    page = client.get(PAGE).content.decode()
    older = client.get(f"{PAGE}?version=1").content.decode()

    assert PAGE in listed
    for said in ("Version 2", "Nugget a &lt;b&gt;.", "-2.5", "By hand.", "p77", "wrong", "Changes since version 1",
                 "vital → okay", "Nugget d", "from spring", "form=v3"):  # fmt: skip
        assert said in page, said
    assert "Changes since version" not in older.split("<h2", 1)[1]
    assert "part</span>" in older


def test_what_is_not_there_is_not_found(client: Client, bank: NuggetBank, rosa: User) -> None:
    queries = ["version=9", "version=x", "before=7", "topic=none"]
    client.force_login(rosa)

    assert {query: client.get(f"{PAGE}?{query}").status_code for query in queries} == dict.fromkeys(queries, 404)


def test_strangers_find_nothing(client: Client, bank: NuggetBank, mallory: User) -> None:
    client.force_login(mallory)
    api = "/api/v1/collections/bridges/banks/"

    for address in (PAGE, "/collections/bridges/banks/", api, f"{api}spring/", f"{api}spring/changes/1/2/"):
        assert client.get(address).status_code == 404, address


def test_a_page_takes_a_fixed_number_of_queries(
    client: Client, bank: NuggetBank, rosa: User, django_assert_max_num_queries: Any
) -> None:
    client.force_login(rosa)

    with django_assert_max_num_queries(20):
        client.get(PAGE)


def test_the_api_and_the_command_tell_the_same(
    client: Client, bank: NuggetBank, rosa: User, capsys: pytest.CaptureFixture[str]
) -> None:
    client.force_login(rosa)
    api = "/api/v1/collections/bridges/banks/"

    banks, versions, changes = (client.get(f"{api}{rest}").json() for rest in ("", "spring/", "spring/changes/1/2/"))
    told = run_command(
        capsys, "bank_changes", "--collection", "bridges", "--bank", "spring", "--before", 1, "--after", 2
    )

    assert [(one["name"], one["newest"]) for one in banks] == [("spring", 2)]
    assert [(one["number"], one["nuggets"], one["topics"]) for one in versions] == [(2, 4, 1), (1, 4, 1)]
    assert [one["change"] for one in changes] == [line.split("\t")[1] for line in told.splitlines()]
    assert client.get(f"{api}spring/changes/1/9/").status_code == 404
    assert "version 9" in refused(
        "bank_changes", "--collection", "bridges", "--bank", "spring", "--before", "1", "--after", "9"
    )


def test_a_collection_without_a_bank_says_so(client: Client, collection: Collection, rosa: User) -> None:
    client.force_login(rosa)

    assert "No nugget banks yet" in client.get("/collections/bridges/banks/").content.decode()
