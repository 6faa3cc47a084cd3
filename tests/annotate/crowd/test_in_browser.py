"""The whole way of crowd workers in a browser: from their site, through the work, and back with the code."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from django.urls import reverse
from django.utils.timezone import now
from playwright.sync_api import FrameLocator, Page, expect
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from annotate.crowd.forms import EntryForm
from annotate.models import Assignment, CrowdEntry, CrowdSession, Participant
from annotate.quality.consent import revise_consent
from annotate.studies.lifecycle import close_study
from collection.models import Judgment, Study, User
from tests.annotate.crowd_factories import an_entry
from tests.annotate.factories import a_report_task, an_open_study
from tests.annotate.fake_crowd_sites import FakeMTurk, FakeProlific
from tests.browser import SignIn, check_accessibility, check_no_sideways_scroll, close_new_guidelines

pytestmark = [pytest.mark.browser, pytest.mark.by_hand]

PID, OTHER_PID = "5f00000000000000000000aa", "5f00000000000000000000bb"
SUBMISSION = "7b00000000000000000000aa"
WORKER, ASSIGNMENT = "A1FAKEWORKER01", "3ASSIGNMENT00000000000000000001"


@pytest.fixture
def prolific_entry(study: Study) -> CrowdEntry:
    """Two tasks a person, and a third that is one too many."""
    for number in range(3):
        a_report_task(study, f"Fact {number} is here. And that is all of it.")
    return an_entry(an_open_study(study), tasks_per_person=2)


@pytest.fixture
def prolific(
    prolific_entry: CrowdEntry, live_server: LiveServer, settings: Settings, other_hosts: list[str]
) -> Iterator[FakeProlific]:
    site = FakeProlific(codes={"CDONE": "awaiting review", "COUT": "screened out", "CNO": "returned"})
    site.study_url = f"{live_server.url}/p/{prolific_entry.token}/"
    settings.PROLIFIC_URL = site.url
    other_hosts.append(site.url)
    with site.serving():
        yield site


@pytest.fixture
def mturk_entry(study: Study) -> CrowdEntry:
    a_report_task(study)
    return an_entry(an_open_study(study), "mturk", completion_code="done")


@pytest.fixture
def mturk(
    mturk_entry: CrowdEntry, live_server: LiveServer, settings: Settings, other_hosts: list[str]
) -> Iterator[FakeMTurk]:
    site = FakeMTurk()
    site.study_url = f"{live_server.url}/m/{mturk_entry.token}/"
    settings.MTURK_ORIGINS = [site.url]
    other_hosts.append(site.url)
    with site.serving():
        yield site


def come_from(site: FakeProlific, page: Page, pid: str = PID, submission: str = SUBMISSION) -> None:
    """Follow the link of the site to the welcome page."""
    page.goto(f"{site.url}/study/?pid={pid}&submission={submission}")
    page.get_by_role("link", name="Open study").click()
    expect(page.get_by_text("Your data")).to_be_visible()


def begin(page: Page, button: str = "Start") -> None:
    page.get_by_role("button", name=button, exact=True).click()
    expect(page.locator("#assignment.live")).to_be_visible()
    close_new_guidelines(page)


def say_no_to_everything(page: Page) -> None:
    """Answer every question of the task with "not answered" and wait until that is saved."""
    for question in range(3):
        if question:
            page.keyboard.press("n")
        page.keyboard.press("0")
    expect(page.locator("#saving")).to_have_attribute("data-state", "saved")
    expect(page.locator(".tab[data-state=done]")).to_have_count(3)


def submit(page: Page) -> None:
    page.keyboard.press("Control+Enter")


def do_two_tasks(page: Page) -> None:
    first = page.url
    say_no_to_everything(page)
    submit(page)
    page.wait_for_url(lambda url: url != first and bool(re.search(r"/work/\d+/$", url)))
    expect(page.locator("#assignment.live")).to_be_visible()
    say_no_to_everything(page)
    submit(page)
    expect(page.get_by_role("heading", name="All done. Thank you!")).to_be_visible()


# --- Prolific -----------------------------------------------------------------------------------


@pytest.mark.parametrize("width", ["page", "phone"])
def test_from_prolific_through_the_work_to_the_code(
    request: pytest.FixtureRequest, prolific: FakeProlific, width: str
) -> None:
    page: Page = request.getfixturevalue(width)

    come_from(prolific, page)
    check_accessibility(page)
    check_no_sideways_scroll(page)
    begin(page)
    do_two_tasks(page)
    expect(page.get_by_text("CDONE")).to_be_visible()
    check_accessibility(page)
    check_no_sideways_scroll(page)
    page.get_by_role("link", name="Submit on Prolific").click()
    expect(page.get_by_text("Your submission: awaiting review.")).to_be_visible()

    session = CrowdSession.objects.get()
    assert prolific.told == [{"cc": "CDONE"}]
    assert (session.state, session.session_id, session.cohort) == ("completed", SUBMISSION, FakeProlific.study_id)
    assert Assignment.objects.filter(state="submitted").count() == 2
    assert Judgment.objects.count() == 6


def test_coming_back_in_the_middle_goes_on_with_what_was_there(page: Page, phone: Page, prolific: FakeProlific) -> None:
    come_from(prolific, page)
    begin(page)
    page.keyboard.press("0")
    expect(page.locator(".tab[data-state=done]")).to_have_count(1)
    expect(page.locator("#saving")).to_have_attribute("data-state", "saved")

    come_from(prolific, phone)  # on another device
    expect(phone.get_by_text("Welcome back.")).to_be_visible()
    begin(phone, "Continue")

    assert phone.url == page.url
    expect(phone.locator(".tab[data-state=done]")).to_have_count(1)
    assert Participant.objects.count() == 1


def test_one_person_in_two_browsers_gets_one_code_and_no_more_work(
    page: Page, phone: Page, prolific: FakeProlific
) -> None:
    for browser in (page, phone):
        come_from(prolific, browser)
    begin(page)
    begin(phone)
    do_two_tasks(page)

    phone.goto("/work/")
    phone.get_by_role("button", name="Continue").click()

    expect(phone.get_by_role("heading", name="All done. Thank you!")).to_be_visible()
    expect(phone.get_by_text("CDONE")).to_be_visible()
    assert Assignment.objects.count() == 2
    assert CrowdSession.objects.get().state == "completed"


def test_starting_signs_a_researcher_out_and_says_so_before(
    page: Page, sign_in: SignIn, prolific: FakeProlific, rosa: User
) -> None:
    sign_in(page, rosa)
    come_from(prolific, page)
    expect(page.get_by_text("This browser is signed in as rosa")).to_be_visible()

    begin(page)

    assert Participant.objects.get().user != rosa
    page.goto("/account/")
    expect(page.get_by_text(Participant.objects.get().user.username).first).to_be_visible()


@pytest.mark.parametrize(("button", "code"), [("I agree", None), ("I do not agree", "CNO")])
def test_consent_comes_before_the_work_and_declining_it_has_its_own_code(
    page: Page, prolific: FakeProlific, prolific_entry: CrowdEntry, rosa: User, button: str, code: str | None
) -> None:
    revise_consent(study=prolific_entry.study, markdown="We keep your answers.", by=rosa, at=now())
    come_from(prolific, page)
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_text("We keep your answers.")).to_be_visible()

    page.get_by_role("button", name=button, exact=True).click()

    if code:
        page.get_by_role("link", name="Submit on Prolific").click()
        expect(page.get_by_text("Your submission: returned.")).to_be_visible()
        assert prolific.told == [{"cc": code}]
        assert CrowdSession.objects.get().state == "no_consent"
    else:
        expect(page.locator("#assignment.live")).to_be_visible()


def test_whoever_finds_no_work_is_sent_to_return_the_submission(
    page: Page, prolific: FakeProlific, prolific_entry: CrowdEntry
) -> None:
    prolific_entry.study.tasks.all().delete()
    come_from(prolific, page)

    page.get_by_role("button", name="Start", exact=True).click()

    expect(page.get_by_role("heading", name="No tasks left")).to_be_visible()
    expect(page.get_by_text("CDONE")).to_have_count(0)
    page.get_by_role("link", name="Go to your submissions on Prolific").click()
    expect(page.get_by_text("Return your submission here.")).to_be_visible()


def test_a_study_that_closed_says_so(
    page: Page, prolific: FakeProlific, prolific_entry: CrowdEntry, expected_console_errors: list[str]
) -> None:
    expected_console_errors.append("status of 403")
    close_study(study=prolific_entry.study, at=now())

    page.goto(f"{prolific.url}/study/?pid={PID}&submission={SUBMISSION}")
    page.get_by_role("link", name="Open study").click()

    expect(page.get_by_text("The study gives out no work now.")).to_be_visible()
    check_accessibility(page)
    page.get_by_role("link", name="Go to your submissions on Prolific").click()
    expect(page.get_by_text("Return your submission here.")).to_be_visible()


def test_the_code_is_copied_by_keyboard_and_this_is_said(
    open_page: Callable[..., Page], prolific: FakeProlific, prolific_entry: CrowdEntry
) -> None:
    page = open_page(viewport={"width": 390, "height": 844}, permissions=["clipboard-read", "clipboard-write"])
    come_from(prolific, page)
    page.get_by_role("button", name="Start", exact=True).click()
    CrowdSession.objects.update(state="completed", finished_at=now())

    come_from(prolific, page)
    expect(page.get_by_text("You finished this session.")).to_be_visible()
    page.get_by_role("button", name="See how it ended").click()
    copy = page.get_by_role("button", name="Copy the code")
    copy.focus()
    page.keyboard.press("Enter")

    expect(page.get_by_role("status").filter(has_text="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "CDONE"
    check_accessibility(page)
    check_no_sideways_scroll(page)


# --- Mechanical Turk ----------------------------------------------------------------------------


def the_frame(page: Page) -> FrameLocator:
    return page.frame_locator("iframe")


@pytest.mark.parametrize("width", ["page", "phone"])
def test_from_a_hit_through_the_work_to_its_submission(
    request: pytest.FixtureRequest, mturk: FakeMTurk, width: str
) -> None:
    page: Page = request.getfixturevalue(width)
    page.goto(f"{mturk.url}/hit/?worker={WORKER}&assignment={ASSIGNMENT}")

    with page.context.expect_page() as opened:
        the_frame(page).get_by_role("link", name="Open the work").click()
    work = opened.value
    begin(work)
    expect(the_frame(page).get_by_text("You are working.")).to_be_visible()
    say_no_to_everything(work)
    submit(work)
    expect(work.get_by_text("Now go back to the tab of Mechanical Turk")).to_be_visible()
    the_frame(page).get_by_role("button", name="Submit to Mechanical Turk").click()
    expect(the_frame(page).get_by_text("The HIT has been submitted.")).to_be_visible()

    session = CrowdSession.objects.get()
    assert mturk.told == [{"assignmentId": ASSIGNMENT, "code": "done"}]
    assert (session.state, session.cohort) == ("completed", FakeMTurk.hit_id)
    assert Judgment.objects.count() == 3


def test_a_preview_shows_a_sample_and_makes_nobody(page: Page, mturk: FakeMTurk) -> None:
    page.goto(f"{mturk.url}/hit/")

    expect(the_frame(page).get_by_text("Accept the HIT")).to_be_visible()
    expect(the_frame(page).get_by_text("What is fact 0 of subject 0?")).to_be_visible()
    expect(the_frame(page).get_by_role("link", name="Open the work")).to_have_count(0)
    assert Participant.objects.count() == 0


def test_another_site_may_not_frame_it(
    page: Page, mturk: FakeMTurk, settings: Settings, expected_console_errors: list[str]
) -> None:
    expected_console_errors += ["frame-ancestors", "ERR_BLOCKED_BY_RESPONSE"]
    settings.MTURK_ORIGINS = ["https://www.mturk.com"]

    with page.expect_event("console", lambda line: "frame-ancestors" in line.text):
        page.goto(f"{mturk.url}/hit/")

    expect(the_frame(page).get_by_text("Accept the HIT")).to_have_count(0)


# --- Invitations --------------------------------------------------------------------------------


def test_an_invited_assessor_comes_in_by_a_name_and_back_by_their_link(
    page: Page, open_page: Callable[..., Page], sign_in: SignIn, study: Study, rosa: User
) -> None:
    a_report_task(an_open_study(study))
    sign_in(page, rosa)
    page.goto(f"/studies/{study.name}/crowd/")
    page.get_by_text("Create an invitation").click()
    page.get_by_label("Note").fill("Students")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_text("0 of 1 used")).to_be_visible()
    invitation = study.invitations.get()
    expect(page.get_by_text(f"/i/{invitation.token}/")).to_be_visible()

    ada = open_page(viewport={"width": 390, "height": 844})
    ada.goto(f"/i/{invitation.token}/")
    ada.get_by_label("Your name").fill("Ada of Leuven")
    check_accessibility(ada)
    check_no_sideways_scroll(ada)
    ada.get_by_role("button", name="Join").click()
    expect(ada.get_by_role("heading", name="Keep this link")).to_be_visible()
    check_no_sideways_scroll(ada)
    own_link = ada.locator(".own-link").inner_text()
    begin(ada, "I kept it: start")

    elsewhere = open_page(viewport={"width": 1280, "height": 800})
    elsewhere.goto(own_link)
    expect(elsewhere.get_by_role("heading", name="Welcome back, Ada of Leuven")).to_be_visible()
    elsewhere.get_by_role("button", name="Continue").click()
    expect(elsewhere.get_by_role("heading", name="My work")).to_be_visible()
    elsewhere.get_by_role("link", name="Continue").click()
    expect(elsewhere.locator("#assignment.live")).to_be_visible()
    assert elsewhere.url == ada.url


def test_rosa_finds_everything_about_an_entry_under_three_headings(
    page: Page, sign_in: SignIn, prolific_entry: CrowdEntry, rosa: User
) -> None:
    sign_in(page, rosa)

    page.goto(reverse("annotate:crowd_entry", args=[prolific_entry.study.name, "prolific"]))

    for heading in ("Pay and time", "Participants and workload", "Codes"):
        expect(page.get_by_role("heading", name=heading)).to_be_visible()
    for field in EntryForm.Meta.fields:
        expect(page.locator(f"main #id_{field}")).to_have_count(1)
    page.get_by_text("Floor: at least").click()
    check_accessibility(page)
    page.get_by_label("Floor per hour").fill("-1")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing was saved.")
    expect(page.get_by_label("Floor per hour")).to_be_visible()
