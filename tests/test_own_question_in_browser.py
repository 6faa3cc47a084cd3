"""A question of a researcher's own: from nothing to what people and a judge say of it, and to qrels, in a browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from django.utils.timezone import now
from playwright.sync_api import Page, expect
from pytest_django.fixtures import Settings

from annotate.studies.lifecycle import enrol
from collection.models import Collection, Judgment, Question, Study, User
from judging.models import GradingJob
from tests.browser import SignIn, close_new_guidelines
from tests.judging.scripted_server import MODEL, ScriptedServer, chat_completion
from tests.judging.world import work_through

MOST_ACTIONS = 12


@pytest.fixture
def server(settings: Settings) -> Iterator[ScriptedServer]:
    scripted = ScriptedServer()
    scripted.script(lambda body: chat_completion("2"))
    settings.JUDGE_BASE_URL, settings.JUDGE_MODEL = scripted.url, MODEL
    yield scripted
    scripted.stop()


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_twelve_actions_lead_from_a_question_to_qrels(
    page: Page, sign_in: SignIn, rosa: User, ada: User, collection: Collection, server: ScriptedServer
) -> None:
    collection.studies.all().delete()
    sign_in(page, rosa)
    page.goto("/questions/new/")
    actions: list[str] = []

    def act(what: str, action: Callable[[], object]) -> None:
        actions.append(what)
        action()

    act("name it", lambda: page.get_by_label("Title").fill("tone of a report"))
    act("of a report", lambda: page.locator("[name=text][value=report]").check())
    act("ask it", lambda: page.get_by_label("Question", exact=True).fill("How polite is the report?"))
    act("save it", page.get_by_role("button", name="Save question", exact=True).click)
    act("ask it in a study", page.get_by_role("link", name="New study").click)
    act("give it a title", lambda: page.get_by_role("textbox", name="Title").fill("Tone"))
    page.locator("[name=overlap]").fill("1")
    act("create it", page.get_by_role("button", name="Create draft").click)
    page.wait_for_url("**/studies/tone/")
    study = Study.objects.get(name="tone")
    enrol(study=study, user=ada, at=now())
    act("open it", page.get_by_role("button", name="Open", exact=False).first.click)
    question = Question.objects.get()
    page.goto(f"/questions/{question.name}/")
    act("make a judge", page.get_by_role("link", name="New judge").click)
    act("with its prompt", page.get_by_role("button", name="Create", exact=True).click)
    page.goto("/studies/tone/judging/")
    act("choose it", page.get_by_role("button", name="Start").or_(page.get_by_role("link", name="Start")).first.click)
    act("start it", page.get_by_role("button", name="Start grading").click)
    work_through(GradingJob.objects.get())
    label(page, sign_in, ada)

    assert len(actions) <= MOST_ACTIONS, actions
    assert Judgment.objects.filter(rater__kind="judge", grade=2).count() == 2
    assert Judgment.objects.filter(rater__user=ada).count() == 2
    sign_in(page, rosa)
    for address in ("agreement", "leaderboard", "trust"):
        assert page.goto(f"/studies/tone/{address}/").ok  # type: ignore[union-attr]
    expect(page.locator("main")).to_contain_text(MODEL)


def label(page: Page, sign_in: SignIn, ada: User) -> None:
    """Let Ada judge both reports, by keys."""
    sign_in(page, ada)
    page.goto("/work/")
    page.get_by_role("button", name="Start").first.click()
    for key in ("1", "2"):
        page.locator("#assignment.live").wait_for()
        close_new_guidelines(page)
        before = page.url
        page.keyboard.press(key)  # the one question of the task: the page goes on by itself
        expect(page).not_to_have_url(before)
