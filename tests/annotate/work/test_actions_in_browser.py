"""How many clicks, taps or keys an item takes, going on and submitting included. docs/assessors.md has the table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import cycle

import pytest
from playwright.sync_api import Locator, Page, expect

from annotate.models import Assignment
from collection.models import Collection, Judgment, Study, User
from tests.annotate.battles import a_collection_with_reports, a_study_of_battles
from tests.annotate.categorised_questions import with_categories
from tests.annotate.cited_reports import with_cited_reports
from tests.annotate.evaluated_answers import a_study_of_answers, in_hands
from tests.annotate.factories import a_key_point_task, a_rating_task, a_report_task, an_open_study, enrolled
from tests.annotate.studies.test_lifecycle import rank_everything
from tests.annotate.task_types.test_relevance_and_nuggets import opened, with_nuggets, with_second_reports
from tests.annotate.writers import a_study_of_writing, answered
from tests.attacks.mutations import FULL
from tests.browser import SignIn, close_new_guidelines
from tests.factories import a_collection, a_study, a_user

pytestmark = pytest.mark.browser

# A mouse points as a finger does, and every other test in the browser has one.
WAYS = ["mouse", "keyboard", "touch"] if FULL else ["keyboard", "touch"]
ALL_DONE = "All done. Thank you!"


class Hand:
    """Somebody at the page, in one of three ways, whose clicks, taps and keys are counted."""

    def __init__(self, page: Page, way: str) -> None:
        self.page, self.way, self.n_actions = page, way, 0

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
            self.n_actions += 1

    def point(self, at: Locator) -> None:
        if self.way == "touch":
            at.tap()
        else:
            at.click()
        self.n_actions += 1

    def choose(self, choice: Locator) -> None:
        """Choose a grade: by its key, or on it."""
        if self.way == "keyboard":
            self.press(choice.locator("input").get_attribute("data-key") or "")
        else:
            self.point(choice)

    def mark(self) -> None:
        """Mark the first sentence, or a word of it."""
        if self.way == "keyboard":
            return self.press("t", "s", "Enter")
        if self.way == "mouse":
            self.page.locator("#text p").first.dblclick(position={"x": 40, "y": 12})
            self.n_actions += 1
            return None
        self.page.evaluate(  # what a long press does, which the browser does not do here
            "document.body.dispatchEvent(new PointerEvent('pointerdown', {pointerType: 'touch', bubbles: true}));"
            "getSelection().setBaseAndExtent(document.querySelector('#text p').firstChild, 0,"
            " document.querySelector('#text p').firstChild, 4)"
        )
        self.n_actions += 1
        self.point(self.page.get_by_role("button", name="Mark", exact=True))
        return None

    def go(self, name: str, key: str) -> None:
        """Press the button, or its key."""
        if self.way == "keyboard":
            self.press(key)
        else:
            self.point(self.page.get_by_role("button", name=name))


@pytest.fixture(params=WAYS)
def hand(request: pytest.FixtureRequest, open_page: Callable[..., Page]) -> Hand:
    on_a_phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    return Hand(open_page(**on_a_phone if request.param == "touch" else {}), request.param)


@pytest.fixture
def somebody(hand: Hand, sign_in: SignIn) -> Callable[[str], User]:
    """Sign a new person in, who finds no work but the one about to be made; nothing is counted yet."""

    def somebody(name: str) -> User:
        user = a_user(name)
        sign_in(hand.page, user)
        hand.n_actions = 0
        return user

    return somebody


def a_fresh_study(task_type: str, owner: User, user: User) -> Study:
    """A study of this task type for the person, on a collection of its own."""
    collection = a_collection(owner=owner, name=f"on-{task_type}")
    return a_study_of(task_type, a_study(collection, name=f"draft-{task_type}"), collection, user)


def tasks(page: Page) -> Iterator[int]:
    """Start, and come back for each task until nothing is left."""
    page.goto("/work/")
    page.get_by_role("button", name="Start").click()
    over = page.get_by_role("heading", name=ALL_DONE)
    before = ""
    n = 0
    while True:
        expect(
            page.locator(f"#assignment[data-assignment]:not([data-assignment='{before}'])").or_(over)
        ).to_be_visible()
        if over.count():
            return
        expect(page.locator("#assignment.live, .writing #undo:visible").first).to_be_visible()
        close_new_guidelines(page)
        before = page.locator("#assignment").get_attribute("data-assignment") or ""
        yield n
        n += 1


def grade(page: Page, key: str) -> Locator:
    return page.locator(f".question:visible fieldset:visible label:has(input[data-key='{key}'])")


def importance_is_copied(page: Page) -> bool:
    """Whether the question in view shows how important its nugget is as it was said at another text."""
    return page.locator(".question:visible fieldset.as-before:visible").count() > 0


# --- Questions with grades --------------------------------------------------------------------------

# What is answered about the items in turn, by the keys of the grades, and the most actions an item that this may take.
ANSWERS = {
    "relevance": (["0", "3"], 1.1),
    "rating": (["2", "5"], 1.1),
    "answerability": (["0"], 1.1),  # nothing answerable: nothing to mark
    "key_point": (["0", "14"], 1.5),  # a yes is asked on; with two in five 1.4
    "nugget": (["03", "24"], 1.8),  # its importance is asked once, but for pages that were fetched ahead
    "citation_support": (["2", "4"], 1.1),  # and 0 where a sentence cites nothing
    "sentence_nugget": (["0", "2"], 1.1),
    "battle": (["1", "3"], 1.1),
    "question_fit": (["0", "3"], 1.1),
}


def a_study_of(task_type: str, study: Study, collection: Collection, ada: User) -> Study:
    if task_type in {"relevance", "nugget"}:
        with_nuggets(collection)
        if task_type == "nugget":
            with_second_reports(collection)
        else:
            rank_everything(collection)
        return opened(collection, task_type, ada, overlap=1)
    if task_type in {"citation_support", "sentence_nugget"}:
        with_cited_reports(collection)
        return opened(collection, task_type, ada, overlap=1)
    if task_type == "question_fit":
        with_categories(collection)
        return opened(collection, task_type, ada, overlap=1)
    if task_type == "battle":
        return a_study_of_battles(a_collection_with_reports(collection.owner), ada)
    makers: dict[str, Callable[[Study], object]] = {
        "rating": a_rating_task,
        "answerability": a_report_task,
        "key_point": a_key_point_task,
    }
    makers[task_type](study)
    enrolled(ada, an_open_study(study))
    return study


def test_an_item_takes_hardly_more_than_its_choices(hand: Hand, somebody: Callable[[str], User], rosa: User) -> None:
    page = hand.page
    for task_type, (keys, most) in ANSWERS.items():
        study = a_fresh_study(task_type, rosa, somebody(task_type))
        answers = cycle(keys)
        n_items = n_copied = 0

        for _ in tasks(page):
            assignment = page.locator("#assignment").get_attribute("data-assignment")
            for _ in range(Assignment.objects.get(pk=str(assignment)).asked.count()):
                item = page.locator(".question:visible").get_attribute("data-item")
                is_copied = importance_is_copied(page)
                n_copied += is_copied
                for key in next(answers)[: 1 if is_copied else None]:
                    hand.choose(grade(page, key) if grade(page, key).count() else grade(page, "0"))
                n_items += 1
                page.locator(f".question[data-item='{item}']").wait_for(state="hidden")

        assert n_items >= 2, task_type
        assert Judgment.objects.filter(item__study=study).count() == hand.n_actions + n_copied, task_type
        assert hand.n_actions / n_items <= most, task_type


# With a mark: the mouse's marks it in one, a finger presses long and then "Mark"; keys go into the text, T, once.
WITH_A_MARK = {"mouse": 2, "touch": 3, "keyboard": 4}


def _counts_marks(hand: Hand, study: Study, task_type: str) -> None:
    page = hand.page
    n_items = n_choices = 0

    for _ in tasks(page):
        n_questions = page.locator(".question").count()
        for n in range(n_questions):
            if task_type != "key_point":  # whose points are answered without marks
                hand.mark()
                expect(page.locator(".question:visible .chip"), task_type).not_to_have_count(0)
            keys = {"answerability": "", "rating": "4", "nugget": "24", "key_point": "14"}[task_type]
            item = page.locator(".question:visible").get_attribute("data-item")
            for key in keys[: 1 if importance_is_copied(page) else None]:
                hand.choose(grade(page, key))
                n_choices += 1
            n_items += 1
            if not keys:  # a mark may be followed by another: who is done says so
                if n == n_questions - 1:
                    hand.go("Submit", "Control+Enter")
                else:
                    hand.go("Next", "n")
            expect(page.locator(f".question:visible[data-item='{item}']"), task_type).to_have_count(0)

    marking = {"answerability": WITH_A_MARK[hand.way], "key_point": 0}.get(task_type, WITH_A_MARK[hand.way] - 1)
    assert hand.n_actions == n_items * marking + n_choices, task_type
    marked = Judgment.objects.filter(item__study=study, highlights__isnull=False)
    assert marked.count() == n_items * (marking > 0), task_type


def test_an_item_with_a_mark(hand: Hand, somebody: Callable[[str], User], rosa: User) -> None:
    for task_type in ("answerability", "rating", "nugget", "key_point"):
        study = a_fresh_study(task_type, rosa, somebody(task_type))

        _counts_marks(hand, study, task_type)


# --- Written answers -----------------------------------------------------------------------------


def outcome(page: Page, name: str) -> Locator:
    return page.locator("#outcomes label.choice").filter(has=page.get_by_text(name, exact=True))


def confirm_all(hand: Hand) -> None:
    if hand.way == "keyboard":
        return hand.press("c", "Enter", "Enter", "Enter", "Enter")
    for point in hand.page.locator("#confirmations label").all():
        hand.point(point)
    return None


def put_away(study: Study) -> None:
    """Let another study have the names of this one and its collection."""
    Study.objects.filter(pk=study.pk).update(name=f"study-{study.pk}")
    Collection.objects.filter(pk=study.collection_id).update(name=f"collection-{study.pk}")


def _writes_answers(hand: Hand, somebody: Callable[[str], User], rosa: User) -> None:
    """Of one sentence, put into the answer as it is; what is typed besides is not counted."""
    page = hand.page
    for name, most in (("no answer", 1), ("complete answer", 9)):
        writer = somebody(name.replace(" ", "-"))
        study = a_study_of_writing(owner=rosa, people=[writer], n=2, task_types=["written_answer"])
        n_items = 0

        for _ in tasks(page):
            hand.choose(outcome(page, name))
            if name == "complete answer":
                if hand.way == "keyboard":
                    hand.press("s", "i")
                else:
                    hand.point(page.locator(".sentence").nth(1))
                    hand.point(page.get_by_role("button", name="Insert"))
                confirm_all(hand)
            n_items += 1

        assert Judgment.objects.filter(item__study=study).count() == n_items == 2, name
        assert hand.n_actions / n_items <= most, name
        put_away(study)


def _reads_them_again(hand: Hand, somebody: Callable[[str], User], rosa: User, ben: User) -> None:
    for name, most in (("skipped", 1), ("kept", 6)):
        reader = somebody(name)
        study = a_study_of_writing(owner=rosa, people=[reader, ben])
        answered(ben, study)

        for n in tasks(hand.page):
            if n:
                break
            hand.choose(outcome(hand.page, name))
            if name == "kept":
                confirm_all(hand)

        assert Judgment.objects.filter(item__study=study, rater__user=reader).count() == 1, name
        assert hand.n_actions <= most, name
        put_away(study)


def test_a_written_answer_and_its_second_reading(
    hand: Hand, somebody: Callable[[str], User], rosa: User, ben: User
) -> None:
    _writes_answers(hand, somebody, rosa)
    _reads_them_again(hand, somebody, rosa, ben)


# --- Answers compared ----------------------------------------------------------------------------


def test_the_evaluation_of_answers(hand: Hand, somebody: Callable[[str], User], rosa: User) -> None:
    """Both steps, with passages of the topic: an action a grade, and one to see the passages."""
    ada = somebody("ada")
    study = a_study_of_answers(rosa, retrieved=True)
    page = hand.page
    page.goto(f"/work/{in_hands(ada, study).pk}/")
    expect(page.locator("#assignment.live")).to_be_visible()

    def choose(name: str, key: str) -> None:
        hand.choose(page.locator(f".panel:visible fieldset[data-name^='{name}'] label:has(input[data-key='{key}'])"))

    for letter in "ABC":
        expect(page.locator(".panel:visible h2")).to_have_text(f"Answer {letter}")
        for name, key in [("unknown", "0"), ("incoherent", "0"), ("natural", "3"), ("appropriate", "4")]:
            choose(name, key)
    hand.go("Continue", "Control+Enter")
    expect(page.locator("#submit")).to_be_visible()
    expect(page.locator("#assignment.live")).to_be_visible()
    choose("boxes", "0")  # none of the passages helps
    for letter in "ABC":
        expect(page.locator(".panel:visible h2")).to_contain_text(f"Answer {letter}")
        choose("faithful", "2")
        choose("boxes", "0")
    for _ in range(3):
        expect(page.locator("#tabs [aria-selected=true][id^='tab-pair'][data-state='']")).to_be_visible()
        choose("preference", "2")

    expect(page.get_by_role("heading", name=ALL_DONE)).to_be_visible()
    assert hand.n_actions == 3 * 4 + 1 + 1 + 3 * 2 + 3
    assert Assignment.objects.get().state == Assignment.State.SUBMITTED
