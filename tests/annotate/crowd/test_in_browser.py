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
    expect(page.locator("[name=arrival]")).to_be_attached()


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


def test_from_prolific_through_the_work_on_two_devices_to_one_code(
    page: Page, phone: Page, sign_in: SignIn, prolific: FakeProlific, rosa: User
) -> None:
    sign_in(page, rosa)
    _starting_signs_the_researcher_out_and_says_so_before(page, prolific, rosa)
    _coming_back_in_the_middle_goes_on_with_what_was_there(page, phone, prolific)
    _does_two_tasks_and_gets_the_code_in_both_browsers(page, phone)
    _copies_the_code_by_keyboard(phone, prolific)
    phone.get_by_role("link", name="Submit on Prolific").click()
    expect(phone.get_by_text("Your submission: awaiting review.")).to_be_visible()

    session = CrowdSession.objects.get()
    assert prolific.told == [{"cc": "CDONE"}]
    assert (session.state, session.session_id, session.cohort) == ("completed", SUBMISSION, FakeProlific.study_id)
    assert list(Assignment.objects.values_list("state", flat=True)) == ["submitted", "submitted"]
    assert Judgment.objects.count() == 6


def _starting_signs_the_researcher_out_and_says_so_before(page: Page, prolific: FakeProlific, rosa: User) -> None:
    come_from(prolific, page)
    expect(page.get_by_text("This browser is signed in as rosa")).to_be_visible()
    check_accessibility(page)
    check_no_sideways_scroll(page)

    begin(page)

    task = page.url
    assert Participant.objects.get().user != rosa
    page.goto("/account/")
    expect(page.get_by_text(Participant.objects.get().user.username).first).to_be_visible()
    page.goto(task)
    expect(page.locator("#assignment.live")).to_be_visible()


def _coming_back_in_the_middle_goes_on_with_what_was_there(page: Page, phone: Page, prolific: FakeProlific) -> None:
    page.keyboard.press("0")
    expect(page.locator(".tab[data-state=done]")).to_have_count(1)
    expect(page.locator("#saving")).to_have_attribute("data-state", "saved")

    come_from(prolific, phone)  # on another device
    expect(phone.get_by_text("Welcome back.")).to_be_visible()
    check_accessibility(phone)
    check_no_sideways_scroll(phone)
    begin(phone, "Continue")

    assert phone.url == page.url
    expect(phone.locator(".tab[data-state=done]")).to_have_count(1)
    assert Participant.objects.count() == 1


def _does_two_tasks_and_gets_the_code_in_both_browsers(page: Page, phone: Page) -> None:
    do_two_tasks(phone)
    page.goto("/work/")
    page.get_by_role("button", name="Continue").click()

    for browser in (page, phone):
        expect(browser.get_by_role("heading", name="All done. Thank you!")).to_be_visible()
        expect(browser.get_by_text("CDONE")).to_be_visible()
        check_accessibility(browser)
        check_no_sideways_scroll(browser)


def _copies_the_code_by_keyboard(phone: Page, prolific: FakeProlific) -> None:
    phone.context.grant_permissions(["clipboard-read", "clipboard-write"])
    come_from(prolific, phone)
    expect(phone.get_by_text("You finished this session.")).to_be_visible()
    phone.get_by_role("button", name="See how it ended").click()
    phone.get_by_role("button", name="Copy the code").focus()
    phone.keyboard.press("Enter")

    expect(phone.get_by_role("status").filter(has_text="Copied")).to_be_visible()
    assert phone.evaluate("navigator.clipboard.readText()") == "CDONE"
    check_accessibility(phone)
    check_no_sideways_scroll(phone)


def test_a_study_that_closes_leads_from_the_task_to_the_end_with_its_code(
    phone: Page, prolific: FakeProlific, prolific_entry: CrowdEntry, expected_console_errors: list[str]
) -> None:
    CrowdEntry.objects.update(too_few_code="CFEW")
    come_from(prolific, phone)
    begin(phone)
    close_study(study=prolific_entry.study, at=now())
    expected_console_errors.append("status of 409")

    phone.keyboard.press("0")

    expect(phone.locator("[data-ended=closed]")).to_be_visible()
    expect(phone.locator("#code")).to_have_text("CFEW")
    check_accessibility(phone)
    check_no_sideways_scroll(phone)


def test_whoever_gets_no_work_is_sent_back_to_prolific(
    page: Page, prolific: FakeProlific, prolific_entry: CrowdEntry, rosa: User, expected_console_errors: list[str]
) -> None:
    study = prolific_entry.study
    study.tasks.all().delete()
    come_from(prolific, page)
    page.get_by_role("button", name="Start", exact=True).click()

    expect(page.get_by_role("heading", name="No tasks left")).to_be_visible()
    expect(page.get_by_text("CDONE")).to_have_count(0)
    _goes_to_return_the_submission(page)

    a_report_task(study, "A fourth fact.")
    revise_consent(study=study, markdown="We keep your answers.", by=rosa, at=now())
    for number, button in enumerate(("I do not agree", "I agree")):
        page.context.clear_cookies()
        come_from(prolific, page, f"{OTHER_PID[:-1]}{number}", f"{SUBMISSION[:-1]}{number}")
        _is_asked_for_consent(page, button)
    assert prolific.told == [{"cc": "CNO"}]

    page.context.clear_cookies()
    close_study(study=study, at=now())
    expected_console_errors.append("status of 403")
    page.goto(f"{prolific.url}/study/?pid={OTHER_PID}&submission={OTHER_PID}")
    page.get_by_role("link", name="Open study").click()

    expect(page.get_by_text("The study gives out no work now.")).to_be_visible()
    check_accessibility(page)
    _goes_to_return_the_submission(page)


def _goes_to_return_the_submission(page: Page) -> None:
    page.get_by_role("link", name="Go to your submissions on Prolific").click()
    expect(page.get_by_text("Return your submission here.")).to_be_visible()


def _is_asked_for_consent(page: Page, button: str) -> None:
    """Consent comes before the work, and declining it has its own code."""
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_text("We keep your answers.")).to_be_visible()

    page.get_by_role("button", name=button, exact=True).click()

    if button == "I agree":
        expect(page.locator("#assignment.live")).to_be_visible()
    else:
        page.get_by_role("link", name="Submit on Prolific").click()
        expect(page.get_by_text("Your submission: returned.")).to_be_visible()
        assert CrowdSession.objects.order_by("pk").values_list("state", flat=True).last() == "no_consent"


# --- Mechanical Turk ----------------------------------------------------------------------------


def the_frame(page: Page) -> FrameLocator:
    return page.frame_locator("iframe")


def test_from_the_preview_of_a_hit_through_the_work_to_its_submission(
    page: Page, phone: Page, mturk: FakeMTurk, settings: Settings, expected_console_errors: list[str]
) -> None:
    _a_preview_shows_a_sample_and_makes_nobody(page, mturk)
    for number, browser in enumerate((page, phone)):
        _does_a_hit(browser, mturk, f"{WORKER}{number}", f"{ASSIGNMENT}{number}")

    ended = [(session.state, session.cohort) for session in CrowdSession.objects.all()]
    assert ended == [("completed", FakeMTurk.hit_id)] * 2
    assert mturk.told == [{"assignmentId": f"{ASSIGNMENT}{number}", "code": "done"} for number in (0, 1)]
    assert Judgment.objects.count() == 6
    expected_console_errors += ["frame-ancestors", "ERR_BLOCKED_BY_RESPONSE"]
    settings.MTURK_ORIGINS = ["https://www.mturk.com"]
    with page.expect_event("console", lambda line: "frame-ancestors" in line.text):
        page.goto(f"{mturk.url}/hit/")

    expect(the_frame(page).get_by_text("Accept the HIT")).to_have_count(0)


def _a_preview_shows_a_sample_and_makes_nobody(page: Page, mturk: FakeMTurk) -> None:
    page.goto(f"{mturk.url}/hit/")

    expect(the_frame(page).get_by_text("Accept the HIT")).to_be_visible()
    expect(the_frame(page).get_by_text("What is fact 0 of subject 0?")).to_be_visible()
    expect(the_frame(page).get_by_role("link", name="Open the work")).to_have_count(0)
    assert Participant.objects.count() == 0


def _does_a_hit(page: Page, mturk: FakeMTurk, worker: str, assignment: str) -> None:
    page.goto(f"{mturk.url}/hit/?worker={worker}&assignment={assignment}")

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


# --- Researchers, and whom they invite ----------------------------------------------------------


def test_rosa_invites_an_assessor_who_comes_in_by_a_name_and_back_by_their_link(
    page: Page, open_page: Callable[..., Page], sign_in: SignIn, prolific_entry: CrowdEntry, rosa: User
) -> None:
    study = prolific_entry.study
    sign_in(page, rosa)
    _finds_everything_about_an_entry_under_three_headings(page, study)
    token = _makes_an_invitation(page, study)
    ada = open_page(viewport={"width": 390, "height": 844})
    own_link = _joins_by_a_name(ada, token)

    elsewhere = open_page(viewport={"width": 1280, "height": 800})
    elsewhere.goto(own_link)
    expect(elsewhere.get_by_role("heading", name="Welcome back, Ada of Leuven")).to_be_visible()
    elsewhere.get_by_role("button", name="Continue").click()
    expect(elsewhere.get_by_role("heading", name="My work")).to_be_visible()
    elsewhere.get_by_role("link", name="Continue").click()
    expect(elsewhere.locator("#assignment.live")).to_be_visible()
    assert elsewhere.url == ada.url


def _finds_everything_about_an_entry_under_three_headings(page: Page, study: Study) -> None:
    page.goto(reverse("annotate:crowd_entry", args=[study.name, "prolific"]))

    for heading in ("Pay and time", "Participants and workload", "Codes"):
        expect(page.get_by_role("heading", name=heading)).to_be_visible()
    for field in EntryForm.Meta.fields:
        expect(page.locator(f"main #id_{field}"), field).to_have_count(1)
    page.get_by_text("Floor: at least").click()
    check_accessibility(page)
    page.get_by_label("Floor per hour").fill("-1")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing was saved.")
    expect(page.get_by_label("Floor per hour")).to_be_visible()


def _makes_an_invitation(page: Page, study: Study) -> str:
    page.goto(f"/studies/{study.name}/crowd/")
    page.get_by_text("Create an invitation").click()
    page.get_by_label("Note").fill("Students")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_text("0 of 1 used")).to_be_visible()
    token = study.invitations.get().token
    expect(page.get_by_text(f"/i/{token}/")).to_be_visible()
    return token


def _joins_by_a_name(ada: Page, token: str) -> str:
    """Join, begin to work, and return the link that is the person's own."""
    ada.goto(f"/i/{token}/")
    ada.get_by_label("Your name").fill("Ada of Leuven")
    check_accessibility(ada)
    check_no_sideways_scroll(ada)
    ada.get_by_role("button", name="Join").click()
    expect(ada.get_by_role("heading", name="Keep this link")).to_be_visible()
    check_no_sideways_scroll(ada)
    own_link = ada.locator(".own-link").inner_text()
    begin(ada, "I kept it: start")
    return own_link
