"""Comments: from the screen of an assignment to the researcher’s inbox."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now
from pytest_django import DjangoAssertNumQueries

from annotate.models import (
    Assignment,
)
from annotate.quality.inbox import broken_items, comment_on
from collection.models import Comment, Study, User
from tests.annotate.factories import (
    NOON,
)
from tests.annotate.quality_factories import address, first_item, signed_in
from tests.factories import rater_of

# --- Comments --------------------------------------------------------------------------------------


def say(client: Client, assignment: Assignment, **comment: object) -> Any:
    item = assignment.asked.order_by("position")[0].item_id
    return client.post(
        reverse("annotate:comment", args=[assignment.pk]),
        {"item": item, "text": "", "broken": False, **comment},
        content_type="application/json",
    )


def test_a_comment_reaches_the_inbox(in_hand: Assignment, ada: User, rosa: User, study: Study) -> None:
    response = say(signed_in(ada), in_hand, text="  The text is cut. ", broken=True)

    page = signed_in(rosa).get(address("inbox", study)).content.decode()
    study_page = signed_in(rosa).get(address("study", study)).content.decode()
    comment = Comment.objects.get()
    assert response.status_code == 200
    assert (comment.text, comment.broken, comment.rater.user, comment.study) == ("The text is cut.", True, ada, study)
    assert "The text is cut." in page
    assert "1 waiting" in study_page


def test_the_same_words_twice_are_one_comment(in_hand: Assignment, ada: User) -> None:
    for _ in range(2):
        say(signed_in(ada), in_hand, text="Odd.")

    assert Comment.objects.count() == 1


@pytest.mark.parametrize(
    ("comment", "status"),
    [
        ({}, 422),
        ({"text": "   "}, 422),
        ({"text": "x" * 5_001}, 422),
        ({"text": 7}, 400),
        ({"text": "a\x00b"}, 400),
        ({"item": "x"}, 400),
        ({"item": None}, 400),
        ({"item": 2**70, "text": "Odd."}, 400),
        ({"item": 999_999, "text": "Odd."}, 404),
    ],
)
def test_what_is_no_comment_is_refused(in_hand: Assignment, ada: User, comment: dict[str, object], status: int) -> None:
    response = say(signed_in(ada), in_hand, **comment)

    assert response.status_code == status
    assert not Comment.objects.exists()


@pytest.mark.parametrize("body", ["[]", "no json", "7", "null"])
def test_what_is_no_json_object_is_refused(in_hand: Assignment, ada: User, body: str) -> None:
    response = signed_in(ada).post(
        reverse("annotate:comment", args=[in_hand.pk]), body, content_type="application/json"
    )

    assert response.status_code == 400


def test_nobody_comments_on_what_is_not_in_their_hands(in_hand: Assignment, ben: User, study: Study) -> None:
    rater_of(ben)

    assert say(signed_in(ben), in_hand, text="Odd.").status_code == 404


def test_without_javascript_a_form_does_it(in_hand: Assignment, ada: User) -> None:
    item = in_hand.asked.order_by("position")[0].item_id

    response = signed_in(ada).post(
        reverse("annotate:comment", args=[in_hand.pk]), {"item": item, "text": "Odd.", "broken": "1"}, follow=True
    )

    assert "The researcher will read it" in response.content.decode()
    assert Comment.objects.get().broken


def test_handling_and_taking_up_again(in_hand: Assignment, ada: User, rosa: User, study: Study) -> None:
    comment = comment_on(item=first_item(study), rater=ada.rater, text="Odd.", at=now())
    client = signed_in(rosa)

    client.post(address("comment_handled", study, comment.pk))
    comment.refresh_from_db()
    handled_by = comment.handled_by
    waiting = client.get(address("inbox", study)).content.decode()
    handled = client.get(address("inbox", study), {"show": "handled"}).content.decode()
    piece = client.post(address("comment_waiting", study, comment.pk), headers={"HX-Request": "true"})

    comment.refresh_from_db()
    assert handled_by == rosa
    assert "No comments are waiting" in waiting
    assert "Odd." in handled
    assert comment.handled_at is None
    assert "<html" not in piece.content.decode()
    assert "Mark as handled" in piece.content.decode()


def test_the_inbox_filters_by_person_and_broken(
    in_hand: Assignment, ada: User, ben: User, rosa: User, study: Study
) -> None:
    item = first_item(study)
    comment_on(item=item, rater=ada.rater, text="Only words.", at=now())
    comment_on(item=item, rater=rater_of(ben), text="Cut off.", broken=True, at=now())
    client = signed_in(rosa)

    of_ben = client.get(address("inbox", study), {"by": "ben"}).content.decode()
    broken = client.get(address("inbox", study), {"broken": "on", "show": "nonsense"}).content.decode()

    assert "Cut off." in of_ben
    assert "Only words." not in of_ben
    assert "Only words." not in broken


def test_broken_items_stand_by_how_many_say_so(in_hand: Assignment, ada: User, ben: User, study: Study) -> None:
    first, second, *_ = study.items.order_by("pk")
    comment_on(item=first, rater=ada.rater, broken=True, at=now())
    for user in (ada, ben):
        comment_on(item=second, rater=rater_of(user), broken=True, at=now())
    comment_on(item=second, rater=ada.rater, text="Twice.", broken=True, at=now())

    assert [(one.item, one.people) for one in broken_items(study)] == [(second, 2), (first, 1)]


def test_the_inbox_takes_as_many_queries_however_much_is_said(
    in_hand: Assignment, ada: User, rosa: User, study: Study, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(70):
        comment_on(item=first_item(study), rater=ada.rater, text=f"{number}", broken=number % 2 == 0, at=now())
    client = signed_in(rosa)

    with django_assert_max_num_queries(10):
        page = client.get(address("inbox", study)).content.decode()

    assert "1–50 of 70" in page


# --- The API ---------------------------------------------------------------------------------------


def test_comments_are_listed_by_the_api(in_hand: Assignment, ada: User, rosa: User, study: Study) -> None:
    comment_on(item=first_item(study), rater=ada.rater, text="Only words.", at=NOON)
    comment_on(item=first_item(study), rater=ada.rater, text="Cut off.", broken=True, at=now())
    client = signed_in(rosa)

    everything = client.get(f"/api/v1/studies/{study.name}/comments/").json()["results"]
    broken = client.get(f"/api/v1/studies/{study.name}/comments/", {"broken": "true"}).json()["results"]

    assert [row["text"] for row in everything] == ["Cut off.", "Only words."]
    assert [(row["rater"], row["text"]) for row in broken] == [("ada", "Cut off.")]
