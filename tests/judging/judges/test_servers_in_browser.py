"""Rosa has a judge's servers tried out, and makes a judge, in Chromium."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect
from pytest_django.fixtures import Settings as SettingsWrapper

from collection.models import User
from judging.engines import probe_store
from judging.models import ServerProbe
from tests.browser import SignIn, check_accessibility, check_no_sideways_scroll
from tests.judging.engines.test_probe_store import a_judge, page_of
from tests.judging.scripted_server import ScriptedServer

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_rosa_probes_the_servers_of_a_judge_on_a_laptop_and_on_a_phone(
    page: Page, phone: Page, sign_in: SignIn, rosa: User, server: ScriptedServer, settings: SettingsWrapper
) -> None:
    server.takes_many = True
    settings.JUDGE_BASE_URL = f"{server.url},http://127.0.0.1:9/v1"
    judge = a_judge()
    sign_in(page, rosa)

    page.goto(page_of(judge))
    expect(page.get_by_text("Not probed yet")).to_have_count(2)
    page.get_by_role("button", name="Probe again").press("Enter")

    expect(page.get_by_text("tested and honoured")).to_be_visible()
    expect(page.get_by_text("No answer from http://127.0.0.1:9")).to_be_visible()
    check_accessibility(page)

    settings.JUDGE_BASE_URL = server.url
    ServerProbe.objects.all().delete()
    probe_store._learnt.clear()
    sign_in(phone, rosa)
    phone.goto(page_of(judge))
    expect(phone.get_by_text("Not probed yet")).to_have_count(1)
    phone.get_by_role("button", name="Probe again").press("Enter")

    expect(phone.get_by_text("tested and honoured")).to_be_visible()
    check_no_sideways_scroll(phone)
