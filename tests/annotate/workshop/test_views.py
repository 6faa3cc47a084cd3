"""The pages of a workshop: who sees what, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client

from annotate.workshop.deciding import accept, keep, refuse
from collection.models import (
    BankVersion,
    Collection,
    NuggetProposal,
    NuggetWorkshop,
    Passage,
    RankedPassage,
    User,
    WorkshopRelevance,
)
from tests.annotate.factories import NOON
from tests.annotate.workshop.banks import a_bank, all_hand_in, element, person, proposes, the_topic
from tests.factories import a_study

pytestmark = pytest.mark.django_db


def at(workshop: NuggetWorkshop, part: str = "") -> str:
    return f"/workshops/{workshop.pk}/topics/{the_topic(workshop).topic_id}/{part}"


def by(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def ranked(collection: Collection) -> list[str]:
    """The first topic's two passages, ranked."""
    run, topic = collection.runs.all()[0], collection.topics.order_by("pk")[0]
    passages = collection.passages.filter(passage_id__startswith="t0").order_by("passage_id")
    for rank, passage in enumerate(passages, start=1):
        RankedPassage.objects.create(run=run, topic=topic, passage_id=passage.passage_id, rank=rank, score=1 / rank)
    return [f"p-{passage.pk}" for passage in passages]


def sent(**fields: Any) -> dict[str, Any]:
    return {"kind": "new", "text": "It had a chapel.", "importance": "vital", "weight": "2", **fields}


def test_a_highlight_becomes_a_proposal(workshop: NuggetWorkshop, ada: User, ranked: list[str]) -> None:
    response = by(ada).post(at(workshop), sent(source=ranked[0], start=0, end=7, quote="Passage"))

    assert response.status_code == 302
    proposal = NuggetProposal.objects.get()
    assert (proposal.quote, proposal.person.user) == ("Passage", ada)
    (nugget,) = proposal.nuggets.all()
    assert (nugget.text, nugget.importance, nugget.weight) == ("It had a chapel.", "vital", 2)
    assert "It had a chapel." in by(ada).get(at(workshop)).content.decode()


@pytest.mark.parametrize(
    "fields",
    [
        {"text": ""},
        {"text": "It was built of oak."},
        {"kind": "other"},
        {"weight": "nan"},
        {"weight": "1e300"},
        {"importance": "great"},
        {"elements": "999999"},
        {"source": "x-1", "start": 0, "end": 3, "quote": "Pas"},
        {"source": "p-999999", "start": 0, "end": 3, "quote": "Pas"},
        {"start": 3, "end": 3},
        {"kind": "split"},
        {"kind": "drop"},
    ],
)
def test_what_does_not_fit_is_answered_with_the_page(workshop: NuggetWorkshop, ada: User, fields: Any) -> None:
    response = by(ada).post(at(workshop), sent(**fields))

    assert response.status_code == 422
    assert 'role="alert"' in response.content.decode()
    assert not NuggetProposal.objects.exists()


@pytest.mark.parametrize("quote", ["", "Abschnitt", "Passage "])
def test_words_that_are_not_the_stored_ones_are_refused(
    workshop: NuggetWorkshop, ada: User, ranked: list[str], quote: str
) -> None:
    """A browser had translated the page, say: its places are not those of the stored text."""
    marked = {"source": ranked[0], "start": 0, "end": 7, "quote": quote}

    proposed = by(ada).post(at(workshop), sent(**marked))

    assert proposed.status_code == 422
    assert not NuggetProposal.objects.exists()


def test_a_highlight_keeps_the_line_ends_of_its_text(workshop: NuggetWorkshop, ada: User, ranked: list[str]) -> None:
    Passage.objects.filter(pk=ranked[0][2:]).update(text="Built\nof oak,\rthen\r\nof stone.")

    by(ada).post(at(workshop), sent(source=ranked[0], start=0, end=18, quote="Built\r\nof oak,\r\nthen"))

    assert NuggetProposal.objects.get().quote == "Built\nof oak,\rthen"


def test_nuggets_are_split_merged_and_removed(workshop: NuggetWorkshop, ada: User) -> None:
    first, second, third = (element(workshop, place).pk for place in range(3))
    by(ada).post(at(workshop), sent(kind="split", elements=first, text="Of oak.\n\n Oak is wood. "))
    by(ada).post(at(workshop), sent(kind="merge", elements=[second, third], text="Dear and gone.", aggregator="and"))

    said = [
        (one.kind, one.aggregator, [nugget.text for nugget in one.nuggets.all()])
        for one in NuggetProposal.objects.order_by("pk")
    ]

    assert said == [("split", "", ["Of oak.", "Oak is wood."]), ("merge", "and", ["Dear and gone."])]


def test_nobody_sees_the_other_s_proposals(workshop: NuggetWorkshop, ada: User, ben: User, dan: User) -> None:
    found = proposes(workshop, ada, "It had a chapel.")

    for page in (at(workshop), f"/workshops/{workshop.pk}/"):
        assert "chapel" not in by(ben).get(page).content.decode()
    assert by(ben).get(at(workshop, "decision/")).status_code == 404
    assert by(ben).post(at(workshop, "withdrawn/"), {"proposal": found.pk}).status_code == 404
    # Whoever decides sees nothing either, as long as somebody is at work.
    assert "chapel" not in by(dan).get(at(workshop, "decision/")).content.decode()
    all_hand_in(workshop)
    assert "chapel" not in by(ben).get(at(workshop)).content.decode()
    assert "chapel" in by(dan).get(at(workshop, "decision/")).content.decode()


def test_the_third_person_is_not_told_who_proposes_what(
    workshop: NuggetWorkshop, ada: User, dan: User, rosa: User
) -> None:
    proposes(workshop, ada, "It had a chapel.")
    all_hand_in(workshop)

    assert ">ada<" not in by(dan).get(at(workshop, "decision/")).content.decode().replace("\n", "").replace(" ", "")
    assert ">ada<" in by(rosa).get(at(workshop, "decision/")).content.decode().replace("\n", "").replace(" ", "")


def test_the_researcher_reads_and_does_not_decide(workshop: NuggetWorkshop, ada: User, rosa: User) -> None:
    found = proposes(workshop, ada, "It had a chapel.")
    all_hand_in(workshop)

    for part, fields in (("decision/", {"proposal": found.pk, "do": "accept"}), ("keep/", {})):
        assert by(rosa).post(at(workshop, part), fields).status_code == 404
    assert NuggetProposal.objects.get().state == "proposed"


@pytest.mark.parametrize(
    ("part", "method"),
    [
        ("", "get"),
        ("", "post"),
        ("relevance/", "post"),
        ("withdrawn/", "post"),
        ("hand-in/", "post"),
        ("decision/", "get"),
        ("decision/", "post"),
        ("keep/", "post"),
        ("align/", "post"),
    ],
)
def test_strangers_find_nothing(workshop: NuggetWorkshop, mallory: User, part: str, method: str) -> None:
    assert getattr(by(mallory), method)(at(workshop, part)).status_code == 404


def test_the_third_person_accepts_two_as_one_and_keeps_it(
    workshop: NuggetWorkshop, ada: User, ben: User, dan: User
) -> None:
    both = [proposes(workshop, ada, "It had a chapel."), proposes(workshop, ben, "A chapel stood on it.")]
    all_hand_in(workshop)
    client = by(dan)

    said = {"proposal": [one.pk for one in both], "do": "accept", "text": "A chapel stood there.", "importance": "okay"}
    assert client.post(at(workshop, "decision/"), said).status_code == 302
    assert client.post(at(workshop, "keep/")).status_code == 302

    (entry,) = BankVersion.objects.get(number=2).entries.filter(position=3)
    assert (entry.element.text, entry.importance) == ("A chapel stood there.", "okay")
    assert "Decided: version 2" in client.get(at(workshop, "decision/")).content.decode()


@pytest.mark.parametrize("fields", [{}, {"do": "accept"}, {"do": "accept", "proposal": "x"}, {"weight": "nan"}])
def test_nothing_is_decided_by_a_bad_form(workshop: NuggetWorkshop, ada: User, dan: User, fields: Any) -> None:
    proposes(workshop, ada, "It had a chapel.")
    all_hand_in(workshop)

    assert by(dan).post(at(workshop, "decision/"), fields).status_code == 422
    assert NuggetProposal.objects.get().state == "proposed"


def test_relevance_goes_on_to_what_is_not_judged(workshop: NuggetWorkshop, ada: User, ranked: list[str]) -> None:
    response = by(ada).post(at(workshop, "relevance/"), {"source": ranked[0], "relevant": "no"})

    assert response["Location"].endswith(f"?text={ranked[1]}")
    assert [one.relevant for one in WorkshopRelevance.objects.all()] == [False]
    assert by(ada).post(at(workshop, "relevance/"), {"source": ranked[0]}).status_code == 404
    assert by(ada).post(at(workshop, "relevance/"), {"source": "r-1", "relevant": "yes"}).status_code == 404


def test_a_researcher_opens_a_workshop(collection: Collection, ada: User, ben: User, dan: User, rosa: User) -> None:
    bank = a_bank(collection.topics.order_by("pk")[0])
    User.objects.filter(pk__in=[ada.pk, ben.pk, dan.pk]).update(made_for=collection)
    page = f"/collections/bridges/banks/{bank.name}/workshops/"

    refused = by(rosa).post(page, {"proposers": ["ada", "ben"], "decider": "ada"})
    response = by(rosa).post(page, {"proposers": ["ada", "ben"], "decider": "dan", "topics": ["t0"]})

    assert refused.status_code == 422
    made = NuggetWorkshop.objects.get()
    assert response["Location"] == f"/workshops/{made.pk}/"
    assert [str(one.topic) for one in made.topics.all()] == ["Topic 0"]
    assert "Nugget workshop" in by(ada).get("/work/").content.decode()


def test_only_the_researcher_closes_it(workshop: NuggetWorkshop, ada: User, rosa: User) -> None:
    assert by(ada).post(f"/workshops/{workshop.pk}/close/").status_code == 404
    assert by(rosa).post(f"/workshops/{workshop.pk}/close/").status_code == 302
    assert NuggetWorkshop.objects.get().closed_at
    assert "Nugget workshop" not in by(ada).get("/work/").content.decode()


def test_a_page_takes_as_many_queries_however_much_is_proposed(
    workshop: NuggetWorkshop, ada: User, dan: User, django_assert_max_num_queries: Any
) -> None:
    for number in range(12):
        proposes(workshop, ada, f"It had {number} chapels.")
    client = by(ada)

    with django_assert_max_num_queries(26):
        client.get(at(workshop))
    all_hand_in(workshop)
    client = by(dan)
    with django_assert_max_num_queries(22):
        client.get(at(workshop, "decision/"))


def test_a_decided_topic_stays_readable(workshop: NuggetWorkshop, ada: User, ben: User, dan: User) -> None:
    both = [proposes(workshop, ada, "It had a chapel."), proposes(workshop, ben, "It was wide.")]
    all_hand_in(workshop)
    accept(workshop_topic=the_topic(workshop), proposals=both[:1], person=person(workshop, dan), at=NOON)
    refuse(proposal=both[1], person=person(workshop, dan), at=NOON)
    keep(workshop_topic=the_topic(workshop), person=person(workshop, dan), at=NOON)

    assert by(ada).get(at(workshop)).status_code == 200
    assert by(ada).post(at(workshop), sent(text="Another.")).status_code == 422
    assert by(dan).get(at(workshop, "decision/")).status_code == 200


def test_the_api_tells_a_researcher_what_was_proposed_and_decided(
    workshop: NuggetWorkshop, ada: User, dan: User, rosa: User, mallory: User
) -> None:
    found = proposes(workshop, ada, "It had a chapel.", "vital")
    all_hand_in(workshop)
    accept(workshop_topic=the_topic(workshop), proposals=[found], person=person(workshop, dan), at=NOON)
    keep(workshop_topic=the_topic(workshop), person=person(workshop, dan), at=NOON)
    address = f"/api/v1/workshops/{workshop.pk}/"

    (listed,) = by(rosa).get("/api/v1/collections/bridges/banks/spring/workshops/").json()
    whole = by(rosa).get(address).json()

    assert [one["role"] for one in listed["people"]] == ["proposes", "proposes", "decides"]
    (topic,) = whole["topics"]
    assert (topic["version"], [one["person"] for one in topic["handed_in"]]) == (2, ["ada", "ben"])
    (proposal,) = topic["proposals"]
    assert (proposal["person"], proposal["state"], proposal["decided_by"]) == ("ada", "accepted", "dan")
    assert proposal["nuggets"] == [{"text": "It had a chapel.", "importance": "vital", "weight": None}]
    for user in (ada, dan, mallory):
        assert by(user).get(address).status_code == 404


@pytest.fixture
def rosas_people(collection: Collection, ada: User, ben: User, dan: User) -> None:
    User.objects.filter(pk__in=[ada.pk, ben.pk, dan.pk]).update(made_for=collection)


@pytest.mark.usefixtures("rosas_people")
def test_the_api_and_the_command_open_and_close_what_the_page_does(
    collection: Collection, rosa: User, mallory: User, capsys: pytest.CaptureFixture[str]
) -> None:
    bank = a_bank(collection.topics.order_by("pk")[0])
    address = f"/api/v1/collections/bridges/banks/{bank.name}/workshops/"
    asked = {"proposers": ["ada", "ben"], "decider": "dan"}
    make = ["make", "--collection", "bridges", "--bank", "spring", "--by", "rosa", "--decider", "dan", "--topics", "t0"]

    refused = [
        by(rosa).post(address, asked | said, content_type="application/json").status_code
        for said in ({"decider": "ada"}, {"proposers": ["ada"]}, {"judge": "none"}, {"proposers": ["ada", "mallory"]})
    ]
    strange = by(mallory).post(address, asked, content_type="application/json").status_code
    made = by(rosa).post(address, asked | {"topics": ["t0"]}, content_type="application/json")
    call_command("nugget_workshop", *make, "--proposers", "ada", "ben")
    with pytest.raises(CommandError, match="decides cannot be one"):
        call_command("nugget_workshop", *make, "--proposers", "ada", "dan")
    second, first = NuggetWorkshop.objects.all()
    call_command("nugget_workshop", "state", str(second.pk))
    call_command("nugget_workshop", "close", str(second.pk))
    closes = f"/api/v1/workshops/{first.pk}/close/"

    assert (refused, strange, made.status_code) == ([400] * 4, 404, 201)
    assert made.json()["id"] == first.pk
    assert "t0\t0 proposals\twaits for 2\n" in capsys.readouterr().out
    assert [by(user).post(closes).status_code for user in (mallory, rosa)] == [404, 200]
    assert not NuggetWorkshop.objects.open().exists()


def test_relevance_goes_out_as_most_say_and_person_by_person(
    workshop: NuggetWorkshop, ada: User, ben: User, rosa: User, mallory: User, ranked: list[str]
) -> None:
    for user, said in ((ada, ("yes", "yes")), (ben, ("yes", "no"))):
        for key, relevant in zip(ranked, said, strict=True):
            by(user).post(at(workshop, "relevance/"), {"source": key, "relevant": relevant})

    qrels, table = (by(rosa).get(f"/workshops/{workshop.pk}/relevance/{form}/") for form in ("qrels", "csv"))

    assert qrels.content.decode() == "t0 0 t0-p0 1\nt0 0 t0-p1 0\n"
    lines = table.content.decode().splitlines()
    assert [line.rsplit(",", 1)[0] for line in lines] == [
        "topic_id,docno,rater,grade",
        "t0,t0-p0,assessor 1,1",
        "t0,t0-p0,assessor 2,1",
        "t0,t0-p1,assessor 1,1",
        "t0,t0-p1,assessor 2,0",
    ]
    assert "4 judgments" in by(rosa).get(f"/workshops/{workshop.pk}/").content.decode()
    assert [by(user).get(f"/workshops/{workshop.pk}/relevance/qrels/").status_code for user in (ada, mallory)] == [
        404
    ] * 2


def test_a_study_leads_to_the_workshops_of_its_banks(collection: Collection, rosa: User) -> None:
    a_study(collection, name="led")
    page = "/collections/bridges/banks/spring/workshops/"

    before = by(rosa).get("/studies/led/").content.decode()
    a_bank(collection.topics.order_by("pk")[0])

    assert (page in before, page in by(rosa).get("/studies/led/").content.decode()) == (False, True)
