"""What a person may see of a workshop now: those who take part see no more because they are researchers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from annotate.workshop.deciding import accept, keep
from annotate.workshop.proposing import judge_relevance
from annotate.workshop.workshops import close_workshop
from collection.banks.visibility import Seen, seen_by
from collection.models import Collection, NuggetWorkshop, User
from tests.annotate.factories import NOON
from tests.annotate.workshop.banks import a_workshop, all_hand_in, person, proposes, the_topic
from tests.factories import a_user

pytestmark = pytest.mark.django_db

# Ada proposes; Ben does too, and Dan decides, and both are researchers; Eve is one who takes no part.
NAMES = ("ada", "ben", "dan", "eve", "rosa", "mallory")


@pytest.fixture
def people(collection: Collection, ada: User, rosa: User, mallory: User) -> dict[str, User]:
    ben, dan, eve = (a_user(f"{name}-r", is_researcher=True) for name in ("ben", "dan", "eve"))
    collection.researchers.add(ben, dan, eve)
    return dict(zip(NAMES, (ada, ben, dan, eve, rosa, mallory), strict=True))


@pytest.fixture
def blind(collection: Collection, people: dict[str, User]) -> NuggetWorkshop:
    """Ada has handed in “Hers.”; Ben is at work."""
    workshop = a_workshop(collection, [people["ada"], people["ben"]], people["dan"])
    proposes(workshop, people["ada"], "Hers.")
    proposes(workshop, people["ben"], "His.")
    for name in ("ada", "ben"):
        judge_relevance(
            workshop_topic=the_topic(workshop), person=person(workshop, people[name]),
            passage=collection.passages.all()[0], relevant=True, at=NOON,
        )  # fmt: skip
    all_hand_in(workshop, but=people["ben"])
    return workshop


def handed_in(workshop: NuggetWorkshop) -> None:
    all_hand_in(workshop, but=User.objects.get(username="ada"))


def closed(workshop: NuggetWorkshop) -> None:
    close_workshop(workshop=workshop, at=NOON)


def decided(workshop: NuggetWorkshop) -> None:
    handed_in(workshop)
    decider = workshop.people.get(role="decides")
    for proposal in list(the_topic(workshop).proposals.all()):
        accept(workshop_topic=the_topic(workshop), proposals=[proposal], person=decider, at=NOON)
    keep(workshop_topic=the_topic(workshop), person=decider, at=NOON)


@pytest.mark.parametrize(
    ("move", "sees"),
    [
        (lambda _: None, ("own", "own", "nothing", "all", "all", "nothing")),
        (handed_in, ("own", "own", "all without names", "all", "all", "nothing")),
        (closed, ("own", "all", "all", "all", "all", "nothing")),
        (decided, ("own", "all", "all", "all", "all", "nothing")),
    ],
)
def test_who_takes_part_sees_all_when_the_work_is_over(
    blind: NuggetWorkshop, people: dict[str, User], move: Callable[[NuggetWorkshop], None], sees: tuple[str, ...]
) -> None:
    move(blind)
    blind.refresh_from_db()

    found = {name: seen_by(user, blind)[the_topic(blind).pk] for name, user in people.items()}

    assert found == dict(zip(NAMES, map(Seen, sees), strict=True))
    assert seen_by(None, blind)[the_topic(blind).pk] == Seen.ALL


def asks(user: User, address: str) -> Any:
    client = Client()
    client.force_login(user)
    return client.get(address)


def topic_as_read_by(user: User, workshop: NuggetWorkshop) -> dict[str, Any]:
    (topic,) = asks(user, f"/api/v1/workshops/{workshop.pk}/").json()["topics"]
    return {part: [row["person"] for row in topic[part]] for part in ("handed_in", "relevance", "proposals")}


def test_the_api_gives_the_work_that_its_reader_may_see(blind: NuggetWorkshop, people: dict[str, User]) -> None:
    own = {"handed_in": [], "relevance": ["ben-r"], "proposals": ["ben-r"]}
    nothing: dict[str, list[str]] = {"handed_in": [], "relevance": [], "proposals": []}

    assert topic_as_read_by(people["ben"], blind) == own
    assert topic_as_read_by(people["dan"], blind) == nothing
    assert topic_as_read_by(people["eve"], blind)["proposals"] == ["ada", "ben-r"]


def test_who_decides_learns_not_whose_work_it_is(blind: NuggetWorkshop, people: dict[str, User]) -> None:
    handed_in(blind)

    answer = asks(people["dan"], f"/api/v1/workshops/{blind.pk}/").json()

    (topic,) = answer["topics"]
    written = json.dumps(topic)
    assert "ada" not in written
    assert "ben-r" not in written
    assert NOON.date().isoformat() not in written
    assert {row["person"] for row in topic["proposals"]} == {"person 1", "person 2"}
    for name in ("ben", "dan"):
        assert asks(people[name], f"/workshops/{blind.pk}/relevance/csv/").status_code == 404


def test_sets_of_nuggets_are_offered_to_those_who_may_see_whose_they_are(
    blind: NuggetWorkshop, people: dict[str, User]
) -> None:
    handed_in(blind)
    page = "/collections/bridges/nugget-agreement/"
    hers = f"first=workshop/{blind.pk}:ada&second=spring@1&threshold=0.5"

    def reads(name: str) -> list[bool]:
        answers = [asks(people[name], f"{at}{page}{asked}") for at in ("", "/api/v1") for asked in ("", f"?{hers}")]
        return ["Hers." in answer.content.decode() for answer in answers]

    assert reads("ben") == reads("dan") == [False] * 4
    assert reads("eve") == reads("rosa") == [True] * 4
    closed(blind)
    assert reads("ben") == reads("dan") == [True] * 4
