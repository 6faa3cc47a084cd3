"""Prompt templates."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q


class PromptTemplate(models.Model):
    """One version of a prompt, with the rule by which its replies are read. Immutable: known by its hash."""

    class ReplyWith(models.TextChoices):
        VALUE = "value", "the grade's number"
        NAME = "name", "the grade's name"
        OWN = "own", "words of the template’s own"

    class ReplyRule(models.TextChoices):
        FIRST_LINE = "first_line", "the first line is the grade"
        LAST_LINE = "last_line", "the last line is the grade"
        MARKED_LINE = "marked_line", "one line begins with a mark, and the grade follows"
        LIKELIEST = "likeliest", "the reply that the model finds likeliest, by its log-probabilities"

    name = models.SlugField(max_length=100)
    version = models.PositiveSmallIntegerField()
    task_type = models.CharField(max_length=50, help_text="The name of a task type.")
    criterion_name = models.SlugField(max_length=50, help_text="The criterion it grades.")
    system_text = models.TextField(blank=True)
    text = models.TextField(help_text="With placeholders: {request}, {question}, {text}, {grades}, …")
    reply_with = models.CharField(max_length=5, choices=ReplyWith, default=ReplyWith.VALUE)
    replies = models.JSONField(
        default=list, blank=True, help_text="Its own words with the grade of each: [[“yes”, 1], [“neutral”, 0], …]."
    )
    reply_rule = models.CharField(max_length=11, choices=ReplyRule, default=ReplyRule.FIRST_LINE)
    reply_mark = models.CharField(max_length=100, blank=True, help_text="What the line with the grade begins with.")
    reply_tokens = models.PositiveIntegerField(
        null=True, help_text="How long a reply may be that says more than its grade; none: it is the grade alone."
    )
    orders = models.PositiveSmallIntegerField(
        default=1, help_text="2: a pair is asked twice, the second time with the texts changed over."
    )
    cut_text_at = models.PositiveIntegerField(
        null=True, help_text="Code points after which a judged text is cut; none: never cut, too long is ungraded."
    )
    example_text = models.TextField(blank=True, help_text="How one example is written where {examples} stands.")
    source = models.TextField(blank=True, help_text="The method it follows, with a reference.")
    content_hash = models.CharField(max_length=64, unique=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "-version"]
        constraints = [
            models.UniqueConstraint(fields=["name", "version"], name="one_template_per_version"),
            models.CheckConstraint(condition=Q(orders__in=[1, 2]), name="a_pair_is_asked_in_one_or_both_orders"),
        ]

    def __str__(self) -> str:
        return f"{self.name} v{self.version}"
