"""Spans over any text come back from the browser exactly as the stored text has them."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotate.models import Assignment
from collection.models import ChangedPage, Highlight, Study, User
from collection.models.texts import text_hash
from tests.annotate.factories import a_report_task, in_hands_of
from tests.annotate.work.test_assignment_in_browser import open_assignment, press, reports_in_hand, saved
from tests.browser import SignIn, check_accessibility

pytestmark = pytest.mark.browser

TEXTS = {
    "crlf": ("One line.\r\nAnother\r\nline.\r\n\r\nThe end.", "Another\r\nline."),
    "lone carriage returns": ("One\rtwo\rthree", "two\rthree"),
    "leading newlines": ("\n\n  One. Two.", "Two."),
    "emoji": ("A 🌉 bridge 👩‍👩‍👧 of a 🇳🇴 family 👍🏽 stands.", "👩‍👩‍👧 of a 🇳🇴 family 👍🏽"),
    "arabic": ("يبدأ التقرير هنا. بُني الجسر عام 1998 🌉 وانتهى.", "بُني الجسر عام 1998 🌉"),
    "hebrew": ("הגשר נבנה ב־1998. שָׁלוֹם לכולם.", "שָׁלוֹם"),
    "both directions": ("The word שלום means peace.\r\nכן: it does.", "שלום means"),
    "combining": ("Cafe\u0301 and na\u0308ive; e\u0301te\u0301.", "na\u0308ive; e\u0301te\u0301"),
    "beyond the basic plane": ("𝒜 𝓑 𐍈 𠀀 end", "𐍈 𠀀"),
    "markup": ("a < b && c > d </p><script>alert(1)</script> &amp; end", "</p><script>alert(1)</script> &amp;"),
    "spaces": ("a\u00a0b\u2009c \t d\u200be\u2028f\u2029g \ufeff h", "b\u2009c \t d\u200be\u2028f\u2029g"),
    "controls": ("a\x0bb\x0cc\x1fd\x85e\x9ff", "b\x0cc\x1fd\x85e"),
    "thai": ("สะพานสร้างเสร็จในปี 2541 และเปิดใช้", "สร้างเสร็จในปี 2541"),
}

SELECT = """([from, to]) => {  // in UTF-16 units of the whole text, over the page's text nodes
    const walker = document.createTreeWalker(document.getElementById("text"), NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    for (let before = 0, node; (node = walker.nextNode()); before += node.length) {
        if (from >= before && from < before + node.length) range.setStart(node, from - before);
        if (to > before && to <= before + node.length) range.setEnd(node, to - before);
    }
    getSelection().removeAllRanges();
    getSelection().addRange(range);
}"""


def drawn(page: Page, layer: str) -> list[str]:
    texts: list[str] = page.evaluate(f"[...CSS.highlights.get('{layer}')].map((range) => range.toString())")
    return texts


def utf16(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def marks_of(assignment: Assignment, order: str = "start") -> list[str]:
    marks = Highlight.objects.filter(judgment__item__asked__assignment=assignment).order_by(order)
    return list(marks.values_list("quote", flat=True))


def test_spans_of_any_script_come_back_exactly_and_are_drawn_where_they_stand(
    page: Page, sign_in: SignIn, study: Study, ada: User
) -> None:
    assignments = reports_in_hand(ada, study, [text for text, _ in TEXTS.values()])
    sign_in(page, ada)

    for (name, (text, quote)), assignment in zip(TEXTS.items(), assignments, strict=True):
        open_assignment(page, assignment)
        start = text.index(quote)
        end = start + len(quote)
        page.evaluate(SELECT, [utf16(text[:start]), utf16(text[:end])])
        press(page, "Enter")
        saved(page)

        stored = Highlight.objects.filter(judgment__item__asked__assignment=assignment)
        assert page.evaluate("document.getElementById('text').textContent") == text, name
        assert list(stored.values_list("start", "end", "quote", "text_sha256")) == [
            (start, end, quote, text_hash(text))
        ], name
        page.reload()
        expect(page.locator("#assignment.live"), name).to_be_visible()
        assert drawn(page, "support") == [quote], name


PARTS = {  # what is selected, and the whole words of it
    "latin": ("The old bridge stands.", "ld bri", "old bridge"),
    "arabic": ("يبدأ التقرير هنا. بُني الجسر عام 1998.", "تقرير ه", "التقرير هنا"),
    "chinese": ("我们在北京大学学习", "京大", "北京大学"),
    "japanese": ("東京都の橋が建つ。", "京都", "東京都"),
    "thai": ("สะพานสร้างเสร็จในปี 2541", "ร้างเส", "สร้างเสร็จ"),
    "emoji": ("A 🌉 bridge 👩‍👩‍👧 stands.", "ridge 👩", "bridge 👩‍👩‍👧"),
    "punctuation": ("“Oak,” she said.", "Oak,”", "Oak,”"),
}


def test_the_mouse_marks_whole_words_and_with_alt_what_is_selected(
    page: Page, sign_in: SignIn, study: Study, ada: User
) -> None:
    assignments = reports_in_hand(ada, study, [text for text, *_ in PARTS.values()])
    sign_in(page, ada)
    release = "alt => document.body.dispatchEvent(new MouseEvent('mouseup', {altKey: alt, bubbles: true}))"

    for (name, (text, part, whole)), assignment in zip(PARTS.items(), assignments, strict=True):
        open_assignment(page, assignment)
        start = utf16(text[: text.index(part)])
        for alt in (False, True):
            page.evaluate(SELECT, [start, start + utf16(part)])
            page.evaluate(release, alt)
        saved(page)

        marked = Highlight.objects.filter(judgment__item__asked__assignment=assignment).order_by("pk")
        assert [(one.start, one.quote) for one in marked] == sorted(
            {(text.index(whole), whole), (text.index(part), part)}, key=lambda one: one[1] != whole
        ), name


# --- The caret ----------------------------------------------------------------------------------


def _selects_by_characters_with_alt(page: Page) -> list[str]:
    press(page, "t", "ArrowRight", "Alt+Shift+ArrowLeft", "Enter")
    press(page, "Alt+Shift+ArrowRight", "Enter")
    press(page, "Shift+ArrowLeft", "Alt+Shift+ArrowRight", "Enter")
    return ["tw", "two👍🏽", "ne two"]


def _marks_words_of_any_script(page: Page) -> list[str]:
    press(page, "t", "ArrowLeft", "Enter")  # leftwards is forwards here
    press(page, "ArrowDown", "ArrowRight", "Shift+ArrowRight", "Enter")
    press(page, "End", "s", "Enter")
    return ["לכולם", "bridge\r\nstands", "橋が建つ。"]


def _selects_beyond_the_text(page: Page) -> list[str]:
    press(page, "Control+a")
    press(page, "Enter")
    return ["All of it.\nTo the end."]


def _marks_overlap(page: Page) -> list[str]:
    press(page, "t", "Shift+ArrowRight", "Shift+ArrowRight", "Enter")
    press(page, "ArrowLeft", "Shift+ArrowRight", "Shift+ArrowRight", "Enter")
    saved(page)
    assert drawn(page, "overlap") == ["two three"]
    return ["one two three", "two three four"]


def _asks_for_other_questions_marks(page: Page) -> list[str]:
    press(page, "t", "Enter", "Escape", "n")
    assert drawn(page, "elsewhere") == []
    press(page, "o")
    assert drawn(page, "elsewhere") == ["one"]
    return ["one"]


BY_CARET: list[tuple[str, Callable[[Page], list[str]]]] = [
    ("one two👍🏽 three four", _selects_by_characters_with_alt),
    ("שלום לכולם.\r\nThe 🌉 bridge\r\nstands. 橋が建つ。", _marks_words_of_any_script),
    ("All of it.\nTo the end.\n", _selects_beyond_the_text),
    ("one two three four", _marks_overlap),
    ("one two three four", _asks_for_other_questions_marks),
]


def test_the_caret_marks_characters_words_and_what_is_marked_already(
    page: Page, sign_in: SignIn, study: Study, ada: User
) -> None:
    assignments = reports_in_hand(ada, study, [text for text, _ in BY_CARET])
    sign_in(page, ada)

    for (_, step), assignment in zip(BY_CARET, assignments, strict=True):
        open_assignment(page, assignment)
        marked = step(page)
        saved(page)

        order = "pk" if step is _selects_by_characters_with_alt else "start"
        assert marks_of(assignment, order) == marked, step.__name__


# --- Marks changed, found and shown ---------------------------------------------------------------

PLACE = """(words) => {  // the middle of these words in the window
    const node = document.getElementById("text").firstChild.firstChild;
    const range = document.createRange();
    range.setStart(node, node.data.indexOf(words));
    range.setEnd(node, node.data.indexOf(words) + words.length);
    const box = range.getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 2];
}"""


def _moves_the_ends_and_removes(page: Page, assignment: Assignment) -> None:
    open_assignment(page, assignment)
    press(page, "t", "ArrowRight", "Shift+ArrowRight", "Shift+ArrowRight", "Enter", "Escape")

    page.mouse.click(*page.evaluate(PLACE, "four"))
    press(page, "Shift+ArrowRight", "e", "Shift+ArrowRight", "Alt+Shift+ArrowRight", "Enter")
    assert drawn(page, "support") == ["hree four five"]
    page.mouse.click(*page.evaluate(PLACE, "four"))
    page.get_by_role("button", name="Move the start a word back").click()
    page.get_by_role("button", name="Done").click()
    saved(page)
    assert marks_of(assignment) == ["three four five"]
    page.mouse.click(*page.evaluate(PLACE, "four"))
    press(page, "Shift+ArrowRight", "Escape")
    assert drawn(page, "support") == ["three four five"]
    page.mouse.click(*page.evaluate(PLACE, "four"))
    check_accessibility(page)
    press(page, "Delete")
    saved(page)

    assert drawn(page, "support") == []
    assert marks_of(assignment) == []


def test_a_mark_is_chosen_by_a_click_or_a_key_to_be_moved_or_removed(
    page: Page, sign_in: SignIn, study: Study, ada: User
) -> None:
    first, second = reports_in_hand(ada, study, ["one two three four five six", "one two three four"])
    sign_in(page, ada)
    _moves_the_ends_and_removes(page, first)

    open_assignment(page, second)
    press(page, "t", "Enter", "ArrowRight", "Enter", "Home", "e")
    page.get_by_role("button", name="Remove this mark").click()
    saved(page)

    assert marks_of(second) == ["two"]


def _finds_and_marks(page: Page, assignment: Assignment) -> None:
    open_assignment(page, assignment)
    field = page.get_by_role("textbox", name="Find in the text")
    expect(field).to_be_hidden()

    press(page, "/")
    field.fill("CAFE")
    expect(page.get_by_role("search")).to_contain_text("1 of 2")
    check_accessibility(page)
    press(page, "Escape", "Enter", "/", "Enter")
    expect(page.get_by_role("search")).to_contain_text("2 of 2")
    assert drawn(page, "found") == ["cafe\u0301", "Café"]
    press(page, "Escape", "Enter", "/")
    field.fill("بني")
    press(page, "Escape", "Enter", "/")
    field.fill("nowhere")
    expect(page.get_by_role("search")).to_contain_text("Not found")
    press(page, "Escape")
    saved(page)

    assert marks_of(assignment) == ["cafe\u0301", "Café", "بُني"]
    assert drawn(page, "found") == []


def _comes_back_to_a_mark_far_below(page: Page, assignment: Assignment) -> None:
    open_assignment(page, assignment)
    press(page, "t", "End", "Enter", "Escape", "n")
    expect(page.locator(".tick")).to_have_count(0)
    page.evaluate("scrollTo(0, 0)")

    press(page, "p")
    assert page.evaluate("scrollY") > 1_000
    page.evaluate("scrollTo(0, 0)")
    page.locator(".tick").click()

    assert page.evaluate("scrollY") > 1_000


# What a browser's translation does to each piece of text, and an extension to words: (element, before the text).
CHANGE = """([selector, before]) => {
    for (const root of document.querySelectorAll(selector)) {
        const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
        const nodes = [];
        while (walker.nextNode()) nodes.push(walker.currentNode);
        for (const node of nodes.filter(({ data }) => data.trim())) {
            const [outer, inner] = ["font", "font"].map((name) => document.createElement(name));
            inner.textContent = before + node.data;
            outer.append(inner);
            node.replaceWith(outer);
        }
    }
}"""
TRANSLATED = "Ganz andere Wörter und mehr davon. "


def _marks_nothing_on_a_changed_page(page: Page, assignment: Assignment) -> None:
    open_assignment(page, assignment)
    note = page.locator("#page-changed")
    for judged in ("#text", ".question-text"):
        assert page.locator(judged).first.evaluate("(one) => one.translate") is False
    press(page, "t", "Enter", "Escape")
    saved(page)
    expect(note).to_have_count(0)

    page.evaluate(CHANGE, ["#text", TRANSLATED])
    box = page.locator("#text font").first.bounding_box()
    assert box
    page.mouse.dblclick(box["x"] + box["width"] - 20, box["y"] + box["height"] - 8)  # behind where the text ended
    expect(page.locator("#says")).not_to_be_empty()
    expect(note).to_have_count(1)
    check_accessibility(page)
    press(page, "t", "ArrowRight", "Enter", "Escape")
    assert not ChangedPage.objects.exists()
    press(page, "n", "0")
    saved(page)
    page.evaluate("getSelection().selectAllChildren(document.querySelector('#text'))")
    press(page, "Enter")
    expect(note).to_have_count(1)

    assert marks_of(assignment) == ["one"]
    assert list(ChangedPage.objects.values_list("item__asked__position", "rater")) == [(1, assignment.rater_id)]
    open_assignment(page, assignment)
    expect(note).to_have_count(0)
    press(page, "t", "ArrowRight", "Enter")
    saved(page)
    assert marks_of(assignment) == ["one", "two"]


def test_what_was_found_is_marked_and_a_mark_is_shown_with_its_question_and_by_its_tick(
    page: Page, sign_in: SignIn, study: Study, ada: User
) -> None:
    texts = ["🌉 Un cafe\u0301 noir. Le Café du pont. بُني الجسر.", "A line of words.\n" * 200, "one two three four"]
    first, second, third = reports_in_hand(ada, study, texts)
    sign_in(page, ada)

    _finds_and_marks(page, first)
    _comes_back_to_a_mark_far_below(page, second)
    _marks_nothing_on_a_changed_page(page, third)


# --- Long documents -----------------------------------------------------------------------------

LONG = "\n\n".join(
    " ".join(
        f"Sentence {s} of paragraph {p} says that bridge number {p * s} was built in {1900 + s}." for s in range(8)
    )
    for p in range(195)
)  # 20,280 words


def test_a_document_of_twenty_thousand_words_opens_and_answers_without_delay(
    page: Page, sign_in: SignIn, study: Study, ada: User
) -> None:
    assert len(LONG.split()) > 20_000
    assignment = in_hands_of(ada, a_report_task(study, LONG))
    sign_in(page, ada)
    open_assignment(page, assignment)

    page.reload()
    expect(page.locator("#assignment.live")).to_be_visible()
    usable = page.evaluate("performance.getEntriesByName('usable')[0].startTime")
    answered = page.evaluate("performance.getEntriesByType('navigation')[0].responseEnd")
    started = time.perf_counter()
    press(page, "t", "End", "s", "Enter")
    marked = time.perf_counter() - started
    saved(page)

    assert usable - answered < 1_000  # 0.2 s on an idle machine
    assert marked < 2
    assert re.match(r"Sentence 7 of paragraph 194 .* in 1907\.$", Highlight.objects.get().quote)
