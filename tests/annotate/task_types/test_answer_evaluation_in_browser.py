"""An evaluation of answers from start to finish: with the mouse, on a phone, by keyboard alone, without JavaScript."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from annotate.models import Assignment
from collection.models import ChangedPage, Judgment, PairOrder, User
from collection.models.studies import TaskType
from tests.annotate.evaluated_answers import (
    SYSTEMS,
    a_study_of_answers,
    in_hands,
    judge_the_answers_alone,
    judge_the_rest,
    rows_of,
)
from tests.annotate.work.test_highlights_in_browser import CHANGE, TRANSLATED
from tests.browser import SignIn, check_accessibility, check_no_sideways_scroll

pytestmark = [pytest.mark.browser, pytest.mark.by_hand]

PASSAGE = "makes a bridge hum"


def saved(page: Page) -> None:
    """Wait until the page says that everything is saved."""
    expect(page.locator("#saving")).to_have_attribute("data-state", "saved")
    expect(page.locator("#saving")).to_have_text("Saved")


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def step(page: Page) -> Locator:
    return page.locator(".steps [aria-current=step]")


def open_assignment(page: Page, assignment: Assignment) -> None:
    page.goto(f"/work/{assignment.pk}/")
    expect(page.locator("#assignment.live")).to_be_visible()


def grades(name: str) -> list[float | None]:
    """The grades under a criterion, in the order in which the assessor met the items."""
    judged = Judgment.objects.filter(criterion__name=name).order_by("item__asked__position")
    return list(judged.values_list("grade", flat=True))


def choose(page: Page, name: str, words: str) -> None:
    """Choose a grade of the criterion in the panel that is seen."""
    page.locator(f".panel:visible fieldset[data-name={name}] .choice").filter(
        has=page.get_by_text(words, exact=True)
    ).click()


# --- From start to finish ------------------------------------------------------------------------


def test_answers_by_keyboard_alone_and_with_the_mouse(page: Page, sign_in: SignIn, rosa: User, ada: User) -> None:
    sign_in(page, ada)
    _evaluates_by_keyboard_alone(page, in_hands(ada, a_study_of_answers(rosa, retrieved=True)))
    Judgment.objects.all().delete()
    _evaluates_with_the_mouse(page, in_hands(ada, a_study_of_answers(rosa, name="once-more")))


def _evaluates_by_keyboard_alone(page: Page, assignment: Assignment) -> None:
    open_assignment(page, assignment)
    assert PASSAGE not in page.content()

    _judges_the_answers_alone_while_offline(page)
    expect(page.locator("#assignment.live")).to_be_visible()
    press(page, "1", "3", "n")  # passages 1 and 3 help with the question
    press(page, "4", "2", "n")  # faithful; the second passage says it
    press(page, "3", "0", "n")  # mostly; none of the passages
    press(page, "1", "n", "2", "n", "3")
    expect(page.locator("#progress")).to_have_text("6 of 6")
    saved(page)
    press(page, "Control+Enter")
    expect(page.get_by_role("heading", name="All done. Thank you!")).to_be_visible()

    sides = [row.swapped for row in rows_of(assignment, TaskType.PREFERENCE)]
    assert grades("unknown") == [0, 0, 1]
    assert grades("natural") == [3, 2]
    assert grades("appropriate") == [4, 1]
    assert grades("faithful") == [4, 3]
    assert grades("passage_for_question") == [1, 0, 1]
    assert grades("passage_for_answer") == [0, 1, 0, 0, 0, 0]
    assert grades("preference") == [-1 if sides[0] else 1, 0, 1 if sides[2] else -1]
    assert [order.swapped for order in PairOrder.objects.order_by("judgment__item__asked__position")] == sides
    assert Assignment.objects.get(pk=assignment.pk).active_seconds > 0


def _judges_the_answers_alone_while_offline(page: Page) -> None:
    """Nothing is lost, and no passage is shown before the answers have arrived."""
    page.context.set_offline(True)
    press(page, "0", "0", "3", "4", "n")
    press(page, "0", "0", "2", "1", "n")
    press(page, "1")  # the third answer says that it does not know: that is all
    expect(page.locator("#progress")).to_have_text("3 of 3")
    expect(page.locator("#saving")).to_have_text("Offline – 9 choices are kept here")
    press(page, "Control+Enter")
    expect(page.locator("#says")).to_contain_text("when the network is back")
    page.context.set_offline(False)
    expect(step(page)).to_have_text("2 Passages and pairs")
    assert grades("natural") == [3, 2]


def _evaluates_with_the_mouse(page: Page, assignment: Assignment) -> None:
    open_assignment(page, assignment)

    for letter in "ABC":
        page.get_by_role("tab", name=f"Answer {letter},").click()
        choose(page, "unknown", "no")
        choose(page, "incoherent", "no")
        choose(page, "natural", "mostly yes")
        choose(page, "appropriate", "yes")
    page.get_by_role("button", name="Continue").click()
    expect(step(page)).to_have_text("2 Passages and pairs")
    for letter in "ABC":
        page.get_by_role("tab", name=f"Answer {letter} and").click()
        expect(page.locator(".panel:visible").get_by_text("The wind makes a bridge hum.")).to_be_visible()
        choose(page, "faithful", "mostly no")
    page.evaluate(CHANGE, [".panel .verbatim", TRANSLATED])
    for pair in page.locator("#tabs .tab").filter(has_text="–").all():
        pair.click()
        choose(page, "preference", "Tie")
    saved(page)
    expect(page.locator("#page-changed")).to_have_count(1)
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", name="All done. Thank you!")).to_be_visible()

    assert grades("faithful") == [2, 2, 2]
    pairs = rows_of(assignment, TaskType.PREFERENCE)
    assert {note.item for note in ChangedPage.objects.all()} == {row.item for row in pairs}
    assert grades("preference") == [0, 0, 0]


def test_answers_on_a_phone(phone: Page, sign_in: SignIn, rosa: User, ada: User) -> None:
    assignment = in_hands(ada, a_study_of_answers(rosa, retrieved=True))
    sign_in(phone, ada)
    open_assignment(phone, assignment)

    for letter in "ABC":
        expect(phone.locator(".panel:visible h2")).to_have_text(f"Answer {letter}")
        choose(phone, "unknown", "no")
        choose(phone, "incoherent", "no")
        choose(phone, "natural", "yes")
        choose(phone, "appropriate", "mostly yes")
        check_no_sideways_scroll(phone)
        if letter != "C":
            phone.get_by_role("button", name="Next").tap()
    phone.get_by_role("button", name="Continue").tap()
    expect(step(phone)).to_have_text("2 Passages and pairs")
    phone.get_by_role("checkbox", name="None of them").filter(visible=True).tap()
    for letter in "ABC":
        phone.get_by_role("button", name="Next").tap()
        expect(phone.locator(".panel:visible h2")).to_have_text(f"Answer {letter} and its passages")
        choose(phone, "faithful", "yes")
        phone.get_by_role("checkbox", name="Passage 1").filter(visible=True).tap()
        check_no_sideways_scroll(phone)
    for _ in range(3):
        phone.get_by_role("button", name="Next").tap()
        phone.locator(".panel:visible .choice").first.tap()
        check_no_sideways_scroll(phone)
    saved(phone)
    phone.get_by_role("button", name="Submit").tap()
    expect(phone.get_by_role("heading", name="All done. Thank you!")).to_be_visible()

    assert grades("passage_for_question") == [0, 0, 0]
    assert sorted(grades("passage_for_answer"), key=str) == [0] * 6 + [1] * 3
    assert len(grades("preference")) == 3


def test_answers_without_javascript(open_page: Callable[..., Page], sign_in: SignIn, rosa: User, ada: User) -> None:
    assignment = in_hands(ada, a_study_of_answers(rosa, systems=("alder", "birch"), retrieved=True))
    page = open_page(viewport={"width": 1280, "height": 800}, java_script_enabled=False)
    sign_in(page, ada)
    page.goto(f"/work/{assignment.pk}/")

    for panel in page.locator(".panel").all():
        for name, words in (("unknown", "no"), ("incoherent", "no"), ("natural", "yes"), ("appropriate", "yes")):
            panel.locator(f"fieldset[data-name={name}] .choice").filter(has=page.get_by_text(words, exact=True)).click()
    page.get_by_role("button", name="Continue").click()
    page.wait_for_url(re.compile(rf"/work/{assignment.pk}/$"))
    for box in page.get_by_role("checkbox", name="Passage 2").all():
        box.check()
    for faithful in page.locator("fieldset[data-name=faithful]").all():
        faithful.get_by_role("radio", name="mostly no").check()
    page.locator(".panel.pair").get_by_role("radio").first.check()
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#messages")).to_contain_text("Saved.")
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", name="All done. Thank you!")).to_be_visible()

    assert grades("passage_for_question") == [0, 1, 0]
    assert grades("passage_for_answer") == [0, 1, 0, 0, 1, 0]
    assert grades("faithful") == [2, 2]


# --- What it insists on, takes back and does not tell ---------------------------------------------


def test_each_step_insists_on_its_answers_takes_them_back_and_names_no_system(
    page: Page, sign_in: SignIn, rosa: User, ada: User
) -> None:
    assignment = in_hands(ada, a_study_of_answers(rosa, retrieved=True))
    sign_in(page, ada)
    page.emulate_media(color_scheme="dark")
    open_assignment(page, assignment)
    before = page.content()
    check_accessibility(page)
    press(page, "?")
    expect(page.get_by_role("heading", name="Keys", exact=True)).to_be_visible()
    press(page, "Escape")
    page.emulate_media(color_scheme="light")

    _unknown_closes_the_rest_and_undo_opens_it_again(page)
    _insists_on_every_answer_before_the_passages(page, assignment)
    after = page.content()
    assert PASSAGE in after
    assert not [name for name in SYSTEMS if name in before + after + page.url]

    _insists_on_boxes(page)
    _an_emptied_box_takes_the_answer_back(page)
    _every_tab_is_accessible(page)
    page.emulate_media(color_scheme="dark")
    _insists_on_pairs(page, assignment)
    _every_tab_is_accessible(page)


def _every_tab_is_accessible(page: Page) -> None:
    for tab in page.get_by_role("tab").all():
        tab.click()
        check_accessibility(page)


def _unknown_closes_the_rest_and_undo_opens_it_again(page: Page) -> None:
    natural = page.locator("#alone-a fieldset[data-name=natural]")

    press(page, "0", "0", "3")
    saved(page)
    press(page, "ArrowUp", "ArrowUp", "ArrowUp", "1")
    expect(natural).to_be_hidden()
    saved(page)
    closed = grades("natural")
    press(page, "u")
    expect(natural.get_by_role("radio", name="mostly yes")).to_be_checked()
    saved(page)

    assert closed == []
    assert grades("natural") == [3]
    assert grades("unknown") == [0]


def _insists_on_every_answer_before_the_passages(page: Page, assignment: Assignment) -> None:
    Judgment.objects.all().delete()
    open_assignment(page, assignment)
    check_accessibility(page)

    press(page, "0", "0", "3", "4", "Control+Enter")

    expect(page.locator("#says")).to_have_text("Answer B: Choose an answer.")
    expect(step(page)).to_have_text("1 Answers alone")
    saved(page)
    assert PASSAGE not in page.content()
    judge_the_answers_alone(assignment)
    open_assignment(page, assignment)
    press(page, "Control+Enter")
    expect(step(page)).to_have_text("2 Passages and pairs")
    expect(page.locator("#assignment.live")).to_be_visible()


def _insists_on_boxes(page: Page) -> None:
    press(page, "Control+Enter")

    expect(page.locator("#says")).to_have_text("Passages for the question: Tick what applies, or “None of them”.")


def _an_emptied_box_takes_the_answer_back(page: Page) -> None:
    press(page, "1", "2", "1")
    saved(page)
    assert grades("passage_for_question") == [0, 1, 0]
    press(page, "2")
    saved(page)
    assert grades("passage_for_question") == []
    press(page, "0")
    saved(page)
    assert grades("passage_for_question") == [0, 0, 0]


def _insists_on_pairs(page: Page, assignment: Assignment) -> None:
    judge_the_rest(assignment)
    Judgment.objects.filter(item=rows_of(assignment, TaskType.PREFERENCE)[-1].item).delete()
    open_assignment(page, assignment)

    press(page, "Control+Enter")

    expect(page.locator("#says")).to_contain_text(re.compile(r"Answers [A-C] and [A-C]: Choose an answer\."))
