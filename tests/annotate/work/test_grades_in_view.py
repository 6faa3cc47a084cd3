"""Every grade of a question is in view at once, beside or below its text: what must be scrolled to is chosen less."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from django.db.models import Value
from django.db.models.functions import Concat
from playwright.sync_api import Locator, Page, expect

from annotate.assignments.assignments import submit_assignment
from annotate.models import Assignment
from collection.models import Collection, Passage, Report, RubricElement, Scale, Study, Topic, User
from collection.models.studies import TaskType
from tests.annotate.battles import a_collection_with_reports, a_study_of_battles
from tests.annotate.categorised_questions import with_categories
from tests.annotate.cited_reports import with_cited_reports
from tests.annotate.evaluated_answers import a_study_of_answers, in_hands, rows_of, say, see_the_passages
from tests.annotate.factories import NOON, a_key_point_task, a_rating_task, a_report_task, answer_report, in_hands_of
from tests.annotate.studies.test_lifecycle import rank_everything
from tests.annotate.task_types.test_relevance_and_nuggets import opened, with_nuggets
from tests.annotate.writers import a_study_of_writing, answered, next_of
from tests.browser import SignIn, check_no_sideways_scroll
from tests.factories import a_collection, a_study, a_user

pytestmark = pytest.mark.browser

LAPTOPS = [(1366, 768), (1280, 720)]
PHONES = [(390, 844), (360, 640)]
SMALL_PHONES = [(320, 568), (375, 553)]
LONG_TEXT = "All of it says little of fact 0, and more of fact 1, which stands in a bridge of oak.\n" * 60
LONG_MEANING = (
    "Says all of it that somebody who asked the question would want to read, and says it exactly, "
    "but for small things that a careful reader would look up elsewhere in any case."
)


def answerability(study: Study, ada: User) -> Assignment:
    return in_hands_of(ada, a_report_task(study))


def rating(study: Study, ada: User) -> Assignment:
    """A passage whose sub-questions Ada found answerable, so that what she marked stands there too."""
    report = in_hands_of(ada, a_report_task(study))
    answer_report(report, [1, 1, 1])
    submit_assignment(assignment=report, at=NOON)
    return in_hands_of(ada, a_rating_task(study, after=report.task))


def key_point(study: Study, ada: User) -> Assignment:
    return in_hands_of(ada, a_key_point_task(study))


def relevance(study: Study, ada: User) -> Assignment:
    rank_everything(study.collection)
    return in_hands(ada, opened(study.collection, "relevance", ada, overlap=1))


def nugget(study: Study, ada: User) -> Assignment:
    with_nuggets(study.collection)
    return in_hands(ada, opened(study.collection, "nugget", ada, overlap=1))


def citation_support(study: Study, ada: User) -> Assignment:
    with_cited_reports(study.collection)
    return in_hands(ada, opened(study.collection, "citation_support", ada, overlap=1))


def sentence_nugget(study: Study, ada: User) -> Assignment:
    with_cited_reports(study.collection)
    return in_hands(ada, opened(study.collection, "sentence_nugget", ada, overlap=1))


def question_fit(study: Study, ada: User) -> Assignment:
    with_categories(study.collection)
    return in_hands(ada, opened(study.collection, "question_fit", ada, overlap=1))


def written_answer(study: Study, ada: User) -> Assignment:
    return next_of(ada, a_study_of_writing(owner=study.collection.owner, people=[ada]))


def answer_revision(study: Study, ada: User) -> Assignment:
    ben = a_user("ben")
    writing = a_study_of_writing(owner=study.collection.owner, people=[ada, ben])
    answered(ben, writing)
    return next_of(ada, writing)


def answer_evaluation(study: Study, ada: User) -> Assignment:
    return in_hands(ada, a_study_of_answers(study.collection.owner))


def answer_evaluation_with_passages(study: Study, ada: User) -> Assignment:
    assignment = answer_evaluation(study, ada)
    see_the_passages(assignment)
    return assignment


def pair_of_answers(study: Study, ada: User) -> Assignment:
    assignment = answer_evaluation_with_passages(study, ada)
    for row in rows_of(assignment, TaskType.ANSWER_EVALUATION):
        say(assignment, row, faithful=2)
    for row in rows_of(assignment, TaskType.PASSAGE_USE):
        say(assignment, row, passage_for_answer=0)
    return assignment


def battle(study: Study, ada: User) -> Assignment:
    return in_hands(ada, a_study_of_battles(a_collection_with_reports(study.collection.owner), ada))


ON_THE_TEXT = [answerability, rating, key_point, relevance, nugget, citation_support, sentence_nugget, question_fit]
OTHERS = [
    written_answer,
    answer_revision,
    answer_evaluation,
    answer_evaluation_with_passages,
    pair_of_answers,
]

# The grades in these lists that no eye meets without scrolling: a corner lies outside the window, is cut off by what
# scrolls around it, or lies under something else.
UNSEEN = """(lists) => lists.flatMap((list) => [...list.querySelectorAll(".choice:not(.none)")]).filter((choice) => {
    const box = choice.getBoundingClientRect();
    const [left, right] = [box.left + 8, box.right - 8];
    const [top, bottom] = [box.top + 3, box.bottom - 3];
    const corners = [[left, top], [right, top], [left, bottom], [right, bottom]];
    return !corners.every(([x, y]) => choice.contains(document.elementFromPoint(x, y)));
}).map((choice) => choice.innerText)"""


def lists_of_grades(page: Page) -> Locator:
    lists = page.locator(".choices:visible:not(.boxes)")
    expect(lists).not_to_have_count(0)
    return lists


def with_long_texts() -> None:
    for model in (Passage, Report):
        model.objects.update(text=Concat("text", Value("\n" + LONG_TEXT)))


def with_long_words() -> None:
    """Let the words around the grades be as long as a careful researcher writes them."""
    for scale in Scale.objects.all():
        points = [{**point, "name": f"{point['name']} in every part", "text": LONG_MEANING} for point in scale.points]
        Scale.objects.filter(pk=scale.pk).update(points=points)
    RubricElement.objects.update(
        text="What is known of the people who built the bridge, of what they were paid, and of how they were chosen?"
    )
    Topic.objects.update(request="Report on the bridges of the valley, on who built them, when, and of what. " * 3)


def picture(page: Page, name: str) -> None:
    """Keep a screenshot where SCREENSHOTS says."""
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=Path(folder) / f"{name}.png")


def open_at(page: Page, assignment: Assignment) -> None:
    page.goto(f"/work/{assignment.pk}/")
    expect(page.locator("#assignment.live, .writing #undo:visible")).to_have_count(1)


Work = Callable[[Study, User], Assignment]


def in_studies_of_their_own(works: Sequence[Work], rosa: User, ada: User) -> list[Assignment]:
    """What Ada has in hand of each of these, with a long text."""
    mine = []
    for work in works:
        study = a_study(a_collection(owner=rosa, name=f"on-{work.__name__}"), name=f"draft-{work.__name__}")
        mine.append(work(study, ada))
        of_it = mine[-1].task.study  # the next may be called the same
        Study.objects.filter(pk=of_it.pk).update(name=f"study-{of_it.pk}")
        Collection.objects.filter(pk=of_it.collection_id).update(name=f"collection-{of_it.pk}")
    with_long_texts()
    return mine


def in_windows(page: Page, sizes: Sequence[tuple[int, int]]) -> Iterator[tuple[str, int, int]]:
    """Show each size of window, with the words as they are and then with long ones."""
    for words in ("plain", "long"):
        if words == "long":
            with_long_words()
        for width, height in sizes:
            page.set_viewport_size({"width": width, "height": height})
            yield words, width, height


@pytest.mark.parametrize("works", [ON_THE_TEXT, OTHERS], ids=["on the text", "others"])
def test_all_grades_are_in_view_on_a_laptop(
    page: Page, sign_in: SignIn, rosa: User, ada: User, works: Sequence[Work]
) -> None:
    assignments = in_studies_of_their_own(works, rosa, ada)
    sign_in(page, ada)
    for words, width, height in in_windows(page, LAPTOPS):
        for work, assignment in zip(works, assignments, strict=True):
            open_at(page, assignment)
            name = f"{work.__name__}-{words}-{width}"
            if work is key_point:
                page.keyboard.press("1")
                expect(lists_of_grades(page), name).to_have_count(2)
            for color_scheme in ("dark", "light"):
                page.emulate_media(color_scheme=color_scheme)
                picture(page, f"{name}-{color_scheme}")

            lists = lists_of_grades(page)
            if work is answer_evaluation and words == "long":
                lists = lists.and_(page.locator(".current"))  # one after the other
            assert lists.evaluate_all(UNSEEN) == [], name
            assert page.evaluate("scrollY") == 0, name
            text = page.locator("#text, .sentence-text, .an-answer >> visible=true").first.bounding_box()
            assert text is not None, name
            assert text["y"] < height * 0.55, name


def test_the_text_keeps_half_of_a_phone(phone: Page, sign_in: SignIn, rosa: User, ada: User) -> None:
    assignments = in_studies_of_their_own(ON_THE_TEXT, rosa, ada)
    sign_in(phone, ada)
    for words, width, height in in_windows(phone, PHONES):
        for work, assignment in zip(ON_THE_TEXT, assignments, strict=True):
            open_at(phone, assignment)
            name = f"{work.__name__}-{words}-{width}"
            if work is key_point:
                if words == "plain" and width == PHONES[0][0]:
                    phone.locator(".question:visible label.choice").nth(1).tap()
                expect(lists_of_grades(phone), name).to_have_count(2)
            picture(phone, name)

            bar, panel = phone.locator(".task-bar").bounding_box(), phone.locator("#questions").bounding_box()
            assert bar is not None, name
            assert panel is not None, name
            assert panel["y"] - bar["height"] >= height / 2, name
            assert round(panel["y"] + panel["height"]) == height, name
            if words == "plain":
                unanswered = lists_of_grades(phone).filter(has_not=phone.locator(".choice:not(.none) :checked"))
                assert unanswered.first.evaluate(f"list => ({UNSEEN})([list])") == [], name
            check_no_sideways_scroll(phone)


def test_grades_and_submit_are_in_view_on_a_small_phone(phone: Page, sign_in: SignIn, rosa: User, ada: User) -> None:
    """In German, whose buttons are the longest."""
    User.objects.filter(pk=ada.pk).update(language="de")
    assignments = in_studies_of_their_own(ON_THE_TEXT, rosa, ada)
    sign_in(phone, ada)
    for width, height in SMALL_PHONES:
        phone.set_viewport_size({"width": width, "height": height})
        for work, assignment in zip(ON_THE_TEXT, assignments, strict=True):
            open_at(phone, assignment)
            name = f"{work.__name__}-{width}"
            picture(phone, name)

            assert lists_of_grades(phone).first.evaluate(f"list => ({UNSEEN})([list])") == [], name
            expect(phone.locator("#submit-button"), name).to_be_in_viewport(ratio=1)
            check_no_sideways_scroll(phone)
