"""Judgments: narrow, so that ten million of them are read quickly. Wide things stand beside them.

Nothing that is deleted takes judgments with it: they protect what they are about.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from collection.models.comments import ChangedPage
from collection.models.people import Rater
from collection.models.studies import Criterion, Guideline, Item, Study


class JudgmentQuerySet(models.QuerySet["Judgment"]):
    def of_study(self, study: Study) -> JudgmentQuerySet:
        """Every current judgment of the study, by people and by judges."""
        return self.filter(criterion__in=list(study.criteria.values_list("id", flat=True)))

    def without_the_excluded(self) -> JudgmentQuerySet:
        """Leave out raters whom the researcher excluded from the study's statistics."""
        excluded = Exclusion.objects.filter(
            study=models.OuterRef("criterion__study"), rater=models.OuterRef("rater"), lifted_at=None
        )
        return self.filter(~models.Exists(excluded))

    def with_changed_pages(self) -> JudgmentQuerySet:
        """Add `page_changed`: whether its rater chose something on a page with other words than those stored."""
        changed = ChangedPage.objects.filter(item=models.OuterRef("item"), rater=models.OuterRef("rater"))
        return self.annotate(page_changed=models.Exists(changed))

    def graded(self) -> JudgmentQuerySet:
        """Leave out the ungraded. Whoever does this counts and shows what was left out."""
        return self.filter(grade__isnull=False)


class Judgment(models.Model):
    """A rater's current grade of an item under a criterion.

    `grade` is null exactly when `ungraded` says why there is none: a judge's reply that could not be
    read, say. It is then counted, and never becomes 0.
    """

    class Ungraded(models.TextChoices):
        UNREADABLE = "unreadable", "unreadable"
        REFUSED = "refused", "refused"
        CUT_OFF = "cut_off", "cut off"
        TOO_LONG = "too_long", "too long"
        ENGINE_ERROR = "engine_error", "engine error"
        UNDECIDED = "undecided", "undecided"

    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="judgments")
    criterion = models.ForeignKey(Criterion, on_delete=models.PROTECT, related_name="judgments", db_index=False)
    rater = models.ForeignKey(Rater, on_delete=models.PROTECT, related_name="judgments")
    grade = models.FloatField(null=True)
    ungraded = models.CharField(max_length=12, choices=Ungraded, blank=True)
    judged_at = models.DateTimeField()
    seconds = models.FloatField(null=True, help_text="Active time spent on it.")
    guideline = models.ForeignKey(Guideline, null=True, on_delete=models.PROTECT, related_name="+", db_index=False)
    unsure = models.BooleanField(
        default=False, db_default=False, help_text="Whether its assessor said that they are not sure of the grade."
    )

    objects = JudgmentQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["criterion", "item", "rater"], name="one_judgment_per_rater"),
            models.CheckConstraint(
                condition=Q(grade__isnull=True) ^ Q(ungraded=""), name="ungraded_says_why_there_is_no_grade"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.item} / {self.criterion} / {self.rater}"


class EarlierJudgment(models.Model):
    """A judgment as it was before it was changed or withdrawn. Never changed, never deleted by a service."""

    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="earlier_judgments")
    criterion = models.ForeignKey(Criterion, on_delete=models.PROTECT, related_name="+")
    rater = models.ForeignKey(Rater, on_delete=models.PROTECT, related_name="+")
    grade = models.FloatField(null=True)
    ungraded = models.CharField(max_length=12, blank=True)
    judged_at = models.DateTimeField()
    seconds = models.FloatField(null=True)
    guideline = models.ForeignKey(Guideline, null=True, on_delete=models.PROTECT, related_name="+")
    unsure = models.BooleanField(default=False, db_default=False)
    highlights = models.JSONField(default=list)
    answer = models.TextField(blank=True, help_text="The written answer, where there was one.")
    replaced_at = models.DateTimeField()
    reason = models.CharField(max_length=100, blank=True)

    def __str__(self) -> str:
        return f"{self.item} / {self.criterion} / {self.rater} until {self.replaced_at}"


class Highlight(models.Model):
    """A span of the judged text that supports a judgment.

    `start` and `end` count Unicode code points of the stored text, end-exclusive; `text_sha256` is the
    hash of that text. Both are null for an imported quote that stands nowhere in the text, or in
    several places.
    """

    class Purpose(models.TextChoices):
        SUPPORT = "support", "supports the answer"
        RATIONALE = "rationale", "explains the grade"

    judgment = models.ForeignKey(Judgment, on_delete=models.CASCADE, related_name="highlights")
    purpose = models.CharField(max_length=9, choices=Purpose, default=Purpose.SUPPORT)
    start = models.PositiveIntegerField(null=True)
    end = models.PositiveIntegerField(null=True)
    quote = models.TextField()
    text_sha256 = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(start__isnull=True, end__isnull=True) | Q(start__lt=F("end")),
                name="a_highlight_is_not_empty",
            ),
        ]

    def __str__(self) -> str:
        return self.quote

    def as_dict(self) -> dict[str, Any]:
        """Return what files and pages need of it."""
        return {
            "purpose": self.purpose,
            "start": self.start,
            "end": self.end,
            "quote": self.quote,
            "text_sha256": self.text_sha256,
        }


class CopiedGrade(models.Model):
    """That a judgment's grade was not asked anew: its rater had given it at `source`, about the same rubric element."""

    judgment = models.OneToOneField(Judgment, on_delete=models.CASCADE, related_name="copied")
    source = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="+")

    def __str__(self) -> str:
        return f"{self.judgment}, as at {self.source}"


class WrittenAnswer(models.Model):
    """The answer that an assessor wrote, beside the judgment that says how complete it is.

    The sentences it was made of are the judgment's highlights.
    """

    judgment = models.OneToOneField(Judgment, on_delete=models.CASCADE, related_name="answer")
    text = models.TextField()
    confirmations = models.JSONField(default=list, help_text="Names of what the writer confirmed before sending it.")
    attributes = models.JSONField(default=dict, blank=True, help_text="What an imported file says of it besides.")

    def __str__(self) -> str:
        return self.text


class PairOrder(models.Model):
    """One order in which a rater saw a pair, and what they preferred in it.

    `swapped`: the item's `other_report` stood first (for people: on the left). `grade` is on the criterion's
    scale and about the item, whichever stood first: 1 prefers `report`, −1 `other_report`, 0 neither; None is
    ungraded. People see a pair in one order; a judge is asked in one or in both.
    """

    judgment = models.ForeignKey(Judgment, on_delete=models.CASCADE, related_name="orders")
    swapped = models.BooleanField()
    grade = models.FloatField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["judgment", "swapped"], name="a_pair_is_seen_once_in_an_order")]

    def __str__(self) -> str:
        return f"{self.judgment}, {'swapped' if self.swapped else 'as it is'}"


class Exclusion(models.Model):
    """That a rater's judgments are left out of a study's statistics, and why. Labels stay in place."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="exclusions")
    rater = models.ForeignKey(Rater, on_delete=models.PROTECT, related_name="exclusions")
    reason = models.TextField()
    excluded_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    excluded_at = models.DateTimeField()
    lifted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["study", "rater"], condition=Q(lifted_at__isnull=True), name="one_exclusion_in_force"
            )
        ]

    def __str__(self) -> str:
        return f"{self.rater} is excluded from {self.study}"


class AnswerToRevise(models.Model):
    """An answer of round 1 as its second reader sees it, whatever becomes of it later.

    `item` is what the second reader judges; `answered` is the item that the writer answered. `spans` are the
    sentences that the answer is made of: `{"start", "end", "quote"}`, in code points of the passage.
    """

    item = models.OneToOneField(Item, on_delete=models.CASCADE, related_name="answer_to_revise")
    answered = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="answers_to_revise")
    writer = models.ForeignKey(Rater, on_delete=models.PROTECT, related_name="+")
    text = models.TextField()
    spans = models.JSONField(default=list)
    handed_on_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "answers to revise"
        constraints = [models.UniqueConstraint(fields=["answered", "writer"], name="an_answer_is_revised_as_one_item")]

    def __str__(self) -> str:
        return self.text
