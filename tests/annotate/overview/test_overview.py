"""The head of a study's page: next steps, and how the work goes."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.test import Client
from django.utils.timezone import now
from playwright.sync_api import Page, expect
from pytest_django import DjangoAssertNumQueries

from annotate.models import Assignment
from annotate.overview.next_steps import next_steps
from annotate.overview.timeline import timeline_of
from collection.judgments.services import record_judgment
from collection.models import Study, User
from tests.annotate.crowd_factories import an_entry
from tests.annotate.factories import a_report_task, a_submitted_report, an_open_study, enrolled, in_hands_of
from tests.browser import SignIn, check_accessibility, check_no_sideways_scroll
from tests.factories import a_judge_rater, rater_of

PART = "/studies/bridges-study/overview/"
PAGE = "/studies/bridges-study/"
HTMX = {"HX-Request": "true"}


def does(study: Study) -> list[str]:
    return [step.does for step in next_steps(study)]


# --- What comes next ------------------------------------------------------------------------------


def test_a_draft_needs_people_and_is_then_opened(study: Study, ada: User) -> None:
    assert does(study) == ["Add people", "Open the study"]

    enrolled(ada, study)

    assert does(study) == ["Open the study"]


def test_an_open_study_without_enough_people_asks_for_them(study: Study, ada: User) -> None:
    a_report_task(study, k=2)
    an_open_study(study)
    Study.objects.filter(pk=study.pk).update(overlap=2)
    study.refresh_from_db()
    enrolled(ada, study)

    assert does(study)[0] == "Invite people"

    an_entry(study)
    assert "Invite people" not in does(study)


def test_a_paused_study_is_resumed_by_a_button(study: Study, ada: User) -> None:
    a_report_task(study)
    Study.objects.filter(pk=study.pk).update(state=Study.State.PAUSED)
    study.refresh_from_db()

    first = next_steps(study)[0]

    assert (first.does, first.posts) == ("Resume the study", True)


def test_disagreements_judges_and_publishing_come_after_the_work(judged_by_two: Study) -> None:
    study = judged_by_two

    assert does(study) == ["Start a judge", "Decide 1 disagreement"]

    item = study.items.order_by("pk")[0]
    criterion = study.criteria.get(name="answerability")
    judge = a_judge_rater(study.collection)
    record_judgment(item=item, criterion=criterion, rater=judge, grade=1, at=now())

    assert does(study) == ["Decide 1 disagreement", "Calibrate a judge"]


@pytest.fixture
def judged_by_two(study: Study, ada: User, ben: User) -> Study:
    """Ada and Ben have each submitted the only task, and differ on its first question."""
    task = a_report_task(study, k=2)
    n = task.task_items.count()
    a_submitted_report(in_hands_of(ada, task), [1] * n)
    a_submitted_report(in_hands_of(ben, task), [0] + [1] * (n - 1))
    study.refresh_from_db()
    return study


# --- How the work goes ------------------------------------------------------------------------------


def test_counts_by_day_and_foresees_nothing_from_too_little(judged_by_two: Study) -> None:
    a_report_task(judged_by_two, "Another report.", k=2)

    timeline = timeline_of(judged_by_two, at=now())

    assert timeline is not None
    assert (timeline.submitted, timeline.left, timeline.places) == (2, 2, 4)
    assert timeline.completion is not None
    assert timeline.completion.low is None
    assert "takes 14 days" in timeline.completion.reason
    assert timeline.cone == ""


def test_foresees_the_end_after_weeks_of_work(study: Study, ada: User) -> None:
    for number in range(40):
        a_report_task(study, f"Report {number} says something.", k=1)
    study = an_open_study(study)
    rater = enrolled(ada, study)
    at = now()
    submit_daily(study, rater.pk, n=20, until=at)

    timeline = timeline_of(study, at=at)

    assert timeline is not None
    assert timeline.completion is not None
    assert timeline.left == 20
    assert timeline.completion.low is not None
    # One a day: the last twenty take about twenty days.
    assert timeline.first_end is not None
    assert timeline.last_end is not None
    assert at.date() + timedelta(days=14) < timeline.first_end <= timeline.last_end < at.date() + timedelta(days=27)
    assert timeline.cone


def test_whoever_left_gives_nothing_to_the_forecast(study: Study, ada: User) -> None:
    for number in range(40):
        a_report_task(study, f"Report {number} says something.", k=1)
    study = an_open_study(study)
    rater = enrolled(ada, study)
    submit_daily(study, rater.pk, n=20, until=now())
    study.enrolments.update(left_at=now())

    timeline = timeline_of(study, at=now())

    assert timeline is not None
    assert timeline.completion is not None
    assert timeline.completion.low is None


def submit_daily(study: Study, rater: int, *, n: int, until: datetime) -> None:
    """Have one task submitted in each of the last `n` days."""
    for ago, task in enumerate(study.tasks.order_by("position")[:n]):
        at = until - timedelta(days=ago, hours=2)
        place = task.places.get()
        place.holder_id = rater
        place.save()
        Assignment.objects.create(
            task=task, place=place, rater_id=rater, state="submitted", opened_at=at, touched_at=at, submitted_at=at
        )


# --- The part of the page ------------------------------------------------------------------------------


def test_says_it_in_words_with_the_days_beside(client: Client, judged_by_two: Study, rosa: User) -> None:
    client.force_login(rosa)

    page = client.get(PART, headers=HTMX).content.decode()

    assert "Start a judge" in page
    assert "Decide 1 disagreement" in page
    assert "2 of 2 places submitted" in page
    assert "<polyline" in page


def test_sends_nothing_where_nothing_changed(client: Client, judged_by_two: Study, rosa: User, ada: User) -> None:
    client.force_login(rosa)
    first = client.get(PART, headers=HTMX).content.decode()
    again = first.split('hx-get="')[1].split('"')[0]

    assert client.get(again, headers=HTMX).status_code == 204

    item = judged_by_two.items.order_by("pk")[0]
    criterion = judged_by_two.criteria.get(name="answerability")
    record_judgment(item=item, criterion=criterion, rater=rater_of(ada), grade=0, at=now())
    response = client.get(again, headers=HTMX)
    assert response.status_code == 200
    assert "disagreement" not in response.content.decode()


@pytest.mark.parametrize(
    ("state", "touched_minutes_ago", "seconds"),
    [("open", 1, "15"), ("open", 60, "120"), ("paused", 1, "15"), ("closed", 1, None), ("draft", 1, None)],
)
def test_is_looked_at_again_only_while_work_may_go_on(
    client: Client, judged_by_two: Study, rosa: User, state: str, touched_minutes_ago: int, seconds: str | None
) -> None:
    Assignment.objects.update(touched_at=now() - timedelta(minutes=touched_minutes_ago))
    Study.objects.filter(pk=judged_by_two.pk).update(state=state)
    client.force_login(rosa)

    page = client.get(PART, headers=HTMX).content.decode()

    assert ("data-live" in page) == (seconds is not None)
    assert seconds is None or f'data-live="{seconds}"' in page


def test_strangers_find_nothing_and_others_the_whole_page(client: Client, study: Study, rosa: User, ada: User) -> None:
    client.force_login(ada)
    assert client.get(PART, headers=HTMX).status_code == 404

    client.force_login(rosa)
    assert client.get(PART)["Location"] == PAGE


def test_asks_few_queries_once_it_is_kept(
    client: Client, judged_by_two: Study, rosa: User, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    client.force_login(rosa)
    client.get(PART, headers=HTMX)

    with django_assert_max_num_queries(45):  # most of them are the fingerprint's
        client.get(PART, headers=HTMX)


def test_before_any_judgment_the_page_itself_says_what_to_do_without_a_worker(
    client: Client, study: Study, rosa: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.force_login(rosa)
    monkeypatch.setattr(
        "collection.web.cached_results.recent_result", lambda *_, **__: pytest.fail("A worker was asked.")
    )

    page, part = client.get(PAGE).content.decode(), client.get(PART, headers=HTMX).content.decode()

    assert "Open the study" in page
    assert "Nobody has judged yet" in page
    assert 'hx-trigger="load"' not in page
    assert "waiting-part" not in page
    assert "Open the study" in part


def test_once_something_is_judged_the_page_leaves_the_steps_to_a_worker(
    client: Client, judged_by_two: Study, rosa: User
) -> None:
    client.force_login(rosa)

    page = client.get(PAGE).content.decode()

    assert "Next step" not in page
    assert page.count('hx-trigger="load"') == 2


# --- In a browser ------------------------------------------------------------------------------------


@pytest.mark.browser
def test_the_page_follows_the_work_without_jumping_while_somebody_sees_it(
    page: Page, phone: Page, sign_in: SignIn, judged_by_two: Study, rosa: User, ada: User
) -> None:
    Assignment.objects.update(touched_at=now())
    sign_in(phone, rosa)
    phone.goto(PAGE)

    expect(phone.locator("#overview .timeline")).to_be_visible()
    check_no_sideways_scroll(phone)
    check_accessibility(phone)
    sign_in(page, rosa)
    page.clock.install()
    page.add_init_script("Object.defineProperty(document, 'hidden', { get: () => window.isHidden === true })")
    page.goto(PAGE)
    expect(page.get_by_role("link", name="Decide 1 disagreement")).to_be_visible()
    expect(page.get_by_role("heading", name="Agreement among people")).to_be_visible()

    _does_not_ask_while_nobody_sees_it(page)
    _follows_the_work(page, judged_by_two, ada)


def _does_not_ask_while_nobody_sees_it(page: Page) -> None:
    expect(page.locator("#overview[data-live]")).to_be_visible()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    page.evaluate("window.isHidden = true")
    page.clock.run_for(90_000)
    assert asked == []

    page.evaluate("window.isHidden = false")
    page.clock.run_for(1_500)
    page.wait_for_function("() => true")
    assert any(PART in url for url in asked)


def _follows_the_work(page: Page, study: Study, ada: User) -> None:
    page.locator("#submitted-by-day > summary").click()
    page.locator("#days").focus()
    page.evaluate("window.scrollTo(0, 300)")

    a_report_task(study, "A third report.", k=2)
    item = study.items.order_by("pk")[0]
    criterion = study.criteria.get(name="answerability")
    record_judgment(item=item, criterion=criterion, rater=rater_of(ada), grade=0, at=now())
    page.clock.run_for(20_000)

    expect(page.locator("#overview")).to_contain_text("2 of 4 places submitted")
    expect(page.get_by_role("link", name="Decide 1 disagreement")).to_have_count(0)
    expect(page.locator("#submitted-by-day")).to_have_attribute("open", "")
    expect(page.locator("#days")).to_be_focused()
    check_accessibility(page)
