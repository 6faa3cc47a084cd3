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
from tests.factories import a_collection, a_study, a_user

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


def an_arabic_reader(page: Page, sign_in: SignIn, name: str) -> User:
    """Sign a new person in, who reads the pages in Arabic."""
    user = a_user(name, language="ar")
    sign_in(page, user)
    return user


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


def test_a_task_of_each_kind(page: Page, sign_in: SignIn, collection: Collection, study: Study) -> None:
    a_study_of("answerability", study, collection, an_arabic_reader(page, sign_in, "marks"))
    begin(page)
    _marks_stand_in_the_text_and_are_named(page)

    for task_type in ANSWERS:
        _does_a_task_with_grades(page, sign_in, collection.owner, task_type)
        page.evaluate("sessionStorage.clear()")  # the tasks ahead of this reader are not the next one's

    writer = an_arabic_reader(page, sign_in, "writes")
    written = a_study_of_writing(owner=collection.owner, people=[writer], n=1, task_types=["written_answer"])
    begin(page)
    page.locator("#outcomes label.choice").last.click()

    expect(page.get_by_role("heading", name="انتهى كل شيء. شكرًا لك!")).to_be_visible()
    assert submitted(written) == 1

    evaluation = a_study_of_answers(collection.owner, retrieved=True)
    page.goto(f"/work/{in_hands(an_arabic_reader(page, sign_in, 'evaluates'), evaluation).pk}/")
    look_at_the_task(page)
    for letter in "ABC":
        expect(page.locator(".panel:visible h2")).to_have_text(f"الإجابة {letter}")
        for name in ("unknown", "incoherent", "natural", "appropriate"):
            page.locator(f".panel:visible fieldset[data-name='{name}'] label.choice").first.click()
    page.keyboard.press("Control+Enter")

    expect(page.locator("#submit")).to_be_visible()
    look_at_the_task(page)


def _marks_stand_in_the_text_and_are_named(page: Page) -> None:
    page.keyboard.press("t")
    page.keyboard.press("s")
    page.keyboard.press("Enter")

    expect(page.locator(".question:visible .chip")).to_have_count(1)
    expect(page.locator(".marked-help:visible")).to_have_text("المظلَّل في النص:")
    expect(page.locator("#saving")).to_have_text("محفوظ")


def _does_a_task_with_grades(page: Page, sign_in: SignIn, owner: User, task_type: str) -> None:
    collection = a_collection(owner=owner, name=task_type)
    reader = an_arabic_reader(page, sign_in, f"ada-{task_type}")
    study = a_study_of(task_type, a_study(collection, name=f"draft-{task_type}"), collection, reader)
    begin(page)

    _answers_all_questions_by_keyboard(page, task_type)

    expect(page.locator("html[lang=ar]"), task_type).to_have_count(1)
    assert submitted(study) == 1, task_type


def _answers_all_questions_by_keyboard(page: Page, task_type: str) -> None:
    keys, _ = ANSWERS[task_type]
    question = page.locator(".question:visible")
    text = page.locator("#text p").first
    assert text.evaluate("one => getComputedStyle(one).direction") == "ltr", task_type
    for _ in range(page.locator(".question").count()):
        item = question.get_attribute("data-item")
        is_uncited = task_type == "citation_support" and question.locator("input[type=radio]").count() < 5
        for key in "0" if is_uncited else keys[0]:
            page.keyboard.press(key)
        expect(page.locator(f".question:visible[data-item='{item}']"), task_type).to_have_count(0)
