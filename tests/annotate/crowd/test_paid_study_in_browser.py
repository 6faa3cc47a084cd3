"""A paid study from the file to the code, in a browser: the researcher imports, opens and pays; a participant works."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from pytest_django.fixtures import Settings

from annotate.models import CrowdEntry, CrowdSession, QualityRules
from annotate.quality.gold import mark_gold
from collection.models import Item, Judgment, Study, User
from tests.annotate.factories import NOON
from tests.annotate.fake_crowd_sites import FakeProlific
from tests.browser import SignIn, check_accessibility, check_no_sideways_scroll, close_new_guidelines

pytestmark = [pytest.mark.browser, pytest.mark.by_hand, pytest.mark.django_db(transaction=True)]

PID, SUBMISSION = "5f00000000000000000000a", "7b00000000000000000000a"  # all but their last letters
TASKS = 2
SCREENS: dict[str, dict[str, Any]] = {
    "laptop": {"viewport": {"width": 1366, "height": 768}},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
}


@pytest.fixture
def texts(tmp_path: Path, settings: Settings) -> Path:
    settings.MEDIA_ROOT = tmp_path / "media"
    lines: list[dict[str, object]] = [{"type": "topic", "topic_id": "t0", "request": "What holds a pier?"}]
    lines += [
        {"type": "passage", "passage_id": f"t0-p{n}", "text": f"Pile number {n} holds the pier."} for n in range(4)
    ]
    lines += [{"type": "system", "name": "owl"}, {"type": "run", "name": "owl", "system": "owl"}]
    lines += [
        {"type": "ranking", "run": "owl", "topic_id": "t0", "passage_id": f"t0-p{n}", "rank": n + 1, "score": 10 - n}
        for n in range(4)
    ]
    path = tmp_path / "piers.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


def make_the_study(page: Page, texts: Path) -> Study:
    page.goto("/new-collection/")
    page.get_by_label("Title").fill("Piers")
    page.get_by_label("Name").fill("piers")
    page.get_by_role("button", name="Create collection").click()
    page.goto("/collections/piers/import/")
    page.get_by_role("radio", name=re.compile("^Assize JSONL")).check()
    page.get_by_label("Files", exact=True).set_input_files(texts)
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_text("is imported")).to_be_visible()
    page.goto("/studies/new/?collection=piers")
    page.get_by_label("Title", exact=True).fill("Piers by hand")
    page.get_by_role("checkbox", name=re.compile("^relevance", re.IGNORECASE)).check()
    page.get_by_role("button", name="Create draft").click()
    expect(page.get_by_role("heading", name="Piers by hand")).to_be_visible()
    return Study.objects.get()


def ask_for_consent(page: Page, study: Study) -> None:
    page.goto(f"/studies/{study.name}/checks/?template=crowd")
    box = page.get_by_label("Consent text")
    box.fill(re.sub(r"\[to fill in: [^\]]*\]", "as agreed", box.input_value()))
    page.get_by_role("button", name="Activate").click()
    expect(page.get_by_text("Version 1 of the consent text is active.")).to_be_visible()


def open_recruitment(page: Page, study: Study) -> CrowdEntry:
    page.goto(f"/studies/{study.name}/crowd/prolific/")
    page.get_by_label("Reward").fill("3.00")
    page.get_by_label("Estimated minutes").fill("20")
    page.get_by_label("Tasks per person").fill(str(TASKS))
    page.get_by_label("Places at the site").fill("5")
    page.get_by_label("Only links signed by Prolific").uncheck()
    page.get_by_label("Contact").fill("rosa@example.org")
    page.get_by_label("Completion code").fill("CDONE")
    page.get_by_role("button", name="Open recruitment").click()
    expect(page.get_by_role("button", name="Copy the study link")).to_be_visible()
    return CrowdEntry.objects.get()


def answer(page: Page, button: str) -> None:
    """Grade the text that is shown with the lowest grade and hand it in: by keyboard, or by touch on a phone."""
    expect(page.locator("#assignment.live")).to_be_visible()
    close_new_guidelines(page)
    before = page.url
    if page.evaluate("matchMedia('(pointer: coarse)').matches"):
        page.locator("label", has=page.locator("input[type=radio][value='0'], input[type=radio][value='0.0']")).tap()
        page.get_by_role("button", name=re.compile(f"^{button}")).tap()
    else:
        page.keyboard.press("0")
        expect(page.locator("input[type=radio]:checked")).to_have_count(1)
        page.keyboard.press("Control+Enter")
    page.wait_for_url(lambda url: url != before)


def train(page: Page) -> None:
    page.get_by_role("button", name="Begin the training").click()
    answer(page, "Check")
    page.locator("#onward").click()
    page.get_by_role("button", name="Start working").click()


def test_a_paid_study_from_the_file_to_the_code(
    open_page: Callable[..., Page],
    sign_in: SignIn,
    settings: Settings,
    other_hosts: list[str],
    rosa: User,
    texts: Path,
) -> None:
    """The researcher makes all of it on a phone, and sees it on both; one participant has a laptop, one a phone."""
    researchers = {screen: open_page(**options) for screen, options in SCREENS.items()}
    for researcher in researchers.values():
        sign_in(researcher, rosa)
    study, entry = _makes_and_opens_the_study(researchers["phone"], texts)
    researchers["laptop"].goto(f"/studies/{study.name}/crowd/prolific/")
    check_no_sideways_scroll(researchers["laptop"])

    prolific = FakeProlific(codes={"CDONE": "awaiting review"})
    prolific.study_url = researchers["phone"].url.split("/studies/")[0] + f"/p/{entry.token}/"
    settings.PROLIFIC_URL = prolific.url
    other_hosts.append(prolific.url)
    with prolific.serving():
        for screen, last in (("laptop", "a"), ("phone", "b")):
            _works_from_the_link_to_the_code(open_page(**SCREENS[screen]), prolific, f"{PID}{last}", SUBMISSION + last)

    for session in CrowdSession.objects.all():
        assert session.state == "completed"
        assert Judgment.objects.filter(rater__user=session.participant.user).count() == TASKS
    assert {session.session_id for session in CrowdSession.objects.all()} == {f"{SUBMISSION}a", f"{SUBMISSION}b"}
    for researcher in researchers.values():
        researcher.goto(f"/studies/{study.name}/crowd/")
        expect(researcher.get_by_text("The median hourly pay is")).to_be_visible()
        check_no_sideways_scroll(researcher)
    exported = researcher.request.get(f"/studies/{study.name}/crowd/judgments.csv").text().splitlines()
    assert len(exported) == 1 + 2 * TASKS
    assert [sum(f"{PID}{last}" in line for line in exported[1:]) for last in "ab"] == [TASKS, TASKS]


def _makes_and_opens_the_study(researcher: Page, texts: Path) -> tuple[Study, CrowdEntry]:
    study = make_the_study(researcher, texts)
    entry = open_recruitment(researcher, study)
    check_no_sideways_scroll(researcher)
    ask_for_consent(researcher, study)
    researcher.goto(f"/studies/{study.name}/")
    researcher.get_by_role("region", name=re.compile("^Next step")).get_by_role("button", name="Open the study").click()
    expect(researcher.get_by_text("open", exact=True).first).to_be_visible()
    item = Item.objects.filter(study=study).order_by("pk")[0]
    rosa = study.collection.owner
    mark_gold(item=item, criterion=study.criteria.get(), grade=0, purpose="training", by=rosa, at=NOON)
    QualityRules.objects.create(study=study, attempts=1)
    return study, entry


def _reads_the_offer(person: Page) -> None:
    """Pay, time and tasks are a line each, over the button; the rest opens."""
    offer = person.locator("dl [data-offer]")
    assert offer.evaluate_all("lines => lines.map((line) => line.dataset.offer)") == ["reward", "time", "tasks"]
    assert all(height < 30 for height in offer.evaluate_all("lines => lines.map((line) => line.clientHeight)"))
    expect(person.get_by_role("button", name="Start", exact=True)).to_be_in_viewport(ratio=1)
    rest = person.locator("[data-offer=rest]")
    expect(rest.get_by_role("listitem").first).to_be_hidden()
    check_accessibility(person)

    rest.locator("summary").press("Enter")

    expect(rest.get_by_text("A training with 1 text")).to_be_visible()
    check_no_sideways_scroll(person)
    check_accessibility(person)


def _works_from_the_link_to_the_code(person: Page, prolific: FakeProlific, pid: str, submission: str) -> None:
    person.goto(f"{prolific.url}/study/?pid={pid}&submission={submission}")
    person.get_by_role("link", name="Open study").click()
    _reads_the_offer(person)
    person.get_by_role("button", name="Start", exact=True).click()
    expect(person.get_by_text("session: GBP 3.00")).to_be_visible()
    person.get_by_role("button", name="I agree", exact=True).click()
    train(person)
    for _ in range(TASKS):
        answer(person, "Submit")
    expect(person.get_by_text("CDONE")).to_be_visible()
    check_no_sideways_scroll(person)
    person.get_by_role("link", name="Submit on Prolific").click()
    expect(person.get_by_text("Your submission: awaiting review.")).to_be_visible()
