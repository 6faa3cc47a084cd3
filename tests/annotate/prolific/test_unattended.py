"""A worker reads statuses and asks for returns, in studies whose researcher wants that, and pays nothing."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from rest_framework.test import APIClient

from annotate.models import CrowdEntry, CrowdSession, SiteRequest
from annotate.prolific.tokens import NoToken, forget_token
from annotate.prolific.unattended import EVERY, leave_alone, look_after, look_at_entries
from collection.models import User
from tests.annotate.crowd_factories import a_session, an_arrival
from tests.annotate.fake_prolific_api import FakeProlificApi
from tests.annotate.prolific.test_prolific_account import LATER, api, below_the_floor, entry, running

__all__ = ["api", "entry", "running"]


@pytest.fixture
def two_came(entry: CrowdEntry, api: FakeProlificApi) -> list[CrowdSession]:
    """One returned their submission at Prolific; the other found no work here. A third is below the floor."""
    gone, idle = a_session(entry, 1), a_session(entry, 2)
    CrowdSession.objects.filter(pk=idle.pk).update(state="no_work", finished_at=LATER)
    api.submissions.append({"id": gone.session_id, "participant_id": "5f0000000000000000000001", "status": "RETURNED"})
    below_the_floor(entry, 3)
    return [gone, idle]


def test_nothing_is_asked_unless_it_is_switched_on(api: FakeProlificApi, two_came: list[CrowdSession]) -> None:
    assert look_at_entries(at=LATER) == 0
    assert not api.returns


def test_statuses_are_read_and_returns_asked_for_and_nobody_is_paid(
    api: FakeProlificApi, entry: CrowdEntry, two_came: list[CrowdSession], rosa: User
) -> None:
    look_after(entry=entry, by=rosa)

    looked = look_at_entries(at=LATER)

    two_came[0].refresh_from_db()
    assert looked == 1
    assert two_came[0].state == "returned"
    assert list(api.returns) == [an_arrival(2).session_id]
    assert list(SiteRequest.objects.values_list("kind", "asked_by")) == [("returns", rosa.pk)]


def test_a_look_is_not_repeated_before_its_time(entry: CrowdEntry, two_came: list[CrowdSession], rosa: User) -> None:
    look_after(entry=entry, by=rosa)
    looks = [look_at_entries(at=at) for at in (LATER, LATER + timedelta(minutes=5), LATER + EVERY)]

    leave_alone(entry=entry)

    assert looks == [1, 0, 1]
    assert look_at_entries(at=LATER + 2 * EVERY) == 0


def test_who_lost_the_study_looks_no_more(
    api: FakeProlificApi, entry: CrowdEntry, two_came: list[CrowdSession], mallory: User, rosa: User
) -> None:
    look_after(entry=entry, by=rosa)
    CrowdEntry.objects.update(unattended_by=mallory)

    look_at_entries(at=LATER)

    entry.refresh_from_db()
    assert entry.unattended_by is None
    assert "no access" in entry.look_failed
    assert not api.returns


def test_a_failure_is_told_on_the_page(
    entry: CrowdEntry, two_came: list[CrowdSession], client: Client, rosa: User
) -> None:
    look_after(entry=entry, by=rosa)
    forget_token(user=rosa)

    look_at_entries(at=LATER)

    client.force_login(rosa)
    page = client.get(f"/studies/{entry.study.name}/crowd/prolific/account/")
    entry.refresh_from_db()
    assert entry.look_failed
    assert entry.look_failed[:20] in page.text
    with pytest.raises(NoToken):
        look_after(entry=entry, by=rosa)


def test_the_page_and_the_api_switch_it(entry: CrowdEntry, client: Client, rosa: User) -> None:
    client.force_login(rosa)
    page = f"/studies/{entry.study.name}/crowd/prolific/account/unattended/"
    address = f"/api/v1/studies/{entry.study.name}/crowd/prolific/unattended/"
    program = APIClient()
    program.force_authenticate(rosa)

    client.post(page, {"on": ""})
    by = program.get(address).json()["by"]
    client.post(page, {"off": ""})
    off = program.get(address).json()["by"]
    on = program.put(address).json()["by"]
    program.delete(address)

    assert (by, off, on, program.get(address).json()["by"]) == ("rosa", None, "rosa", None)
