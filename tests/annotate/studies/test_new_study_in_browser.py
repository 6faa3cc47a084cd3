"""The page of a new study in a browser: another language leaves what is open and what was typed."""

from __future__ import annotations

import pytest
from django.urls import reverse
from playwright.sync_api import Page, Route, expect
from pytest_django.live_server_helper import LiveServer

from annotate.task_types import criteria_asked
from collection.models import Collection, User
from tests.browser import SignIn

pytestmark = pytest.mark.browser


def test_another_language_closes_nothing_and_takes_no_words_meanwhile(
    page: Page, sign_in: SignIn, live_server: LiveServer, collection: Collection, rosa: User
) -> None:
    [(_, german)] = criteria_asked("relevance", "de")
    held: list[Route] = []
    sign_in(page, rosa)
    page.goto(live_server.url + reverse("annotate:study_new") + f"?collection={collection.name}")
    page.check("[name=task_types][value=relevance]")
    scale, question = page.locator("#id_relevance-scale"), page.locator("#id_relevance-question")
    page.locator("#criterion-relevance summary").click()
    question.fill("Hilft es?")
    page.route("**" + reverse("annotate:study_criteria"), lambda route: held.append(route))

    page.select_option("#id_language", "de")

    expect(scale).to_be_disabled()
    expect(page.locator("#create")).to_be_disabled()
    held[0].continue_()
    expect(scale).to_have_value("\n".join(f"{value:g} | {name} | {text}" for value, name, text in german.scale.points))
    expect(scale).to_be_visible()
    expect(question).to_have_value("Hilft es?")
    expect(page.locator("#create")).to_be_enabled()
    expect(page.locator("[aria-invalid=true], .errorlist")).to_have_count(0)
