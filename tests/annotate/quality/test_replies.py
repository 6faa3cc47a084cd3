"""Replies to comments: the researcher’s in the inbox, the assessor’s on My work."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import Page, expect
from pytest_django import DjangoAssertNumQueries

from annotate.models import Assignment
from annotate.notices.notices import Kind, notices_of
from annotate.quality.inbox import comment_on, waiting_in
from annotate.quality.replies import reply_to
from collection.models import Comment, CommentReply, Study, User
from tests.annotate.factories import NOON
from tests.annotate.quality_factories import address, first_item, signed_in
from tests.browser import SignIn, check_accessibility, check_no_sideways_scroll


@pytest.fixture
def comment(in_hand: Assignment, ada: User, study: Study) -> Comment:
    return comment_on(item=first_item(study), rater=ada.rater, text="The text is cut.", at=NOON)


def test_a_reply_handles_the_comment_and_tells_its_assessor(
    comment: Comment, rosa: User, ada: User, study: Study
) -> None:
    client = signed_in(rosa)

    response = client.post(address("inbox_reply", study, comment.pk), {"text": " Judge what is there. "})
    seen = signed_in(ada).get("/work/").text

    comment.refresh_from_db()
    assert response["Location"] == address("inbox", study)
    assert comment.handled_by == rosa
    assert comment.replies.get().text == "Judge what is there."
    assert [notice.kind for notice in notices_of(ada)] == [Kind.REPLY]
    assert "The text is cut." in seen
    assert "Judge what is there." in seen
    assert "rosa" not in seen.split("Replies to your comments")[1]


def test_who_answers_back_lets_the_comment_wait_again(comment: Comment, rosa: User, ada: User, study: Study) -> None:
    reply = reply_to(comment=comment, by=rosa, text="Which one?", at=NOON)
    handled = waiting_in(study)

    response = signed_in(ada).post(f"/work/comments/{comment.pk}/reply/", {"text": "The last."})
    inbox = signed_in(rosa).get(address("inbox", study)).text

    reply.refresh_from_db()
    assert response.status_code == 302
    assert (handled, waiting_in(study)) == (0, 1)
    assert "The last." in inbox
    assert reply.read_at is not None


def test_marks_replies_as_read(comment: Comment, rosa: User, ada: User, study: Study) -> None:
    reply_to(comment=comment, by=rosa, text="Thank you.", at=NOON)
    client = signed_in(ada)
    unread = client.get("/work/").text

    client.post(f"/work/comments/{comment.pk}/read/")

    assert "Mark as read" in unread
    assert "Mark as read" not in client.get("/work/").text
    assert "not read yet" not in signed_in(rosa).get(address("inbox", study), {"show": "all"}).text


def test_the_same_reply_sent_twice_is_one(comment: Comment, rosa: User) -> None:
    for _ in range(2):
        reply_to(comment=comment, by=rosa, text="Thank you.", at=NOON)

    assert CommentReply.objects.count() == 1


@pytest.mark.parametrize(("text", "said"), [("  ", "Enter a reply."), ("x" * 5_001, "At most 5,000 characters")])
def test_what_is_no_reply_is_refused(comment: Comment, rosa: User, study: Study, text: str, said: str) -> None:
    piece = signed_in(rosa).post(
        address("inbox_reply", study, comment.pk), {"text": text}, headers={"HX-Request": "true"}
    )

    assert piece.status_code == 422
    assert said in piece.text
    assert not CommentReply.objects.exists()


def test_nobody_replies_to_what_is_not_theirs(
    comment: Comment, rosa: User, ben: User, mallory: User, study: Study
) -> None:
    reply_to(comment=comment, by=rosa, text="Thank you.", at=NOON)
    replied = address("inbox_reply", study, comment.pk)

    assert signed_in(mallory).post(replied, {"text": "Mine."}).status_code == 404
    assert signed_in(ben).post(f"/work/comments/{comment.pk}/reply/", {"text": "Mine."}).status_code == 404
    assert signed_in(ben).post(f"/work/comments/{comment.pk}/read/").status_code == 404
    assert CommentReply.objects.get().text == "Thank you."


def test_a_comment_without_a_reply_takes_no_answer(comment: Comment, ada: User) -> None:
    assert signed_in(ada).post(f"/work/comments/{comment.pk}/reply/", {"text": "Well?"}).status_code == 404


def test_replies_are_escaped(comment: Comment, rosa: User, ada: User, study: Study) -> None:
    hostile = "<script>alert(1)</script>"
    reply_to(comment=comment, by=rosa, text=hostile, at=NOON)
    reply_to(comment=comment, by=ada, text=f"{hostile}!", by_rater=True, at=NOON)

    for page in (signed_in(ada).get("/work/").text, signed_in(rosa).get(address("inbox", study)).text):
        assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 2
        assert hostile not in page


def test_my_work_takes_as_many_queries_however_much_is_said(
    comment: Comment, rosa: User, ada: User, study: Study, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    client: Client = signed_in(ada)
    for number in range(12):
        one = comment_on(item=first_item(study), rater=ada.rater, text=f"No. {number}", at=NOON)
        reply_to(comment=one, by=rosa, text="Thank you.", at=NOON)

    with django_assert_max_num_queries(30):
        assert client.get("/work/").text.count("Thank you.") == 10


def test_the_api_lists_and_makes_replies(comment: Comment, rosa: User, study: Study) -> None:
    client = signed_in(rosa)
    path = f"/api/v1/studies/{study.name}/comments/"

    made = client.post(f"{path}{comment.pk}/replies/", {"text": "Thank you."}, content_type="application/json")
    empty = client.post(f"{path}{comment.pk}/replies/", {"text": " "}, content_type="application/json")
    long = client.post(f"{path}{comment.pk}/replies/", {"text": "x" * 6000}, content_type="application/json")
    listed: dict[str, Any] = client.get(path).json()["results"][0]

    assert (made.status_code, empty.status_code, long.status_code) == (201, 400, 400)
    assert [(reply["author"], reply["text"]) for reply in listed["replies"]] == [("rosa", "Thank you.")]
    assert listed["handled_at"]


@pytest.mark.browser
def test_a_conversation_in_the_browser(
    page: Page, phone: Page, sign_in: SignIn, comment: Comment, rosa: User, ada: User, study: Study
) -> None:
    sign_in(page, rosa)
    page.goto(address("inbox", study))
    page.get_by_text("Reply", exact=True).click()
    page.get_by_label("Your reply").fill("Judge what is there.")
    page.get_by_role("button", name="Send the reply").click()
    expect(page.locator(".comment")).to_contain_text("handled by rosa")
    check_accessibility(page)

    sign_in(phone, ada)
    phone.goto("/work/")
    phone.get_by_role("link", name="A researcher replied to your comment.").click()
    expect(phone.locator(".comment")).to_contain_text("Judge what is there.")
    check_accessibility(phone)
    check_no_sideways_scroll(phone)
    phone.locator(".comment").get_by_text("Answer", exact=True).click()
    phone.get_by_label("Your answer").fill("All of it?")
    phone.get_by_role("button", name="Send", exact=True).click()
    expect(phone.locator(".comment")).to_contain_text("All of it?")
    phone.get_by_role("button", name="Dismiss").click()
    expect(phone.get_by_role("heading", name="Notices")).to_have_count(0)

    page.reload()
    expect(page.locator(".comment")).to_contain_text("All of it?")
