"""Invitations let in as many as they allow, as long as they allow it; each guest comes back by a link of their own."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import TypeVar

import pytest
from django.db import connection
from django.test import Client
from django.utils.timezone import now

from annotate.crowd.invitations import (
    accept_invitation,
    make_invitation,
    person_of_link,
    renew_return_link,
    revoke_invitation,
)
from annotate.crowd.privacy import erase_person
from annotate.models import Enrolment, Invitation, Participant
from annotate.participants.participants import NotLetIn
from annotate.sessions.sessions import session_of
from collection.models import Study, User
from tests.annotate.crowd_factories import a_session, an_entry
from tests.annotate.factories import NOON, a_report_task, an_open_study

Result = TypeVar("Result")


def an_invitation(study: Study, *, uses: int = 1, until: datetime | None = None) -> Invitation:
    return make_invitation(
        study=an_open_study(study),
        note="",
        most_uses=uses,
        expires_at=until or now() + timedelta(days=1),
        by=study.created_by,
    )


def at_once(times: int, job: Callable[[], Result]) -> list[Result | Exception]:
    """Run the job in so many threads and return what each came to."""

    def one(_: int) -> Result | Exception:
        try:
            return job()
        except NotLetIn as refused:
            return refused
        finally:
            connection.close()

    with ThreadPoolExecutor(times) as pool:
        return list(pool.map(one, range(times)))


def test_a_guest_is_known_by_a_pseudonym_and_named_to_researchers_alone(study: Study) -> None:
    participant, _ = accept_invitation(
        invitation=an_invitation(study), name="Ada of Leuven", email="ada@example.org", at=NOON
    )

    user = participant.user
    assert user.username.startswith("guest-")
    assert (user.rater.name, user.first_name, user.email) == (user.username, "Ada of Leuven", "ada@example.org")
    assert not user.has_usable_password()
    assert Enrolment.objects.get().user == user
    assert session_of(study=study, user=user) is None


def test_an_invitation_is_used_up(study: Study) -> None:
    invitation = an_invitation(study, uses=2)
    for name in ("Ada", "Ben"):
        accept_invitation(invitation=invitation, name=name, at=NOON)

    with pytest.raises(NotLetIn, match="used up"):
        accept_invitation(invitation=invitation, name="Mallory", at=NOON)


def test_an_invitation_expires(study: Study) -> None:
    invitation = an_invitation(study, until=NOON)

    with pytest.raises(NotLetIn, match="expired"):
        accept_invitation(invitation=invitation, name="Ada", at=NOON)


def test_a_revoked_invitation_lets_nobody_in_and_sends_nobody_away(study: Study) -> None:
    invitation = an_invitation(study, uses=5)
    participant, token = accept_invitation(invitation=invitation, name="Ada", at=NOON)
    revoke_invitation(invitation=invitation, at=NOON)
    invitation.refresh_from_db()

    with pytest.raises(NotLetIn, match="revoked"):
        accept_invitation(invitation=invitation, name="Ben", at=NOON)

    assert person_of_link(token) == participant


def test_a_renewed_link_replaces_the_one_before(study: Study) -> None:
    participant, old = accept_invitation(invitation=an_invitation(study), name="Ada", at=NOON)

    new = renew_return_link(participant=participant, at=NOON)

    assert (person_of_link(old), person_of_link(new)) == (None, participant)


def test_a_link_opens_no_account_that_was_given_rights(study: Study) -> None:
    participant, token = accept_invitation(invitation=an_invitation(study), name="Ada", at=NOON)
    User.objects.filter(pk=participant.user_id).update(is_researcher=True)

    with pytest.raises(NotLetIn):
        person_of_link(token)


def test_the_link_of_the_erased_opens_nothing(study: Study, rosa: User) -> None:
    participant, token = accept_invitation(invitation=an_invitation(study), name="Ada", at=NOON)

    erasure = erase_person(study=study, user=participant.user, by=rosa, at=NOON)

    assert person_of_link(token) is None
    assert erasure.what == ["return link", "name"]


# --- Pages --------------------------------------------------------------------------------------


def test_sending_the_form_twice_makes_one_guest(study: Study, client: Client) -> None:
    invitation = an_invitation(study, uses=5)
    address = f"/i/{invitation.token}/"

    first, second = (client.post(address, {"name": "Ada"}) for _ in range(2))

    assert b"Keep this link" in first.content
    assert b"You have already joined bridges-study" in second.content
    assert Participant.objects.count() == 1


@pytest.mark.parametrize(
    ("sent", "complaint"),
    [
        ({"name": "   "}, "required"),
        ({"name": "Ada", "email": "x"}, "valid email"),
        ({"name": "a" * 151}, "at most 150"),
    ],
)
def test_bad_input_makes_nobody(study: Study, client: Client, sent: dict[str, str], complaint: str) -> None:
    response = client.post(f"/i/{an_invitation(study).token}/", sent)

    assert response.status_code == 422
    assert complaint in response.content.decode()
    assert Participant.objects.count() == 0


def test_looking_at_a_link_signs_nobody_in(study: Study, client: Client) -> None:
    a_report_task(study)
    _, token = accept_invitation(invitation=an_invitation(study), name="Ada", at=NOON)

    looked = client.get(f"/back/{token}/")
    signed_in_by_looking = client.get("/work/").status_code == 200
    client.post(f"/back/{token}/")

    assert b"Welcome back, Ada" in looked.content
    assert not signed_in_by_looking
    assert client.get("/work/").status_code == 200


def test_a_wrong_link_says_what_to_do(db: None, client: Client) -> None:
    response = client.get("/back/nothing/")

    assert response.status_code == 400
    assert b"no longer works" in response.content


# --- All at once --------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_many_at_once_never_use_a_link_more_often_than_it_allows(study: Study) -> None:
    invitation = an_invitation(study, uses=2)

    came = at_once(6, lambda: accept_invitation(invitation=invitation, name="Somebody", at=NOON))

    assert sum(isinstance(one, tuple) for one in came) == 2
    assert Participant.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_one_person_who_arrives_many_times_at_once_is_one_person(study: Study) -> None:
    entry = an_entry(an_open_study(study))

    sessions = at_once(6, lambda: a_session(entry))

    assert len({session.pk for session in sessions if not isinstance(session, Exception)}) == 1
    assert (Participant.objects.count(), User.objects.filter(username__startswith="worker-").count()) == (1, 1)


def test_an_invitation_opens_although_who_made_it_is_gone(study: Study, client: Client) -> None:
    invitation = an_invitation(study)
    Invitation.objects.update(created_by=None)

    page = client.get(f"/i/{invitation.token}/")

    assert page.status_code == 200
    assert "A researcher invites you to judge texts." in page.content.decode()
