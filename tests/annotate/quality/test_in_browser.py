"""Quality in Chromium: from consent to the work, comments by keyboard and on a phone, the researcher's pages."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse
from django.utils.timezone import now
from playwright.sync_api import Page, expect

from annotate.models import Assignment, ConsentAnswer, GoldGrade, QualityRules, TrainingAttempt
from annotate.quality.attention import add_check
from annotate.quality.consent import revise_consent
from annotate.quality.gold import mark_gold
from annotate.quality.inbox import comment_on
from annotate.quality.survey import add_question
from collection.models import Comment, Judgment, Study, User
from tests.annotate.evaluated_answers import a_study_of_answers, in_hands
from tests.annotate.factories import (
    a_key_point_task,
    a_report_task,
    a_submitted_report,
    an_open_study,
    enrolled,
    in_hands_of,
    the_criterion,
)
from tests.annotate.writers import a_study_of_writing, next_of
from tests.browser import SignIn, check_accessibility, check_no_sideways_scroll

pytestmark = [pytest.mark.browser, pytest.mark.by_hand]


def with_gates(study: Study, rosa: User, ada: User) -> None:
    """An open study that asks for consent, a questionnaire of two, and training on two key points: yes, and no."""
    a_report_task(study)
    training = a_key_point_task(study)
    revise_consent(
        study=study, markdown="## What it is about\n\nYou read reports. You may stop at *any* time.", by=rosa, at=now()
    )
    add_question(study=study, text="How old are you?", kind="number")
    add_question(study=study, text="How often do you read?", kind="one", options=["daily", "seldom"])
    for row, grade in zip(list(training.task_items.select_related("item")), (1, 0), strict=True):
        mark_gold(
            item=row.item,
            criterion=the_criterion(study, "grounded"),
            grade=grade,
            purpose="training",
            explanation="Its first sentence says it." if grade else "It says nothing of it.",
            by=rosa,
            at=now(),
        )
    enrolled(ada, an_open_study(study))


def with_its_keys(page: Page) -> None:
    """Wait until the page listens to keys."""
    expect(page.locator("body[data-keys=live]")).to_be_visible()


def check(page: Page) -> None:
    # A button that is changing its colour has no contrast to speak of. What follows scrolling never finishes.
    page.evaluate(
        "Promise.allSettled(document.getAnimations()"
        ".filter((one) => one.timeline === document.timeline).map((one) => one.finished))"
    )
    check_accessibility(page)
    check_no_sideways_scroll(page)


def opened(page: Page, assignment: Assignment) -> None:
    page.goto(reverse("annotate:assignment", args=[assignment.pk]))
    expect(page.locator("#assignment.live")).to_be_visible()


# --- Before the work ------------------------------------------------------------------------------


def test_from_consent_to_the_work_on_a_phone(phone: Page, sign_in: SignIn, study: Study, ada: User, rosa: User) -> None:
    with_gates(study, rosa, ada)
    sign_in(phone, ada)
    phone.goto(reverse("annotate:queue"))

    phone.get_by_role("button", name="Start").tap()
    expect(phone.get_by_role("heading", name="Do you agree to take part?")).to_be_visible()
    check(phone)
    phone.get_by_role("button", name="I agree", exact=True).tap()
    _answers_the_questionnaire(phone)
    _passes_the_training_at_the_second_attempt(phone)

    phone.get_by_role("button", name="Start working").tap()
    expect(phone.locator("#assignment.live")).to_be_visible()
    assert ConsentAnswer.objects.get().agreed
    assert list(TrainingAttempt.objects.values_list("passed", flat=True)) == [False, True]
    assert not Judgment.objects.exists()
    phone.get_by_role("link", name="Comment").tap()
    phone.get_by_label("This item is broken").check()
    check(phone)
    phone.get_by_role("button", name="Send").tap()

    expect(phone.get_by_text("Sent. The researcher will read it.")).to_be_visible()
    expect(phone.get_by_role("link", name="Comment")).to_be_focused()
    check(phone)
    assert Comment.objects.get().broken


def _answers_the_questionnaire(phone: Page) -> None:
    expect(phone.get_by_role("heading", name="A few questions about you")).to_be_visible()
    phone.get_by_role("button", name="Continue").tap()
    expect(phone.get_by_text("Please correct the errors below")).to_be_visible()
    check(phone)
    phone.get_by_label("How old are you?").fill("41")
    phone.get_by_label("daily").check()
    phone.get_by_role("button", name="Continue").tap()


def _passes_the_training_at_the_second_attempt(phone: Page) -> None:
    expect(phone.get_by_role("heading", name="Training", exact=True)).to_be_visible()
    check(phone)
    phone.get_by_role("button", name="Begin the training").tap()
    for first, second in [("no", "yes"), ("yes", "no")]:
        expect(phone.get_by_text("Training, text 1 of 1.")).to_be_visible()
        expect(phone.locator("#assignment.live")).to_be_visible()
        for number, answer in (("1", first), ("2", second)):
            phone.get_by_role("tab", name=number).tap()
            phone.locator("fieldset:visible").get_by_text(answer, exact=True).tap()
            if answer == "yes":  # only then is it asked whether it belongs in an answer
                phone.get_by_text("neutral", exact=True).locator("visible=true").tap()
        check(phone)
        phone.get_by_role("button", name="Check").tap()
        if first == "no":  # there is one text: what is right is shown after the last attempt
            expect(phone.get_by_text("You have 1 attempt left")).to_be_visible()
            check(phone)
            phone.get_by_role("button", name="Try again").tap()

    expect(phone.get_by_role("heading", name="You passed the training")).to_be_visible()
    phone.get_by_text("The right answers").tap()
    phone.locator("details li a").tap()
    expect(phone.get_by_role("heading", name="2 of 2 right")).to_be_visible()
    expect(phone.get_by_text("It says nothing of it.")).to_be_visible()
    check(phone)
    phone.get_by_role("link", name="See the result").tap()


def test_declining_ends_politely_and_all_before_the_work_is_done_by_keyboard(
    page: Page, sign_in: SignIn, study: Study, ada: User, ben: User, rosa: User
) -> None:
    with_gates(study, rosa, ada)
    sign_in(page, ada)
    page.goto(reverse("annotate:consent", args=[study.name]))

    page.get_by_role("button", name="I do not agree").click()

    expect(page.get_by_role("heading", name="Thank you for your time")).to_be_visible()
    check(page)
    page.get_by_role("link", name="Go to my work").click()
    expect(page.get_by_role("heading", name="Nothing to do yet")).to_be_visible()

    enrolled(ben, study)
    sign_in(page, ben)
    study.consent_texts.all().delete()
    study.survey_questions.all().delete()
    _trains_by_keyboard_alone(page, study)
    add_check(study=study, after=0, question="Please choose ‘often’ here.", options=["often", "never"], right=0)
    page.goto(reverse("annotate:attention", args=[study.name]))
    check(page)
    with_its_keys(page)

    page.keyboard.press("1")
    expect(page.get_by_role("radio", name="often")).to_be_checked()
    page.keyboard.press("Control+Enter")

    expect(page.locator("#assignment.live")).to_be_visible()
    assert study.attention_checks.get().answers.get().passed


def _trains_by_keyboard_alone(page: Page, study: Study) -> None:
    QualityRules.objects.create(study=study, attempts=1)
    page.goto(reverse("annotate:training", args=[study.name]))
    page.get_by_role("button", name="Begin the training").press("Enter")
    expect(page.get_by_text("Training, text 1 of 1.")).to_be_visible()
    expect(page.locator("#assignment.live")).to_be_visible()

    for key in ("1", "3", "n", "0"):  # yes, neutral; the next question: no
        page.keyboard.press(key)
    expect(page.locator("#progress")).to_have_text("2 of 2")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="2 of 2 right")).to_be_visible()
    with_its_keys(page)
    page.keyboard.press("Control+Enter")

    expect(page.get_by_role("heading", name="You passed the training")).to_be_visible()


# --- Comments -------------------------------------------------------------------------------------


def test_comments_are_made_on_every_screen_and_reach_the_inbox(
    page: Page, sign_in: SignIn, study: Study, ada: User, rosa: User
) -> None:
    assignment = in_hands_of(ada, a_report_task(study))
    sign_in(page, ada)
    opened(page, assignment)
    _comments_by_keyboard(page, assignment)
    _comments_offline_and_it_is_sent_when_the_connection_is_back(page)
    for other in (in_hands(ada, a_study_of_answers(rosa)), next_of(ada, a_study_of_writing(owner=rosa, people=[ada]))):
        _comments_with_the_mouse(page, other)

    Comment.objects.exclude(text="Which fact 1?").delete()
    sign_in(page, rosa)
    page.goto(reverse("annotate:study", args=[study.name]))
    expect(page.get_by_text("1 waiting")).to_be_visible()
    page.get_by_role("link", name="Inbox").click()
    expect(page.get_by_text("Which fact 1?")).to_be_visible()
    check(page)
    page.get_by_role("button", name="Mark as handled").click()
    expect(page.get_by_role("button", name="Reopen")).to_be_visible()
    assert Comment.objects.get().handled_by == rosa


def _comments_by_keyboard(page: Page, assignment: Assignment) -> None:
    page.keyboard.press("n")
    page.keyboard.press("w")
    expect(page.get_by_label("Comment", exact=True)).to_be_focused()
    expect(page.get_by_label("About")).to_have_value(str(assignment.asked.order_by("position")[1].item_id))
    check_accessibility(page)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Enter a comment")).to_be_visible()
    page.keyboard.type("Which fact 1?")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("status").filter(has_text="Sent. The researcher will read it.")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("0")  # the page's keys work again
    expect(page.locator("#progress")).to_have_text("1 of 3")
    expect(page.locator("#saving")).to_have_attribute("data-state", "saved")


def _comments_offline_and_it_is_sent_when_the_connection_is_back(page: Page) -> None:
    page.context.set_offline(True)
    page.keyboard.press("w")
    page.get_by_label("Comment", exact=True).fill("Sent from a tunnel.")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_text("You are offline: your comment is kept here")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
    with page.expect_response(re.compile("/comment/")):
        page.context.set_offline(False)

    assert Comment.objects.filter(text="Sent from a tunnel.").count() == 1


def _comments_with_the_mouse(page: Page, assignment: Assignment) -> None:
    page.goto(reverse("annotate:assignment", args=[assignment.pk]))

    page.get_by_role("link", name="Comment").click()
    page.get_by_label("Comment", exact=True).fill("Hm.")
    check(page)
    page.get_by_role("button", name="Send").click()

    expect(page.get_by_text("Sent. The researcher will read it.")).to_be_visible()
    assert Comment.objects.get(item__study=assignment.task.study).text == "Hm."


# --- The researcher's pages -----------------------------------------------------------------------


def test_rosa_excludes_somebody_and_marks_an_item_and_her_pages_fit_a_phone(
    page: Page, phone: Page, sign_in: SignIn, study: Study, ada: User, rosa: User
) -> None:
    a_submitted_report(in_hands_of(ada, a_report_task(study)), [1, 0, 0])
    sign_in(page, rosa)
    _excludes_and_lifts(page, study)
    _marks_an_item(page, study)

    item = GoldGrade.objects.get().item
    comment_on(item=item, rater=ada.rater, text="x" * 300, broken=True, at=now())
    add_question(study=study, text="How often do you read?", kind="one", options=["daily", "seldom"])
    add_check(study=study, after=3, question="Please choose ‘b’.", options=["a", "b"], right=1)
    sign_in(phone, rosa)
    more: dict[str, list[object]] = {"person": ["ada"], "gold_item": [item.pk]}
    for name in ("people", "person", "inbox", "checks", "gold", "gold_item"):
        phone.goto(reverse(f"annotate:{name}", args=[study.name, *more.get(name, [])]))
        check(phone)


def _excludes_and_lifts(page: Page, study: Study) -> None:
    page.goto(reverse("annotate:people", args=[study.name]))
    check(page)

    page.get_by_role("link", name="ada").click()
    page.locator("summary", has_text="Exclude").click()
    page.get_by_label("Reason").fill("Clicks through.")
    page.get_by_role("button", name="Exclude ada").click()
    expect(page.get_by_text("Excluded from the statistics since")).to_be_visible()
    check(page)
    page.get_by_role("button", name="Include again").click()
    expect(page.get_by_text("ada is included in the statistics again")).to_be_visible()

    expect(page.get_by_text("Clicks through.")).to_be_visible()
    assert Judgment.objects.without_the_excluded().count() == 3


def _marks_an_item(page: Page, study: Study) -> None:
    page.goto(reverse("annotate:checks", args=[study.name]))
    check(page)

    page.get_by_role("link", name="Mark items").click()
    page.get_by_label("Search").fill("q1")
    page.get_by_role("button", name="Search").click()
    page.get_by_role("link", name="q1").click()
    page.get_by_label("1 – answerable").check()
    page.get_by_label("Explanation").fill("The second sentence says it.")
    check(page)
    page.get_by_role("button", name="Save").click()

    expect(page.get_by_role("cell", name="silent gold")).to_be_visible()
    check(page)
