"""RAGTIME's four phases for one topic in Chromium: relevance, nuggets, their importance and merging, alignment."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from pytest_django.fixtures import Settings as SettingsWrapper

from annotate.models import Task
from annotate.studies.lifecycle import enrol, open_study
from annotate.workshop.workshops import make_workshop
from collection.models import (
    BankVersion,
    Collection,
    NuggetProposal,
    NuggetWorkshop,
    RankedPassage,
    User,
    WorkshopRelevance,
)
from judging.engines import Reply
from judging.wordings.wordings import work_on
from tests.annotate.factories import NOON
from tests.annotate.work.test_highlights_in_browser import CHANGE, TRANSLATED
from tests.annotate.workshop.banks import a_bank, all_hand_in, proposes, the_topic
from tests.browser import SignIn, check_accessibility, check_no_sideways_scroll
from tests.factories import a_study, a_user
from tests.judging.engines.test_probe_store import a_judge
from tests.judging.world import ScriptedEngine

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def workshop(collection: Collection, ada: User, ben: User) -> NuggetWorkshop:
    """A workshop with a study that asks which nuggets reports support, and two passages to read."""
    run, topic = collection.runs.all()[0], collection.topics.order_by("pk")[0]
    for rank, name in enumerate(("t0-p0", "t0-p1"), start=1):
        RankedPassage.objects.create(run=run, topic=topic, passage_id=name, rank=rank, score=1 / rank)
    bank = a_bank(topic)
    study = a_study(collection, name="nuggets", task_types=("nugget",))
    dan = a_user("dan")
    enrol(study=study, user=dan, at=NOON)
    open_study(study=study, at=NOON)
    return make_workshop(
        bank=bank, proposers=[ada, ben], decider=dan, topics=[topic], study=study, by=collection.owner, at=NOON
    )


def ready(page: Page) -> None:
    """Wait until the script of a topic's page has read it: it hides what only a merge needs."""
    expect(page.locator("#aggregators")).to_be_hidden()


def picture(page: Page, name: str) -> None:
    if folder := os.environ.get("PICTURES"):
        page.screenshot(path=Path(folder) / f"workshop-{name}.png", full_page=True)


def test_the_four_phases_are_done_for_one_topic(
    open_page: Callable[..., Page], sign_in: SignIn, workshop: NuggetWorkshop, ada: User, ben: User, rosa: User
) -> None:
    page = open_page(viewport={"width": 1366, "height": 768})
    sign_in(page, ada)
    page.goto("/work/")
    page.get_by_role("link", name="Open", exact=True).click()
    page.get_by_role("link", name="Topic 0").click()

    # Relevance, by keyboard: no, and the page goes on; yes, and it stays.
    ready(page)
    page.keyboard.press("0")
    expect(page.get_by_role("heading", name="Passage 1")).to_be_visible()
    ready(page)
    page.keyboard.press("1")
    expect(page.locator("#relevant")).to_have_attribute("aria-pressed", "true")
    assert sorted(WorkshopRelevance.objects.values_list("passage__passage_id", "relevant")) == [
        ("t0-p0", False), ("t0-p1", True),
    ]  # fmt: skip

    # A nugget from a highlight, by keyboard.
    ready(page)
    page.keyboard.press("t")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator("#highlight")).not_to_be_empty()
    quote = page.locator("#highlight").inner_text()
    page.keyboard.press("a")
    expect(page.get_by_label("Nugget", exact=False).and_(page.locator("textarea"))).to_have_value(quote)
    page.keyboard.type("Fact 1 is said.")
    page.get_by_label("Importance").select_option("vital")
    page.get_by_label("Weight").fill("2")
    page.get_by_role("button", name="What it does to the scores").click()
    expect(page.locator(".workshop-scores tbody")).to_contain_text("0.00 – 1.00")
    check_accessibility(page)
    picture(page, "topic")
    page.get_by_role("button", name="Propose").click()
    expect(page.locator("#proposals")).to_contain_text("Fact 1 is said.")
    assert NuggetProposal.objects.get().quote == quote

    # Merging two of the bank's nuggets.
    page.get_by_label("It was built of oak.").check()
    page.get_by_label("It cost nine hundred florins.").check()
    page.get_by_label("merge", exact=True).check()
    page.locator("#wording").fill("It was dear and of oak.")
    page.get_by_label("Merge into").select_option("all of them")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#proposals")).to_contain_text("It was dear and of oak.")
    page.get_by_role("button", name="Hand in").click()
    expect(page.get_by_text("others are at work")).to_be_visible()

    # The other proposes too, and the third decides: two become one.
    proposes(workshop, ben, "Fact 1 of subject 0 is said.")
    all_hand_in(workshop, but=ada)
    third = open_page(viewport={"width": 390, "height": 844}, color_scheme="dark")
    sign_in(third, workshop.people.get(role="decides").user)
    third.goto(f"/workshops/{workshop.pk}/topics/{the_topic(workshop).topic_id}/decision/")
    check_accessibility(third)
    check_no_sideways_scroll(third)
    picture(third, "decision")
    third.locator("label", has_text="new nugget").nth(0).get_by_role("checkbox").check()
    third.locator("label", has_text="new nugget").nth(1).get_by_role("checkbox").check()
    third.get_by_label("In other words").fill("Fact 1 is told.")
    third.get_by_role("button", name=re.compile("^Accept")).click()
    expect(third.locator(".badge", has_text="accepted")).to_have_count(2)
    third.locator("label", has_text="merge").get_by_role("checkbox").check()
    third.get_by_role("button", name=re.compile("^Accept")).press("Enter")
    expect(third.locator(".badge", has_text="accepted")).to_have_count(3)
    third.get_by_role("button", name="Keep what is accepted").click()
    expect(third.get_by_text("Decided: version 2 of the bank.")).to_be_visible()
    version = BankVersion.objects.get(number=2)
    assert [entry.element.text for entry in version.entries.order_by("position")] == [
        "It was dear and of oak.", "It was built of oak.", "It cost nine hundred florins.",
        "A flood took it in 1604.", "Fact 1 is told.",
    ]  # fmt: skip

    # Alignment: the researcher asks the study about them, and the third matches the report to the nuggets.
    before = Task.objects.count()
    researcher = open_page(viewport={"width": 1366, "height": 768})
    sign_in(researcher, rosa)
    researcher.goto(third.url)
    researcher.get_by_role("button", name="Ask the study").click()
    expect(researcher.get_by_text("1 new task")).to_be_visible()
    assert Task.objects.count() == before + 1
    third.reload()
    third.get_by_role("button", name="Match reports to the nuggets").click()
    third.wait_for_url("**/work/**")


def words_of_a_judge(pk: int, *, at: datetime) -> None:
    """Stand in for the worker that asks the judge."""
    reply = Reply(text="A passage stands first.", finish_reason="stop", identity="m-1")
    work_on(pk, at=at, engine_for=lambda _: ScriptedEngine(lambda _: reply))


def test_a_span_is_marked_by_mouse_and_on_a_phone(
    open_page: Callable[..., Page],
    sign_in: SignIn,
    workshop: NuggetWorkshop,
    ada: User,
    settings: SettingsWrapper,
) -> None:
    settings.WORDS_OF_JUDGES = f"{__name__}.words_of_a_judge"
    NuggetWorkshop.objects.update(judge=a_judge().rater)
    page = open_page(viewport={"width": 390, "height": 844}, color_scheme="dark")
    sign_in(page, ada)
    page.goto(f"/workshops/{workshop.pk}/topics/{the_topic(workshop).topic_id}/")
    ready(page)
    check_no_sideways_scroll(page)
    check_accessibility(page)
    picture(page, "phone")

    page.evaluate(CHANGE, ["#text", TRANSLATED])
    page.locator("#text p").first.dblclick(position={"x": 20, "y": 10})
    expect(page.locator("#page-changed")).to_be_in_viewport(ratio=1)
    expect(page.locator("#highlight")).to_be_empty()
    check_accessibility(page)
    page.reload()
    ready(page)
    page.locator("#text p").first.dblclick(position={"x": 20, "y": 10})
    expect(page.locator("#highlight")).to_have_text("Passage")
    page.get_by_role("button", name="Ask the judge for words").click()
    page.get_by_role("button", name="Take these words").click()
    expect(page.locator("#wording")).to_have_value("A passage stands first.")
    picture(page, "wording")
    page.get_by_role("button", name="Propose").click()

    expect(page.locator("#proposals mark")).to_have_text("Passage")
    proposal = NuggetProposal.objects.get()
    assert (proposal.start, proposal.wording and proposal.wording.model) == (0, "m-1")
