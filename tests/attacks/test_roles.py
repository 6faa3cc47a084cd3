"""Every address of the site, by every role and method, answers as `roles.csv` says, and that is what it should say.

An address that is not in the table fails. After a change that is meant,
`RECORD=1 ATTACKS=full make test ARGS="tests/attacks -k roles"` writes the table again; the rules below hold for
whatever was recorded, so nobody is let in by recording it.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import pytest
from django.db import transaction
from django.test import Client

from tests.attacks.mutations import FULL
from tests.attacks.world import PARAMETER, WORKING, World, a_world, addresses, path_of

TABLE = Path(__file__).with_name("roles.csv")
ROLES = ["anonymous", "ada", "ben", "rosa", "colleague", "mallory", "demoted", "admin", *WORKING]
METHODS = ["GET", "POST", "PUT", "DELETE"]
OUTSIDERS = ["ben", "mallory", "demoted", "admin"]
# What names something of Rosa's: to outsiders there is nothing.
ROSAS = (
    "/collections/<",
    "/studies/<",
    "/studies/(",
    "/api/v1/collections/<",
    "/api/v1/studies/<",
    "/api/v1/studies/(",
    "/api/v1/uploads/<",
    "/api/v1/grading-jobs/(",
    "/api/v1/errands/<",
    "/judges/trials/<",
)
# What she does not share with a colleague: whom she invited, files on their way in, and her trial runs.
ROSAS_OWN = ("dismiss", "import", "uploads", "errands", "/judges/trials/")
# A workshop's people and its researchers; of the outsiders, Ben and the others take no part in it.
WORKSHOPS = ("/workshops/<", "/api/v1/workshops/<")
ADAS = ("/work/<int:pk>", "/work/comments/<", "/work/notices/<", "/api/v1/assignments/(")
# Researchers share judges and templates; assessors, and whoever is none any more, see none of them.
RESEARCHERS = (
    "/questions/",
    "/api/v1/questions/",
    "/judges/",
    "/trust-in-judges/",
    "/api/v1/judges/",
    "/api/v1/templates/",
    "/api/v1/errands/",
    "/api/v1/trust-in-judges/",
    "/api/v1/pipelines/",
)
# Open to whoever has the link, or to everybody.
OPEN = (
    "/sign-in/",
    "/sign-out/",
    "/health/",
    "/ready/",
    "/robots.txt",
    "/favicon.ico",
    "/p/",
    "/m/",
    "/i/",
    "/back/",
    "/api/",
    "/styleguide/",
    "/notices/unsubscribe/",
    "/password/",
    "/account/address/<",
    "/work/page_worker.js",
)
# What is sent is read before it is looked up whose it is, so nonsense is 400 to everybody, about whatever name.
READ_FIRST = (
    "/api/v1/assignments/(?P<pk>[0-9]+)/choices/",
    "/api/v1/collections/<slug:name>/maskings/",
    "/api/v1/studies/(?P<name>[^/.]+)/enrolments/",
    "/api/v1/studies/(?P<name>[^/.]+)/guidelines/",
    "/api/v1/studies/<slug:name>/crowd/sessions/return/",
    "/api/v1/studies/<slug:name>/crowd/sessions/undo-return/",
    "/api/v1/studies/<slug:name>/filled-qrels/",
    "/api/v1/studies/<slug:name>/qrels/",
    "/work/<int:pk>/choice/",
    "/work/<int:pk>/comment/",
)
HIDDEN = {"404", "405", "403"}  # 403: only where the kind of page alone is told, as the API says “Only researchers …”


class Undone(Exception):
    """Takes back what a request changed."""


def answer(client: Client, method: str, path: str, hidden: Iterable[bytes] = ()) -> str:
    """Return the status of a request whose changes are taken back, cookies too, and which of the marks came with it."""
    said, cookies = "", client.cookies.output(header="", sep=";")
    try:
        with transaction.atomic():
            response = client.generic(method, path)
            content = response.getvalue()
            said = " ".join([str(response.status_code), *(mark.decode() for mark in hidden if mark in content)])
            raise Undone
    except Undone:
        client.cookies.clear()
        client.cookies.load(cookies)
        return said


def clients(world: World) -> dict[str, Client]:
    found = {}
    for role, user in world.people.items():
        found[role] = Client(raise_request_exception=False)
        if user:
            found[role].force_login(user)
    return found


def rows(
    world: World,
    wanted: Callable[[str], bool] = lambda _: True,
    *,
    roles: Sequence[str] = ROLES,
    methods: Sequence[str] = METHODS,
) -> Iterator[dict[str, str]]:
    by = clients(world)
    for address in addresses():
        if wanted(address):
            path = path_of(address, world)
            for method in methods:
                answers = {role: answer(by[role], method, path, world.hidden_from(role)) for role in roles}
                yield {"address": address, "method": method, **answers}


def recorded() -> dict[tuple[str, str], dict[str, str]]:
    with TABLE.open(newline="") as file:
        return {(row["address"], row["method"]): row for row in csv.DictReader(file)}


# --- The table says what it should -----------------------------------------------------------------


@pytest.mark.skipif("RECORD" in os.environ, reason="the table is being written")
def test_every_address_is_in_the_table_and_no_other() -> None:
    assert {address for address, _ in recorded()} == set(addresses())


def breaches(row: dict[str, str]) -> Iterator[str]:
    """Yield what a row of the table lets somebody see or do who has no business there."""
    address, method = row["address"], row["method"]
    hidden = HIDDEN | ({"400"} if address in READ_FIRST else set())
    where = f"{method} {address}"
    for role in ROLES:
        if row[role].startswith("5"):
            yield f"{where}: a fault of the server for {role}"
        if not row[role].isdigit():
            yield f"{where}: {role} reads what is not theirs: {row[role]}"
    if not address.startswith(OPEN) and row["anonymous"] not in {"302", "401", "405"}:
        yield f"{where}: {row['anonymous']} for a stranger"
    if address.startswith("/api/v1/") and row["anonymous"] not in {"401"}:
        yield f"{where}: {row['anonymous']} for a stranger"
    if address.startswith(ROSAS):
        for role in (*OUTSIDERS, "ada"):
            if row[role] not in hidden:
                yield f"{where}: {row[role]} for {role}"
        for role in ("colleague", *WORKING):
            closed = role == "assesses" and row[role] == "403"  # what others said in a study in which they assess
            if row[role] != row["rosa"] and not closed and not any(own in address for own in ROSAS_OWN):
                yield f"{where}: {row['rosa']} for Rosa, {row[role]} for {role}"
    if address.startswith(WORKSHOPS):
        for role in OUTSIDERS:
            if row[role] not in hidden:
                yield f"{where}: {row[role]} for {role}"
    if address.startswith(ADAS):
        for role in (*OUTSIDERS, "rosa", "colleague"):
            if row[role] not in hidden:
                yield f"{where}: {row[role]} for {role}"
    if address.startswith(RESEARCHERS):
        for role in ("ada", "ben", "demoted", "admin"):
            if row[role] not in hidden:
                yield f"{where}: {row[role]} for {role}"


@pytest.mark.skipif("RECORD" in os.environ, reason="the table is being written")
def test_the_table_lets_nobody_in_who_has_no_business_there() -> None:
    assert [breach for row in recorded().values() for breach in breaches(row)] == []


# --- The site does what the table says -------------------------------------------------------------


def differences(found: Iterator[dict[str, str]]) -> list[str]:
    table = recorded()
    return [
        f"{row['method']} {row['address']} for {role}: {row[role]}, not {table[row['address'], row['method']][role]}"
        for row in found
        for role in row.keys() & {*ROLES}
        if row[role] != table.get((row["address"], row["method"]), {}).get(role)
    ]


@pytest.mark.skipif(not FULL, reason="8,000 requests: make nightly")
@pytest.mark.slow
@pytest.mark.django_db
def test_every_address_answers_every_role_and_method_as_the_table_says() -> None:
    found = rows(a_world())

    if "RECORD" in os.environ:
        with TABLE.open("w", newline="") as file:
            table = csv.DictWriter(file, ["address", "method", *ROLES], lineterminator="\n")
            table.writeheader()
            table.writerows(sorted(found, key=lambda row: (row["address"], METHODS.index(row["method"]))))
        return
    assert differences(found) == []


@pytest.mark.django_db
@pytest.mark.slow
def test_a_sample_of_the_addresses_answers_as_the_table_says() -> None:
    everything = sorted(addresses())
    sample = {address for number, address in enumerate(everything) if number % 12 == 0}

    assert differences(rows(a_world(), lambda address: address in sample)) == []


@pytest.mark.django_db
@pytest.mark.slow
def test_researchers_who_work_in_what_is_theirs_read_nowhere_what_they_must_not() -> None:
    found = differences(rows(a_world(), roles=WORKING, methods=["GET"]))

    assert not found, "\n".join(found)


@pytest.mark.django_db
@pytest.mark.parametrize("address", READ_FIRST)
def test_what_is_read_first_says_the_same_of_what_there_is_not(address: str) -> None:
    world = a_world()
    mallory = clients(world)["mallory"]
    nowhere = PARAMETER.sub(lambda found: "999999" if "pk" in found.groups() else "nowhere", address)

    for method in METHODS:
        assert answer(mallory, method, nowhere) == answer(mallory, method, path_of(address, world))
