"""A researcher is a stranger to other researchers' people: cannot enrol, read or erase them, nor learn their names."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now
from rest_framework.test import APIClient

from annotate.crowd.invitations import make_invitation
from annotate.crowd.privacy import erase_person, personal_data_of
from annotate.models import CrowdIdentity, CrowdSession, Enrolment, Erasure, Invitation, SurveyAnswer
from annotate.quality.inbox import comment_on
from annotate.quality.survey import add_question, answer_questionnaire
from annotate.studies.assessor_accounts import NotYourPeople, enrol_by_name
from annotate.studies.lifecycle import enrol
from collection.models import Study, User
from tests.annotate.crowd_factories import PID, SESSION, a_session, an_entry, submit_a_report
from tests.annotate.factories import NOON, a_report_task, an_open_study, enrolled
from tests.factories import PASSWORD, a_collection, a_study, a_token, a_user, rater_of


@pytest.fixture
def rosas(study: Study) -> Study:
    return an_open_study(study)


@pytest.fixture
def mallorys(mallory: User) -> Study:
    return an_open_study(a_study(a_collection(owner=mallory, name="towers"), name="towers"))


@pytest.fixture
def worker(rosas: Study) -> User:
    """Somebody from Prolific who worked in Rosa's study."""
    entry = an_entry(rosas)
    a_report_task(rosas)
    session = a_session(entry)
    submit_a_report(session)
    return session.participant.user


@pytest.fixture
def adas(rosas: Study, ada: User) -> User:
    """Ada, whose account was made for Rosa's studies."""
    User.objects.filter(pk=ada.pk).update(
        made_for=rosas.collection, first_name="Ada", last_name="L.", email="ada@example.org"
    )
    ada.refresh_from_db()
    enrolled(ada, rosas)
    return ada


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def in_api(user: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(user)
    return client


# --- Enrolling ------------------------------------------------------------------------------------


def test_mallory_enrols_nobody_of_rosas(adas: User, worker: User, rosa: User, mallory: User, mallorys: Study) -> None:
    names = [adas.username, worker.username, rosa.username]

    made = enrol_by_name(study=mallorys, usernames=names, by=mallory, at=NOON)

    assert [account.user.username for account in made] == [f"{name}@towers" for name in names]
    assert not Enrolment.objects.filter(study=mallorys, user__in=[adas, worker, rosa]).exists()


def test_a_name_that_is_taken_elsewhere_looks_like_one_that_is_not(adas: User, mallory: User, mallorys: Study) -> None:
    client, api = signed_in(mallory), in_api(mallory)

    def answers(name: str) -> list[Any]:
        page = client.post(f"/studies/{mallorys.name}/people/", {"usernames": name})
        sent = api.post(f"/api/v1/studies/{mallorys.name}/enrolments/", {"usernames": [f"{name}2"]}, format="json")
        study = {"name": "x", "collection": "towers", "task_types": ["answerability"], "assessors": [name]}
        made = api.post("/api/v1/studies/", study, format="json")
        return [
            (answer.status_code, [row["username"].replace(name, "NAME") for row in answer.json()] if answer is sent else
             len(re.findall(rf"\b{name}", answer.content.decode())))
            for answer in (page, sent, made)
        ]  # fmt: skip

    User.objects.create_user("ada2")

    assert answers("ada") == answers("oda")


def test_a_full_name_of_somebody_elses_is_refused_like_one_that_does_not_exist(
    adas: User, mallory: User, mallorys: Study
) -> None:
    User.objects.filter(pk=adas.pk).update(username="ada@bridges")
    said = {}
    for name in ("ada@bridges", "eve@bridges"):
        response = signed_in(mallory).post(f"/studies/{mallorys.name}/people/", {"usernames": name})
        assert response.status_code == 422
        said[name] = response.context["people_form"].errors["usernames"][0].replace(name, "NAME")

    assert said["ada@bridges"] == said["eve@bridges"]
    assert mallorys.enrolments.count() == 0


def test_who_is_refused_leaves_no_study_behind(client: Client, mallory: User, mallorys: Study) -> None:
    with pytest.raises(NotYourPeople):
        enrol_by_name(study=mallorys, usernames=["fine", "who@bridges"], by=mallory, at=NOON)

    assert not User.objects.filter(username="fine@towers").exists()


def test_rosa_lets_her_people_into_her_other_studies_and_herself(adas: User, rosas: Study, rosa: User) -> None:
    other = a_study(a_collection(owner=rosa, name="tunnels"), name="tunnels")

    made = enrol_by_name(study=other, usernames=["ada", "rosa"], by=rosa, at=NOON)

    assert made == []
    assert {row.user for row in other.enrolments.all()} == {adas, rosa}


def test_a_name_stands_for_the_account_that_was_made_of_it(rosas: Study, rosa: User) -> None:
    [carla] = enrol_by_name(study=rosas, usernames=["carla"], by=rosa, at=NOON)

    again = enrol_by_name(study=rosas, usernames=["carla", "carla@bridges"], by=rosa, at=NOON)

    assert again == []
    assert rosas.enrolments.get().user == carla.user


def test_people_from_crowd_sites_are_not_offered_to_other_studies(worker: User, rosa: User) -> None:
    other = a_study(a_collection(owner=rosa, name="tunnels"), name="tunnels")

    enrol_by_name(study=other, usernames=[worker.username], by=rosa, at=NOON)

    assert not other.enrolments.filter(user=worker).exists()


# --- Invitations ----------------------------------------------------------------------------------


@pytest.fixture
def invitation(mallorys: Study, mallory: User) -> Invitation:
    expires = now().replace(year=now().year + 1)
    return make_invitation(study=mallorys, note="", most_uses=1, expires_at=expires, by=mallory)


def test_ada_accepts_an_invitation_as_herself(adas: User, invitation: Invitation, mallory: User, ben: User) -> None:
    ada, bens = signed_in(adas), signed_in(ben)
    path = f"/i/{invitation.token}/"
    offered = ada.get(path).content.decode()

    accepted = ada.post(path, {"as_myself": "yes"})

    assert "Join as ada" in offered
    assert accepted["Location"] == "/work/"
    assert Enrolment.objects.get(study=invitation.study).user == adas
    assert bens.post(path, {"as_myself": "yes"}).status_code == 403  # used up
    assert signed_in(mallory).get(f"/studies/{invitation.study.name}/crowd/").context["invitations"][0]["n_used"] == 1


def test_an_account_of_one_study_does_not_come_in_as_itself(worker: User, invitation: Invitation) -> None:
    client = signed_in(worker)

    refused = client.post(f"/i/{invitation.token}/", {"as_myself": "yes"})

    assert refused.status_code == 403
    assert invitation.study.enrolments.count() == 0


def test_a_stranger_does_not_come_in_as_anybody(client: Client, invitation: Invitation) -> None:
    assert client.post(f"/i/{invitation.token}/", {"as_myself": "yes"}).status_code in {200, 422}
    assert invitation.study.enrolments.count() == 0


# --- Personal data --------------------------------------------------------------------------------


def test_mallory_reads_nothing_that_another_study_keeps(worker: User, mallory: User, mallorys: Study) -> None:
    enrol(study=mallorys, user=worker, at=NOON)  # as it was possible once

    page = signed_in(mallory).get(f"/studies/{mallorys.name}/crowd/people/{worker.username}/").content.decode()

    assert PID not in page
    assert SESSION not in page
    assert personal_data_of(mallorys, worker, by=mallory).participant is None


def test_mallory_reads_neither_name_nor_address_of_an_account_that_joined(
    adas: User, rosas: Study, rosa: User, mallory: User, mallorys: Study
) -> None:
    enrol(study=mallorys, user=adas, at=NOON)

    hers = signed_in(mallory).get(f"/studies/{mallorys.name}/crowd/people/ada/").content.decode()
    rosas_page = signed_in(rosa).get(f"/studies/{rosas.name}/crowd/people/ada/").content.decode()

    assert "ada@example.org" not in hers
    assert "Ada L." not in hers
    assert "ada@example.org" in rosas_page


def test_answers_and_comments_of_other_studies_are_not_counted(
    adas: User, rosas: Study, mallory: User, mallorys: Study
) -> None:
    enrol(study=mallorys, user=adas, at=NOON)
    question = add_question(study=rosas, text="Age?", kind="number")
    answer_questionnaire(study=rosas, user=adas, answers={question: 33}, at=NOON)
    a_report_task(rosas)
    comment_on(item=rosas.items.all()[0], rater=rater_of(adas), text="Write to me.", at=NOON)

    data = personal_data_of(mallorys, adas, by=mallory)

    assert (data.n_answers, data.n_comments) == (0, 0)


# --- Erasing --------------------------------------------------------------------------------------


def test_erasing_in_one_study_leaves_another_as_it_was(
    adas: User, rosas: Study, rosa: User, mallory: User, mallorys: Study
) -> None:
    enrol(study=mallorys, user=adas, at=NOON)
    for study in (rosas, mallorys):
        question = add_question(study=study, text="Age?", kind="number")
        answer_questionnaire(study=study, user=adas, answers={question: 33}, at=NOON)
    token = a_token(adas)

    erase_person(study=mallorys, user=adas, by=mallory, at=NOON)

    adas.refresh_from_db()
    assert (adas.username, adas.email, adas.is_active) == ("ada", "ada@example.org", True)
    assert adas.check_password(PASSWORD)
    assert SurveyAnswer.objects.get().question.study == rosas
    assert Enrolment.objects.get(user=adas, left_at=None).study == rosas
    assert Client().get("/api/v1/studies/", headers={"Authorization": f"Token {token}"}).status_code == 200
    assert erase_person(study=rosas, user=adas, by=rosa, at=NOON).study == rosas


def test_mallory_destroys_no_account_of_rosas(worker: User, rosas: Study, mallory: User, mallorys: Study) -> None:
    enrol(study=mallorys, user=worker, at=NOON)  # as it was possible once

    erase_person(study=mallorys, user=worker, by=mallory, at=NOON)

    worker.refresh_from_db()
    assert worker.is_active
    assert CrowdIdentity.objects.get().crowd_id == PID
    assert CrowdSession.objects.get().session_id == SESSION
    assert Enrolment.objects.get(user=worker, study=rosas).left_at is None


def test_the_owner_erases_though_the_person_works_elsewhere(
    worker: User, rosas: Study, rosa: User, mallorys: Study
) -> None:
    enrol(study=mallorys, user=worker, at=NOON)  # as it was possible once

    erasure = erase_person(study=rosas, user=worker, by=rosa, at=NOON)

    worker.refresh_from_db()
    assert erasure.what == ["crowd id", "session ids"]
    assert not CrowdIdentity.objects.exists()
    assert worker.is_active


@pytest.mark.parametrize("right", ["is_researcher", "is_staff", "is_superuser"])
def test_an_account_of_ones_own_outlives_the_erasure(adas: User, rosas: Study, rosa: User, right: str) -> None:
    User.objects.filter(pk=adas.pk).update(**{right: True})

    erase_person(study=rosas, user=adas, by=rosa, at=NOON)

    adas.refresh_from_db()
    assert (adas.username, adas.is_active) == ("ada", True)
    assert Enrolment.objects.get(user=adas).left_at == NOON
    assert Erasure.objects.get().pseudonym == "ada"


# --- Closing --------------------------------------------------------------------------------------


def test_ada_closes_her_account_with_her_password(adas: User, rosas: Study) -> None:
    client, token = signed_in(adas), a_token(adas)

    refused = client.post("/account/close/", {"password": "guessed"})
    still_there = User.objects.get(pk=adas.pk).is_active
    closed = client.post("/account/close/", {"password": PASSWORD})

    adas.refresh_from_db()
    assert (refused["Location"], still_there, closed["Location"]) == ("/account/", True, "/sign-in/")
    assert adas.username.startswith("erased-")
    assert (adas.email, adas.is_active, adas.has_usable_password()) == ("", False, False)
    assert adas.rater.name == adas.username
    assert Enrolment.objects.get(user=adas).left_at is not None
    assert Client().get("/api/v1/studies/", headers={"Authorization": f"Token {token}"}).status_code == 401


def test_an_account_that_owns_collections_is_not_closed(rosas: Study, rosa: User) -> None:
    said = signed_in(rosa).post("/account/close/", {"password": PASSWORD}, follow=True)

    assert "This account owns collections" in said.content.decode()
    assert User.objects.get(pk=rosa.pk).is_active


def test_an_administrator_closes_an_account_after_a_question(adas: User, rosas: Study, rosa: User) -> None:
    olga = a_user("olga", is_staff=True, is_superuser=True)
    client, chosen = signed_in(olga), {"action": "close_accounts", "_selected_action": [adas.pk, rosa.pk, olga.pk]}
    users = reverse("admin:collection_user_changelist")
    LogEntry.objects.create(
        user=olga, content_type=ContentType.objects.get_for_model(User), object_id=str(adas.pk), object_repr="ada",
        action_flag=2,
    )  # fmt: skip

    asked = client.post(users, chosen)
    still_there = User.objects.get(pk=adas.pk).is_active
    done = client.post(users, chosen | {"confirmed": "yes"}, follow=True).content.decode()

    adas.refresh_from_db()
    assert "Close these accounts?" in asked.content.decode()
    assert still_there
    assert "1 account is closed." in done
    assert "Rosa: This account owns collections" in done
    assert "Close your own account under Account." in done
    assert (adas.is_active, adas.email, adas.username[:7]) == (False, "", "erased-")
    assert Enrolment.objects.get(user=adas).left_at is not None
    assert set(User.objects.filter(is_active=True)) >= {rosa, olga}
    assert LogEntry.objects.get().object_repr == adas.username


def test_only_administrators_close_accounts_of_others(adas: User, rosa: User) -> None:
    data = {"action": "close_accounts", "_selected_action": [adas.pk], "confirmed": "yes"}

    response = signed_in(rosa).post(reverse("admin:collection_user_changelist"), data)

    assert response.status_code in {302, 403, 404}
    assert User.objects.get(pk=adas.pk).is_active
