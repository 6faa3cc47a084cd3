"""Agreement on nuggets: sets of a collection's banks, by page, API and command."""

from __future__ import annotations

import json
from collections.abc import Sequence
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotate.frames.frame import Frame
from annotate.studies.lifecycle import open_study
from annotate.workshop.workshops import close_workshop
from collection.banks.versions import NewEntry, make_version
from collection.models import Collection, Judgment, NuggetBank, NuggetReference, RubricElement, Topic, User
from evaluation.agreement.nuggets.listing import NOTHING, NotListed, list_as_reports
from evaluation.agreement.nuggets.report import compare_sets
from evaluation.agreement.nuggets.sets import KEY_POINTS, NoSuchSet, creator_names, read_set, set_choices
from evaluation.leaderboards.leaderboard import measure_leaderboard
from evaluation.leaderboards.sources import Scorer
from stats.ranking.measure_names import parse_measure
from tests.annotate.studies.test_lifecycle import a_study_of
from tests.annotate.workshop.banks import a_workshop, all_hand_in, proposes
from tests.evaluation.judged import AT
from tests.factories import a_user, rater_of

BY_ADA = ["The bridge was of oak.", "It cost 900 florins.", "A flood took it in 1604."]
BY_LLAMA = ["The old bridge was of oak.", "It cost 900 florins.", "The toll was low."]


def keep(collection: Collection, bank: str, nuggets: Sequence[tuple[str, str, object]]) -> None:
    """Make a bank's next version of these texts, importances and creators, for the first topic."""
    topic = collection.topics.order_by("topic_id")[0]
    of, _ = NuggetBank.objects.get_or_create(collection=collection, name=bank)
    start = RubricElement.objects.filter(topic=topic, kind="nugget").count()
    entries = []
    for place, (text, importance, creator) in enumerate(nuggets, start=start):
        element = RubricElement.objects.create(
            topic=topic, kind="nugget", element_id=f"n{place}", position=place, text=text, importance=importance
        )
        entries.append(NewEntry(element.pk, importance, attributes={"creator": creator} if creator else {}))
    make_version(bank=of, topics={topic.pk: entries}, by=None, at=AT)


@pytest.fixture
def banks(collection: Collection) -> Collection:
    keep(collection, "campaign", [(text, "vital", None) for text in BY_ADA])
    keep(collection, "made", [(text, "okay" if "oak" in text else "vital", None) for text in BY_LLAMA])
    return collection


def test_two_people_of_a_workshop_are_compared_once_they_handed_in(collection: Collection) -> None:
    ada, ben, dan = (a_user(name) for name in ("ada-w", "ben-w", "dan-w"))
    workshop = a_workshop(collection, [ada, ben], dan)
    proposes(workshop, ada, BY_ADA[0], "vital")
    proposes(workshop, ada, "Nobody paid for it.")
    proposes(workshop, ben, BY_LLAMA[0], "vital")
    all_hand_in(workshop, but=ben)

    assert [name for name, _ in set_choices(collection, None)][1:] == [f"workshop/{workshop.pk}:ada-w", *KEY_POINTS]
    with pytest.raises(NoSuchSet, match="nobody of this name handed in"):
        read_set(collection, f"workshop/{workshop.pk}:ben-w", None)
    other = Collection.objects.create(name="other", owner=ada)
    all_hand_in(workshop, but=ada)
    with pytest.raises(NoSuchSet):
        read_set(other, f"workshop/{workshop.pk}:ada-w", None)

    found = compare_sets(collection, user=None, threshold=0.5)

    assert (found.first.name, found.second.name) == (f"workshop/{workshop.pk}:ada-w", f"workshop/{workshop.pk}:ben-w")
    assert found.found.n_pairs == 1
    assert found.found.sizes == (2, 1)
    assert found.found.f1.value == pytest.approx(2 / 3)
    assert "proposed by ada-w" in found.answer


def test_points_that_a_person_writes_are_looked_for_among_the_extracted_key_points(collection: Collection) -> None:
    RubricElement.objects.filter(topic__collection=collection, kind="key_point").delete()
    ada, ben, dan = (a_user(name) for name in ("ada-w", "ben-w", "dan-w"))
    workshop = a_workshop(collection, [ada, ben], dan)
    flood = "The flood of 1604 took it away."
    for text in (*BY_ADA[:2], flood):
        proposes(workshop, ada, text)
    all_hand_in(workshop, but=ben)
    own = f"workshop/{workshop.pk}:ada-w"
    topic = workshop.topics.get().topic
    assert own in dict(set_choices(collection, None))
    assert "key-points/all" not in dict(set_choices(collection, None))
    with pytest.raises(NoSuchSet, match="has no key points that are asked about"):
        read_set(collection, "key-points/asked", None)
    for place, (text, masked) in enumerate([(BY_LLAMA[0], False), (BY_LLAMA[1], True), (flood, False)]):
        RubricElement.objects.create(
            topic=topic, kind="key_point", element_id=f"k{place}", position=90 + place, text=text, masked=masked,
            attributes={"run": "alpha-1"} if place == 2 else {"score": 0.5},
        )  # fmt: skip

    found = compare_sets(collection, user=None, first=own, second="key-points/all", by="rouge-l", threshold=0.5)
    asked = compare_sets(collection, user=None, first=own, second="key-points/asked", by="rouge-l", threshold=0.5)

    # Her third point stands only among those that an answer makes: these were not extracted from documents.
    assert found.found.recall.value == pytest.approx(2 / 3)
    assert found.found.recall.over == "1 topic"
    assert [one.text for one in found.by_topic[0].first_alone] == [flood]
    assert asked.found.recall.value == pytest.approx(1 / 3)
    assert [name for name, _ in set_choices(collection, None)][-2:] == ["key-points/all", "key-points/asked"]


def test_two_banks_are_matched_by_words(banks: Collection) -> None:
    found = compare_sets(banks, user=None, first="campaign", second="made", threshold=0.5)

    [topic] = found.found.topics
    assert [(pair.first.text, pair.second.text) for pair in topic.pairs] == [
        ("It cost 900 florins.", "It cost 900 florins."),
        ("The bridge was of oak.", "The old bridge was of oak."),
    ]
    assert [one.text for one in topic.first_alone] == ["A flood took it in 1604."]
    assert [one.text for one in topic.second_alone] == ["The toll was low."]
    assert found.found.f1.value == pytest.approx(4 / 6)
    assert found.found.n_importance == 2
    assert found.found.importance["percent_agreement"].value == 0.5
    assert found.answer.startswith(
        "2 matched pairs of 3 nuggets (campaign, version 1) and 3 (made, version 1) (F1 0.67; no interval: 1 topic is"
    )


def test_two_creators_of_a_bank_are_two_sets(collection: Collection) -> None:
    ada = {"is_human": True, "assessor_id": "a-1"}
    both = [{"llm_model": "llama"}, ada]
    keep(
        collection,
        "joint",
        [("It was of oak.", "", ada), ("It cost 900 florins.", "", both), ("The toll was low.", "", both[:1])],
    )

    assert set_choices(collection, None) == [
        ("joint@1", "joint, version 1"),
        ("joint:a-1", "joint, made by a-1"),
        ("joint:llama", "joint, made by llama"),
        *KEY_POINTS.items(),
    ]
    found = compare_sets(collection, user=None, threshold=0.5)
    assert (found.first.name, found.second.name) == ("joint:a-1", "joint:llama")
    assert found.found.n_pairs == 1
    assert found.found.sizes == (2, 2)


def test_who_made_a_nugget_may_stand_at_its_references(collection: Collection) -> None:
    keep(collection, "joint", [("It was of oak.", "", None), ("The toll was low.", "", None)])
    for element, who in zip(RubricElement.objects.filter(kind="nugget").order_by("position"), "ab", strict=True):
        NuggetReference.objects.create(element=element, position=0, docno="d", start=2, end=9, creator={"name": who})

    found = read_set(collection, "joint:b", None)

    [[nugget]] = found.nuggets.values()
    assert nugget.text == "The toll was low."
    assert (nugget.spans[0].document, nugget.spans[0].start, nugget.spans[0].end) == ("d", 2, 9)


@pytest.mark.parametrize(
    ("creator", "names"),
    [
        ("ada", ["ada"]),
        ({"is_human": True}, ["a person"]),
        ({"is_human": False, "llm_model": "llama"}, ["llama"]),
        ({"prompt": "x"}, ['{"prompt": "x"}']),
        ([{"assessor_id": 7}, "", None, 3], ["7"]),
    ],
)
def test_creators_are_named_as_files_name_them(creator: object, names: list[str]) -> None:
    assert list(creator_names(creator)) == names


def test_two_versions_of_a_bank_are_two_sets(collection: Collection) -> None:
    keep(collection, "campaign", [("It was of oak.", "", None)])
    keep(collection, "campaign", [("It was of oak.", "", None), ("The toll was low.", "", None)])

    found = compare_sets(collection, user=None, threshold=0.5)

    assert (found.first.name, found.second.name) == ("campaign@2", "campaign@1")
    assert found.found.f1.value == pytest.approx(2 / 3)


def test_masked_nuggets_and_what_has_parts_are_not_compared(banks: Collection) -> None:
    RubricElement.objects.filter(text="The toll was low.").update(masked=True)

    assert compare_sets(banks, user=None, first="campaign", second="made", threshold=0.5).found.sizes == (3, 2)


@pytest.mark.parametrize("name", ["nobody", "campaign@7", "campaign:nobody", "", "@", "campaign@x"])
def test_a_set_that_is_not_there_is_refused(banks: Collection, name: str) -> None:
    with pytest.raises(NoSuchSet):
        read_set(banks, name, None)


# --- Page, API, command ----------------------------------------------------------------------------


def address(collection: Collection) -> str:
    return f"/collections/{collection.name}/nugget-agreement/"


def test_the_page_shows_pairs_side_by_side(rosa: User, client: Client, banks: Collection) -> None:
    client.force_login(rosa)

    response = client.get(address(banks), {"first": "campaign@1", "second": "made@1"})
    page = response.content.decode()

    assert response.status_code == 200
    assert "The old bridge was of oak." in page
    assert page.count("no match") == 2
    assert "other importance" in page
    assert "Matched one to one by the F1 of their words, from 0.5 up." in page


def test_the_page_offers_two_sets_without_being_asked(rosa: User, client: Client, banks: Collection) -> None:
    client.force_login(rosa)

    page = client.get(address(banks)).content.decode()

    assert "2 matched pairs of 3 nuggets" in page
    assert f'href="{address(banks)}"' in client.get(f"/collections/{banks.name}/banks/").content.decode()


def test_a_collection_with_one_set_has_nothing_to_compare(rosa: User, client: Client, collection: Collection) -> None:
    client.force_login(rosa)

    assert "Nothing to compare" in client.get(address(collection)).content.decode()


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ({"first": "nobody", "second": "made@1"}, 422),
        ({"threshold": "0"}, 422),
        ({"threshold": "nan"}, 422),
        ({"by": "magic"}, 422),
        ({"topic": "nowhere"}, 404),
    ],
)
def test_bad_input_is_refused(
    rosa: User, client: Client, banks: Collection, asked: dict[str, str], status: int
) -> None:
    client.force_login(rosa)

    assert client.get(address(banks), asked).status_code == status


def test_a_stranger_finds_nothing(mallory: User, client: Client, banks: Collection) -> None:
    client.force_login(mallory)

    assert client.get(address(banks)).status_code == 404
    assert client.get(f"/api/v1{address(banks)}").status_code == 404


def test_hostile_words_are_escaped(rosa: User, client: Client, collection: Collection) -> None:
    hostile = "<script>alert(1)</script>"
    keep(collection, "a", [(hostile, "", hostile), ("other", "", "b")])
    keep(collection, "b", [(hostile, "", None)])
    client.force_login(rosa)

    page = client.get(address(collection)).content.decode()

    assert hostile not in page
    assert "&lt;script&gt;alert(1)" in page


def test_api_and_command_say_the_same(rosa: User, client: Client, banks: Collection) -> None:
    client.force_login(rosa)
    printed, text = StringIO(), StringIO()
    asked: dict[str, str] = {"first": "campaign", "second": "made", "by": "rouge-l", "threshold": "0.6"}

    answer = client.get(f"/api/v1{address(banks)}", asked).json()
    call_command("nugget_agreement", collection=banks.name, json=True, stdout=printed, **asked)
    call_command("nugget_agreement", collection=banks.name, stdout=text, **asked)

    assert json.loads(printed.getvalue()) == answer
    assert answer["f1"]["value"] == pytest.approx(4 / 6)
    assert answer["topics"][0]["pairs"][1]["similarity"] == pytest.approx(10 / 11)
    assert answer["importance"]["n_pairs"] == 2
    assert "first alone: A flood took it in 1604." in text.getvalue()
    assert "Matched one to one by the ROUGE-L F1, from 0.6 up." in text.getvalue()


def test_what_cannot_be_compared_is_said(rosa: User, client: Client, banks: Collection) -> None:
    client.force_login(rosa)

    answer = client.get(f"/api/v1{address(banks)}", {"first": "campaign", "second": "made", "by": "sources"})

    assert answer.status_code == 400
    assert "name a place in a source" in answer.content.decode()
    with pytest.raises(CommandError, match="no collection"):
        call_command("nugget_agreement", collection="nowhere")


def test_queries_do_not_grow_with_nuggets(banks: Collection) -> None:
    with CaptureQueriesContext(
        connection,
    ) as before:
        compare_sets(banks, user=None, first="campaign", second="made", threshold=0.5)
    keep(banks, "made", [(f"Nugget {n}.", "", None) for n in range(20)])
    with CaptureQueriesContext(connection) as after:
        compare_sets(banks, user=None, first="campaign", second="made", threshold=0.5)

    assert len(after) == len(before)


# --- Matched by people or a judge --------------------------------------------------------------------


def extracted(collection: Collection) -> Topic:
    """Let a model have extracted two key points where ada wrote three nuggets; nobody wrote any for the other topic."""
    topic = collection.topics.order_by("topic_id")[0]
    RubricElement.objects.filter(topic__collection=collection, kind="key_point").delete()
    for place, text in enumerate(BY_LLAMA[:2]):
        RubricElement.objects.create(
            topic=topic, kind="key_point", element_id=f"k{place}", position=90 + place, text=text
        )
    keep(collection, "campaign", [(text, "vital", None) for text in BY_ADA])
    return topic


def test_people_say_which_of_their_points_a_model_extracted(collection: Collection, ada: User) -> None:
    topic = extracted(collection)

    run = list_as_reports(collection, "key-points/all", run="extracted", by=ada, at=AT)
    study = a_study_of(collection, "nugget", frame=Frame(runs="only", run_names=("extracted",)))
    open_study(study=study, at=AT)
    criterion, rater = study.criteria.get(name="support"), rater_of(ada)
    for item, grade in zip(study.items.order_by("element__position"), (2, 2, 0), strict=True):
        Judgment.objects.create(item=item, criterion=criterion, rater=rater, grade=grade, judged_at=AT)

    [report] = run.reports.all()
    assert (report.topic, report.text) == (topic, "- The old bridge was of oak.\n- It cost 900 florins.")
    assert run.attributes["lists"] == {
        "set": "key-points/all", "label": "key points, masked ones too", "made_by": "ada", "made_at": AT.isoformat(),
    }  # fmt: skip
    [people] = measure_leaderboard(Scorer.of(study), parse_measure("nuggets-strict-all")).columns
    assert people.means == {"extracted": pytest.approx(2 / 3)}


def test_a_topic_of_which_a_set_has_nothing_counts_as_one_where_nothing_is_found(banks: Collection) -> None:
    other = banks.topics.order_by("topic_id")[1]
    RubricElement.objects.filter(topic__collection=banks, kind="key_point").delete()
    RubricElement.objects.create(topic=other, kind="key_point", element_id="k", position=90, text="It is of stone.")

    texts = {one.topic: one.text for one in list_as_reports(banks, "made", run="listed", by=None, at=AT).reports.all()}

    assert texts[other] == NOTHING
    assert len(texts) == 2


def test_a_workshops_set_has_the_topics_that_the_person_handed_in(collection: Collection) -> None:
    ada, ben, dan = (a_user(name) for name in ("ada-w", "ben-w", "dan-w"))
    workshop = a_workshop(collection, [ada, ben], dan)
    proposes(workshop, ada, BY_ADA[0], "vital")
    all_hand_in(workshop, but=ben)
    own = f"workshop/{workshop.pk}:ada-w"
    with pytest.raises(NotListed):  # Ben would read it among the reports
        list_as_reports(collection, own, run="ada", by=None, at=AT)
    close_workshop(workshop=workshop, at=AT)

    run = list_as_reports(collection, own, run="ada", by=None, at=AT)

    assert [one.text for one in run.reports.all()] == [f"- {BY_ADA[0]}"]


@pytest.mark.parametrize(
    ("name", "run", "words"),
    [
        ("made", "alpha-1", "has a run “alpha-1” already"),
        ("made", "alpha", "has a system “alpha”, which did not write this"),
        ("made", " ", "at most 200 characters"),
        ("made", "x" * 201, "at most 200 characters"),
        ("nowhere", "new", "no set of nuggets “nowhere”"),
    ],
)
def test_a_set_that_cannot_be_written_out_is_refused_by_page_and_api(
    rosa: User, client: Client, banks: Collection, name: str, run: str, words: str
) -> None:
    client.force_login(rosa)
    runs = banks.runs.count()

    page = client.post(f"{address(banks)}list/", {"set": name, "run": run}, follow=True)
    answer = client.post(f"/api/v1{address(banks)}list/", {"set": name, "run": run}, content_type="application/json")

    assert words in page.content.decode()
    assert answer.status_code == 400
    assert banks.runs.count() == runs


def test_page_api_and_command_write_a_set_out(rosa: User, mallory: User, client: Client, banks: Collection) -> None:
    client.force_login(mallory)
    assert client.post(f"{address(banks)}list/", {"set": "made", "run": "no"}).status_code == 404
    client.force_login(rosa)

    page = client.post(f"{address(banks)}list/", {"set": "made", "run": "by-page"}, follow=True)
    sent = {"set": "made", "run": "by-api"}
    answer = client.post(f"/api/v1{address(banks)}list/", sent, content_type="application/json").json()
    out = StringIO()
    call_command("nugget_agreement", collection=banks.name, second="made", list_as="by-command", stdout=out)

    assert "of the run “by-page” list them" in page.content.decode()
    assert page.request["PATH_INFO"] == "/studies/new/"
    assert answer == {"run": "by-api", "reports": 2}
    assert out.getvalue().strip() == "2 reports of the run “by-command” list them."
    texts = {
        run: list(banks.runs.get(name=run).reports.values_list("text", flat=True)) for run in ("by-page", "by-api")
    }
    assert texts["by-page"] == texts["by-api"]
