"""A task of each kind, done in Arabic: from right to left, with its text in its own direction."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from annotate.models import Assignment
from collection.models import Collection, Study, User
from tests.annotate.evaluated_answers import a_study_of_answers, in_hands
from tests.annotate.work.test_actions_in_browser import ANSWERS, a_study_of
from tests.annotate.writers import a_study_of_writing
from tests.browser import SignIn, check_accessibility, close_new_guidelines

pytestmark = pytest.mark.browser

# What of a page is not its own words: texts, questions and grades of the study, keys, names.
OF_OTHERS = (
    "[dir=auto], #text-title, bdi, kbd, .site-name, .question-text, .languages, .reading, noscript, script, option"
)
WORDS = f"""() => {{
  const main = document.body.cloneNode(true);
  for (const one of main.querySelectorAll(`{OF_OTHERS}, [hidden], .visually-hidden:empty`)) one.remove();
  const labels = [...main.querySelectorAll('[aria-label], [title]')].map((one) => one.ariaLabel ?? one.title);
  return [main.textContent, ...labels].join(' ');
}}"""
LATIN = re.compile(r"[A-Za-z]{3,}")
NAMES = {"Ctrl", "Esc"}


@pytest.fixture
def arabic(page: Page, sign_in: SignIn, ada: User) -> Page:
    ada.language = "ar"
    ada.save()
    sign_in(page, ada)
    return page


def begin(page: Page) -> None:
    page.goto("/work/")
    page.get_by_role("button", name="ابدأ").click()
    look_at_the_task(page)


def look_at_the_task(page: Page) -> None:
    expect(page.locator("#assignment.live, .writing #undo:visible").first).to_be_visible()
    close_new_guidelines(page)
    expect(page.locator("html[lang=ar][dir=rtl]")).to_have_count(1)
    english = set(LATIN.findall(page.evaluate(WORDS))) - NAMES
    assert not english
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    check_accessibility(page)


def submitted(study: Study) -> int:
    return Assignment.objects.filter(task__study=study, state=Assignment.State.SUBMITTED).count()


@pytest.mark.parametrize("task_type", ANSWERS)
def test_a_task_with_grades(arabic: Page, study: Study, collection: Collection, ada: User, task_type: str) -> None:
    study = a_study_of(task_type, study, collection, ada)
    keys, _ = ANSWERS[task_type]
    begin(arabic)

    text = arabic.locator("#text p").first
    assert text.evaluate("one => getComputedStyle(one).direction") == "ltr"
    for _ in range(arabic.locator(".question").count()):
        item = arabic.locator(".question:visible").get_attribute("data-item")
        is_uncited = (
            task_type == "citation_support" and arabic.locator(".question:visible input[type=radio]").count() < 5
        )
        for key in "0" if is_uncited else keys[0]:
            arabic.keyboard.press(key)
        expect(arabic.locator(f".question:visible[data-item='{item}']")).to_have_count(0)

    expect(arabic.locator("html[lang=ar]")).to_have_count(1)
    assert submitted(study) == 1


def test_marks_stand_in_the_text_and_are_named(arabic: Page, study: Study, collection: Collection, ada: User) -> None:
    a_study_of("answerability", study, collection, ada)
    begin(arabic)

    arabic.keyboard.press("t")
    arabic.keyboard.press("s")
    arabic.keyboard.press("Enter")

    expect(arabic.locator(".question:visible .chip")).to_have_count(1)
    expect(arabic.locator(".marked-help:visible")).to_have_text("المعلَّم في النص:")
    expect(arabic.locator("#saving")).to_have_text("محفوظ")


def test_a_written_answer(arabic: Page, rosa: User, ada: User) -> None:
    study = a_study_of_writing(owner=rosa, people=[ada], n=1, task_types=["written_answer"])
    begin(arabic)

    arabic.locator("#outcomes label.choice").last.click()

    expect(arabic.get_by_role("heading", name="انتهى كل شيء. شكرًا لك!")).to_be_visible()
    assert submitted(study) == 1


def test_an_evaluation_of_answers(arabic: Page, rosa: User, ada: User) -> None:
    study = a_study_of_answers(rosa, retrieved=True)
    arabic.goto(f"/work/{in_hands(ada, study).pk}/")
    look_at_the_task(arabic)

    for letter in "ABC":
        expect(arabic.locator(".panel:visible h2")).to_have_text(f"الإجابة {letter}")
        for name in ("unknown", "incoherent", "natural", "appropriate"):
            arabic.locator(f".panel:visible fieldset[data-name='{name}'] label.choice").first.click()
    arabic.keyboard.press("Control+Enter")

    expect(arabic.locator("#submit")).to_be_visible()
    look_at_the_task(arabic)
