"""Replies to comments: the researcher's, and the assessor's to these."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import Exists, Max, OuterRef, QuerySet
from django.utils.translation import gettext

from annotate.notices.notices import Kind, notify
from annotate.quality.inbox import NothingSaid, handle, refuse_too_long, take_up_again
from collection.models import Comment, CommentReply, User

# So many comments with replies are shown on My work.
MOST = 10


@transaction.atomic
def reply_to(*, comment: Comment, by: User, text: str, by_rater: bool = False, at: datetime) -> CommentReply:
    """Answer a comment. A researcher's reply handles it and its rater is told; the rater's lets it wait again.

    The same words again, where they were the last, are the same reply. Raises NothingSaid and TooLong.
    """
    text = text.strip()
    if not text:
        raise NothingSaid(gettext("Enter a reply."))
    refuse_too_long(text)
    comment = Comment.objects.select_for_update(of=("self",)).select_related("rater", "study").get(pk=comment.pk)
    last = comment.replies.last()
    if last and (last.text, last.by_rater, last.author_id) == (text, by_rater, by.pk):
        return last
    reply = CommentReply.objects.create(comment=comment, author=by, by_rater=by_rater, text=text, made_at=at)
    read_replies(comment=comment, by_rater=by_rater, at=at)
    if by_rater:
        take_up_again(comment=comment)
    else:
        handle(comment=comment, by=by, at=at)
        if comment.rater.user_id:
            notify([comment.rater.user_id], study=comment.study, kind=Kind.REPLY, at=at)
    return reply


def read_replies(*, comment: Comment, by_rater: bool, at: datetime) -> None:
    """Note that one side has read what the other replied."""
    comment.replies.filter(by_rater=not by_rater, read_at=None).update(read_at=at)


def replied_to(user: User) -> QuerySet[Comment]:
    """Return the person's comments that were replied to, those with the newest reply first."""
    unread = CommentReply.objects.filter(comment=OuterRef("pk"), by_rater=False, read_at=None)
    comments = Comment.objects.filter(rater__user=user, replies__isnull=False).annotate(
        last_reply_at=Max("replies__made_at"), unread=Exists(unread)
    )
    return comments.select_related("study", "item").prefetch_related("replies").order_by("-last_reply_at", "-pk")[:MOST]
