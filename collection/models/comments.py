"""What is noted of items beside their grades: comments of raters, changed pages, and signs in their texts."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from collection.models.people import Rater
from collection.models.studies import Item, Study


class Comment(models.Model):
    """A rater's words to the researcher about an item, or about the study where there is none.

    `broken` says that the item cannot be judged: its text is garbled, its question makes no sense. It
    waits in the researcher's inbox until it is handled.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="comments")
    item = models.ForeignKey(Item, null=True, blank=True, on_delete=models.CASCADE, related_name="comments")
    rater = models.ForeignKey(Rater, on_delete=models.PROTECT, related_name="comments")
    text = models.TextField(blank=True)
    broken = models.BooleanField(default=False)
    whole_task = models.BooleanField(
        default=False, help_text="Whether it is about the task that begins with the item, and not about the item alone."
    )
    made_at = models.DateTimeField()
    handled_at = models.DateTimeField(null=True, blank=True)
    handled_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["-made_at", "-pk"]
        constraints = [models.CheckConstraint(condition=~Q(text="") | Q(broken=True), name="a_comment_says_something")]

    def __str__(self) -> str:
        return self.text or "broken"


class CommentReply(models.Model):
    """An answer to a comment: of a researcher, or of the comment's rater to one of theirs.

    `read_at` is when the other side said that they read it.
    """

    comment = models.ForeignKey(Comment, on_delete=models.CASCADE, related_name="replies")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    by_rater = models.BooleanField(default=False, help_text="Whether the comment's rater answers back.")
    text = models.TextField()
    made_at = models.DateTimeField()
    read_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["made_at", "pk"]
        verbose_name_plural = "comment replies"
        constraints = [models.CheckConstraint(condition=~Q(text=""), name="a_reply_says_something")]

    def __str__(self) -> str:
        return self.text


class ChangedPage(models.Model):
    """That the rater chose something about the item on a page whose texts were not those that are stored.

    A browser had translated it, say, or an extension had put words in. No span was taken from such a page.
    """

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="changed_pages")
    rater = models.ForeignKey(Rater, on_delete=models.CASCADE, related_name="+")
    noted_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["item", "rater"], name="a_changed_page_is_noted_once")]

    def __str__(self) -> str:
        return f"{self.item}, changed before {self.rater}"


class TextFlag(models.Model):
    """A sign in an item's text, found when a judge was to grade it. It changes no grade."""

    class Kind(models.TextChoices):
        ADDRESSES = "addresses", "addresses the judge"
        MARKUP = "markup", "contains prompt markup"
        STUFFED = "stuffed", "repeats the question"

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="text_flags")
    kind = models.CharField(max_length=9, choices=Kind)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["item", "kind"], name="one_flag_of_a_kind")]

    def __str__(self) -> str:
        return f"{self.item}: {self.get_kind_display()}"
