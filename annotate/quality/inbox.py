"""Comments and “this item is broken”: from the assessor's screen to the researcher's inbox."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from django.db import transaction
from django.db.models import Count, Max, QuerySet
from django.utils.translation import gettext

from collection.languages.numbers import grouped
from collection.models import Comment, Item, Rater, Study, User

LONGEST = 5_000

Show = Literal["waiting", "handled", "all"]


class NothingSaid(ValueError):
    """A comment has words, or says that the item is broken."""


class TooLong(ValueError):
    """The comment is longer than anybody reads."""


def refuse_too_long(text: str) -> None:
    """Raise TooLong for a comment or a reply of more than LONGEST characters."""
    if len(text) > LONGEST:
        most, n = grouped(LONGEST), grouped(len(text))
        raise TooLong(gettext("At most {longest} characters; this has {n}.").format(longest=most, n=n))


@transaction.atomic
def comment_on(*, item: Item, rater: Rater, text: str = "", broken: bool = False, at: datetime) -> Comment:
    """Keep what a rater says about an item. The same words again, while they wait, are the same comment.

    Raises NothingSaid and TooLong.
    """
    text = text.strip()
    if not text and not broken:
        raise NothingSaid(gettext("Enter a comment, or mark the item as broken."))
    refuse_too_long(text)
    Rater.objects.select_for_update().get(pk=rater.pk)  # of two sendings at once one waits, then finds the other
    same = {"study_id": item.study_id, "item": item, "rater": rater, "text": text, "broken": broken}
    comment, _ = Comment.objects.get_or_create(**same, handled_at=None, defaults={"made_at": at})
    return comment


def handle(*, comment: Comment, by: User, at: datetime) -> None:
    """Put the comment away. One that is handled already keeps who did it first."""
    Comment.objects.filter(pk=comment.pk, handled_at=None).update(handled_at=at, handled_by=by)


def take_up_again(*, comment: Comment) -> None:
    """Let the comment wait in the inbox again."""
    Comment.objects.filter(pk=comment.pk).update(handled_at=None, handled_by=None)


def waiting_in(study: Study) -> int:
    """Count the comments that nobody has handled."""
    return Comment.objects.filter(study=study, handled_at=None).count()


def comments_of(study: Study, *, show: Show = "waiting", broken: bool = False, by: str = "") -> QuerySet[Comment]:
    """Return the study's comments, the newest first: of one person (a username), and on broken items, if wished."""
    comments = Comment.objects.filter(study=study).select_related("item", "rater__user", "handled_by")
    comments = comments.prefetch_related("replies__author")
    if show != "all":
        comments = comments.filter(handled_at__isnull=show == "waiting")
    if broken:
        comments = comments.filter(broken=True)
    if by:
        comments = comments.filter(rater__user__username=by)
    return comments.order_by("-made_at", "-pk")


@dataclass(frozen=True)
class BrokenItem:
    """An item that people called broken, and how many of them."""

    item: Item
    people: int
    last_at: datetime


def broken_items(study: Study, *, most: int = 20) -> list[BrokenItem]:
    """Return the items that wait as broken, those that most people called so first."""
    rows = list(
        Comment.objects.filter(study=study, broken=True, handled_at=None, item__isnull=False)
        .order_by()
        .values("item")
        .annotate(people=Count("rater", distinct=True), last_at=Max("made_at"))
        .order_by("-people", "-last_at")[:most]
    )
    items = Item.objects.in_bulk([row["item"] for row in rows])
    return [BrokenItem(items[row["item"]], row["people"], row["last_at"]) for row in rows]
