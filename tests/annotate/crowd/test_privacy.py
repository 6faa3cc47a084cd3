"""Who people are outside stays out of every file unless asked for, and can be erased without losing a label."""

from __future__ import annotations

import csv
import io
import json

import pytest
from django.core.management import call_command
from django.test import Client
from pytest_django.asserts import assertContains, assertNotContains
from rest_framework.test import APIClient

from annotate.assignments.assignments import claim_next
from annotate.crowd.privacy import crowd_ids_of, erase_person
from annotate.models import (
    CrowdEntry,
    CrowdIdentity,
    CrowdSession,
    Erasure,
    Place,
    SurveyAnswer,
)
from annotate.participants.participants import NotLetIn
from annotate.quality.inbox import comment_on
from annotate.quality.survey import add_question, answer_questionnaire
from collection.models import ApiToken, Comment, Judgment, Rater, Study, User
from tests.annotate.crowd_factories import (
    PID,
    SESSION,
    a_session,
    an_entry,
    rater_of_session,
    submit_a_report,
)
from tests.annotate.factories import NOON, a_report_task, an_open_study
from tests.factories import a_collection, a_study


@pytest.fixture
def entry(study: Study) -> CrowdEntry:
    return an_entry(an_open_study(study))


@pytest.fixture
def session(entry: CrowdEntry) -> CrowdSession:
    """Somebody from Prolific who submitted a report."""
    a_report_task(entry.study)
    session = a_session(entry)
    submit_a_report(session)
    return session


@pytest.fixture
def as_rosa(rosa: User) -> Client:
    client = Client()
    client.force_login(rosa)
    return client


def exported(study: Study, *options: str) -> str:
    out = io.StringIO()
    call_command("export_judgments", "--study", study.name, *options, stdout=out)
    return out.getvalue()


def body(response: object) -> str:
    return b"".join(response.streaming_content).decode()  # type: ignore[attr-defined]


# --- Exports ------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", ["csv", "jsonl"])
def test_the_command_names_people_by_pseudonym_unless_told_otherwise(
    entry: CrowdEntry, session: CrowdSession, table: str
) -> None:
    plain = exported(entry.study, "--format", table)
    asked = exported(entry.study, "--format", table, "--with-crowd-ids")

    assert session.participant.user.username in plain
    assert PID not in plain
    assert "crowd_id" not in plain
    assert asked.count(PID) == 3


def test_every_way_out_names_people_by_pseudonym(
    entry: CrowdEntry, session: CrowdSession, rosa: User, as_rosa: Client
) -> None:
    study = entry.study
    api = APIClient()
    api.force_authenticate(rosa)
    base = f"/collections/{study.collection.name}/studies/{study.name}"

    out = [
        body(as_rosa.get(f"{base}/judgments.csv")),
        body(as_rosa.get(f"{base}/judgments.jsonl")),
        body(as_rosa.get(f"/collections/{study.collection.name}/export/")),
        api.get(f"/api/v1/studies/{study.name}/judgments/").content.decode(),
        api.get(f"/api/v1/studies/{study.name}/progress/").content.decode(),
        api.get(f"/api/v1/studies/{study.name}/enrolments/").content.decode(),
        as_rosa.get(f"/studies/{study.name}/").content.decode(),
        as_rosa.get(f"/studies/{study.name}/crowd/").content.decode(),
        as_rosa.get(f"/studies/{study.name}/agreement/", follow=True).content.decode(),
    ]

    assert all(out)
    assert not [text for text in out if PID in text or SESSION in text]


@pytest.mark.parametrize("table", ["csv", "jsonl"])
def test_the_page_gives_the_ids_where_rosa_asks_for_them(
    entry: CrowdEntry, session: CrowdSession, as_rosa: Client, table: str
) -> None:
    text = body(as_rosa.get(f"/studies/{entry.study.name}/crowd/judgments.{table}"))

    rows = (
        list(csv.DictReader(io.StringIO(text)))
        if table == "csv"
        else [json.loads(line) for line in text.split("\n") if line]
    )
    assert [(row["rater"], row["crowd_id"]) for row in rows] == [(session.participant.user.username, PID)] * 3


def test_an_imported_rater_of_the_same_name_gets_no_crowd_id(entry: CrowdEntry, session: CrowdSession) -> None:
    judgment = Judgment.objects.all()[0]
    namesake = Rater.objects.create(
        kind="assessor", origin="imported", name=session.participant.user.username, collection=entry.study.collection
    )
    Judgment.objects.filter(pk=judgment.pk).update(rater=namesake)

    text = exported(entry.study, "--with-crowd-ids")

    assert text.count(PID) == 2


# --- Erasing ------------------------------------------------------------------------------------


def test_erasing_takes_all_that_names_the_person_and_leaves_the_labels(
    entry: CrowdEntry, session: CrowdSession, rosa: User
) -> None:
    user = session.participant.user
    User.objects.filter(pk=user.pk).update(first_name="Ada", email="ada@example.org")
    ApiToken.objects.create(user, password_stamp="of an earlier version")
    question = add_question(study=entry.study, text="Age?", kind="number")
    answer_questionnaire(study=entry.study, user=user, answers={question: 33}, at=NOON)
    a_report_task(entry.study, "Another report.")
    claim_next(study=entry.study, rater=rater_of_session(session), at=NOON)

    erasure = erase_person(study=entry.study, user=user, by=rosa, at=NOON)

    user.refresh_from_db()
    session.refresh_from_db()
    assert erasure.what == [
        "crowd id",
        "session ids",
        "name",
        "e-mail address",
        "tokens",
        "questionnaire (1 answer)",
    ]
    assert (erasure.pseudonym, erasure.erased_by, erasure.erased_at) == (user.username, rosa, NOON)
    assert (user.first_name, user.email, user.is_active, user.has_usable_password()) == ("", "", False, False)
    assert (CrowdIdentity.objects.count(), SurveyAnswer.objects.count(), ApiToken.objects.count()) == (0, 0, 0)
    assert SESSION not in session.session_id
    assert Judgment.objects.filter(rater__name=user.username).count() == 3
    assert Place.objects.filter(holder=user.rater).count() == 1
    assert crowd_ids_of(entry.study) == {}


def test_nothing_in_the_database_names_the_erased(entry: CrowdEntry, session: CrowdSession, rosa: User) -> None:
    erase_person(study=entry.study, user=session.participant.user, by=rosa, at=NOON)

    out = io.StringIO()
    call_command("dumpdata", stdout=out)

    assert PID not in out.getvalue()
    assert SESSION not in out.getvalue()


def test_the_erased_do_not_come_in_again_as_somebody_new(entry: CrowdEntry, session: CrowdSession, rosa: User) -> None:
    erase_person(study=entry.study, user=session.participant.user, by=rosa, at=NOON)

    with pytest.raises(NotLetIn, match="were erased"):
        a_session(entry, session=2)


def test_a_browser_of_the_erased_is_signed_out(entry: CrowdEntry, session: CrowdSession, rosa: User) -> None:
    client = Client()
    client.force_login(session.participant.user)
    before = client.get("/work/").status_code

    erase_person(study=entry.study, user=session.participant.user, by=rosa, at=NOON)

    assert (before, client.get("/work/").status_code) == (200, 302)


def test_erasing_twice_leaves_one_line(entry: CrowdEntry, session: CrowdSession, rosa: User) -> None:
    lines = [erase_person(study=entry.study, user=session.participant.user, by=rosa, at=NOON) for _ in range(2)]

    assert lines[0] == lines[1]
    assert Erasure.objects.count() == 1


def test_the_page_erases_and_keeps_the_line(entry: CrowdEntry, session: CrowdSession, as_rosa: Client) -> None:
    username = session.participant.user.username
    address = f"/studies/{entry.study.name}/crowd/people/{username}/"

    before = as_rosa.get(address).content.decode()
    said = as_rosa.post(f"{address}erase/", follow=True).content.decode()
    after = as_rosa.get(address).content.decode()

    assert PID in before
    assert f"Erased of {username}: crowd id, session ids." in said
    assert PID not in said + after
    assert "The account is closed." in after


def test_looking_for_a_person_by_a_crowd_id_of_another_study_finds_nobody(
    entry: CrowdEntry, session: CrowdSession, mallory: User
) -> None:
    hers = an_open_study(a_study(a_collection(owner=mallory, name="towers"), name="towers"))
    client = Client()
    client.force_login(mallory)

    said = client.get(f"/studies/{hers.name}/crowd/people/", {"sought": PID}, follow=True)

    assert f"Nobody in this study has the name or crowd id “{PID}”" in said.content.decode()


# --- Comments -----------------------------------------------------------------------------------


@pytest.fixture
def comments(session: CrowdSession) -> list[Comment]:
    """The person wrote about an item, called one broken without a word, and put words to another broken one."""
    items = session.entry.study.items.order_by("pk")
    rater = rater_of_session(session)
    return [
        comment_on(item=items[0], rater=rater, text="Write to me: ann@example.org", at=NOON),
        comment_on(item=items[1], rater=rater, broken=True, at=NOON),
        comment_on(item=items[2], rater=rater, text="Ann Smith says: broken.", broken=True, at=NOON),
    ]


def words(comments: list[Comment]) -> list[tuple[str, bool]]:
    for comment in comments:
        comment.refresh_from_db()
    return [(comment.text, comment.broken) for comment in comments]


def test_erasing_leaves_the_words_of_comments_unless_rosa_asks(
    entry: CrowdEntry, session: CrowdSession, comments: list[Comment], rosa: User
) -> None:
    erase_person(study=entry.study, user=session.participant.user, by=rosa, at=NOON)

    assert [text for text, _ in words(comments)] == ["Write to me: ann@example.org", "", "Ann Smith says: broken."]


def test_erasing_takes_the_words_of_comments_where_rosa_asks_and_leaves_that_they_were_there(
    entry: CrowdEntry, session: CrowdSession, comments: list[Comment], rosa: User
) -> None:
    erasure = erase_person(study=entry.study, user=session.participant.user, by=rosa, at=NOON, comments=True)

    assert words(comments) == [("(text erased)", False), ("", True), ("(text erased)", True)]
    assert "text of 2 comments" in erasure.what
    assert Comment.objects.filter(rater=rater_of_session(session), item__isnull=False, made_at=NOON).count() == 3


def test_the_comments_of_others_keep_their_words(
    entry: CrowdEntry, session: CrowdSession, comments: list[Comment], rosa: User
) -> None:
    ben = rater_of_session(a_session(entry, 2))
    other = comment_on(item=comments[0].item or entry.study.items.all()[0], rater=ben, text="It rains.", at=NOON)

    erase_person(study=entry.study, user=session.participant.user, by=rosa, at=NOON, comments=True)

    assert words([other]) == [("It rains.", False)]


def test_the_page_offers_it_with_the_number_of_comments(
    entry: CrowdEntry, session: CrowdSession, comments: list[Comment], as_rosa: Client
) -> None:
    address = f"/studies/{entry.study.name}/crowd/people/{session.participant.user.username}/"

    offered = as_rosa.get(address)
    erased = as_rosa.post(f"{address}erase/", {"comments": "on"}, follow=True)

    assertContains(offered, "Erase the text of 2 comments too")
    assertContains(erased, "text of 2 comments")
    assertNotContains(as_rosa.get(address), "Erase the text")


def test_words_are_erased_later_too_and_no_second_time(
    entry: CrowdEntry, session: CrowdSession, comments: list[Comment], as_rosa: Client
) -> None:
    address = f"/studies/{entry.study.name}/crowd/people/{session.participant.user.username}/"
    as_rosa.post(f"{address}erase/")

    offered = as_rosa.get(address)
    for _ in range(2):
        as_rosa.post(f"{address}erase/", {"comments": "on"})

    assertContains(offered, "The rest is already erased")
    assert [text for text, _ in words(comments)] == ["(text erased)", "", "(text erased)"]
    assert Erasure.objects.count() == 2
