"""The test collection: topics, rubric elements, passages, systems, runs and their reports.

Texts never change after import: highlights count code points in them. A text is kept as it came,
never normalised, with the SHA-256 of its UTF-8 bytes beside it.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q


class TextChanged(Exception):
    """Somebody tried to save another text in the place of one that may carry highlights."""


def text_hash(text: str) -> str:
    """Return the SHA-256 of the text's UTF-8 bytes, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*")


class CollectionQuerySet(models.QuerySet["Collection"]):
    def of(self, user: Any) -> CollectionQuerySet:
        """Collections that this user made or was invited to, as long as they are a researcher."""
        if not getattr(user, "is_researcher", False):
            return self.none()
        return self.filter(
            Q(owner=user) | Q(pk__in=Collection.researchers.through.objects.filter(user=user).values("collection"))
        )


class Collection(models.Model):
    """A test collection, with the researchers who may see and change it."""

    name = models.SlugField(max_length=100, unique=True)
    title = models.CharField(max_length=200, blank=True)
    description = models.TextField(blank=True)
    licence = models.CharField(max_length=200, blank=True)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="owned_collections")
    researchers = models.ManyToManyField(settings.AUTH_USER_MODEL, blank=True, related_name="shared_collections")
    created_at = models.DateTimeField(auto_now_add=True)
    attributes = models.JSONField(default=dict, blank=True)

    objects = CollectionQuerySet.as_manager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.title or self.name


class Topic(models.Model):
    """An information need."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="topics")
    topic_id = models.CharField(max_length=200)
    title = models.CharField(max_length=500, blank=True)
    request = models.TextField(help_text="The request or the question, as the systems got it.")
    attributes = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["collection", "topic_id"], name="one_topic_per_id")]

    def __str__(self) -> str:
        return self.title or self.topic_id

    @property
    def text(self) -> str:
        """What is read where the question itself is judged: the request."""
        return self.request

    @property
    def language(self) -> str:
        """The language of the request and of the texts about it (BCP 47), where its attributes name one."""
        named = str(self.attributes.get("language", ""))
        return named if LANGUAGE_TAG.fullmatch(named) else ""

    @property
    def background(self) -> str:
        """Who asks and why, or what counts as relevant (TREC's narrative), where its attributes say it."""
        said = self.attributes.get("background") or self.attributes.get("narrative")
        return said if isinstance(said, str) else ""


class RubricElement(models.Model):
    """What a good answer to the topic covers: a sub-question, a nugget or a key point."""

    class Kind(models.TextChoices):
        SUB_QUESTION = "sub_question", "sub-question"
        NUGGET = "nugget", "nugget"
        KEY_POINT = "key_point", "key point"

    class Importance(models.TextChoices):
        VITAL = "vital", "vital"
        OKAY = "okay", "okay"

    class Aggregator(models.TextChoices):
        AND = "and", "all of"
        OR = "or", "any of"
        NOT = "not", "none of"
        SUM = "sum", "the share of"

    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, related_name="rubric_elements")
    kind = models.CharField(max_length=12, choices=Kind)
    element_id = models.CharField(max_length=200)
    position = models.PositiveIntegerField(help_text="Counted from 0 within topic and kind.")
    text = models.TextField(blank=True)
    importance = models.CharField(max_length=5, choices=Importance, blank=True)
    weight = models.FloatField(null=True, blank=True, help_text="What it counts in a weighted rubric; may be negative.")
    aggregator = models.CharField(
        max_length=3, choices=Aggregator, blank=True, help_text="How its answers or its sub-nuggets become one."
    )
    group = models.CharField(max_length=300, blank=True, help_text="The axis or the sub-narrative that it belongs to.")
    replaces = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="replaced_by",
        help_text="The element that this one is an edit of.",
    )
    masked = models.BooleanField(default=False, help_text="Kept for its number, never asked.")
    masking = models.ForeignKey(
        "collection.Masking",
        null=True,
        blank=True,
        editable=False,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="The last decision about it; none where it is as it was imported.",
    )
    attributes = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["topic_id", "kind", "position"]
        constraints = [
            models.UniqueConstraint(fields=["topic", "kind", "element_id"], name="one_rubric_element_per_id"),
            models.CheckConstraint(condition=Q(masked=True) | ~Q(text=""), name="an_element_that_is_asked_has_text"),
        ]

    def __str__(self) -> str:
        return self.text or f"(masked) {self.element_id}"


class Passage(models.Model):
    """Any text that is judged or retrieved. `text` is null where only the id is held here."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="passages")
    passage_id = models.CharField(max_length=300, help_text="The docno of TREC files.")
    text = models.TextField(null=True)  # noqa: DJ001
    text_sha256 = models.CharField(max_length=64, blank=True, editable=False)
    title = models.CharField(max_length=500, blank=True)
    document_id = models.CharField(max_length=300, blank=True)
    translation = models.JSONField(
        default=dict,
        blank=True,
        help_text="Its text, its language, its maker, and whether that is a person or a model.",
    )
    attributes = models.JSONField(default=dict, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["collection", "passage_id"], name="one_passage_per_id")]

    def __str__(self) -> str:
        return self.passage_id

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save with the text's hash. Raises TextChanged if the stored text is another."""
        self.text_sha256 = "" if self.text is None else text_hash(self.text)
        refuse_a_changed_text(self)
        super().save(*args, **kwargs)


class ElementSpan(models.Model):
    """Where a passage says what a key point says: verbatim, in code points, end-exclusive."""

    element = models.ForeignKey(RubricElement, on_delete=models.CASCADE, related_name="spans")
    passage = models.ForeignKey(Passage, on_delete=models.CASCADE, related_name="element_spans")
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    quote = models.TextField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["element", "passage", "start", "end"], name="one_span_per_place"),
            models.CheckConstraint(condition=Q(start__lt=F("end")), name="an_element_span_is_not_empty"),
        ]

    def __str__(self) -> str:
        return self.quote


class System(models.Model):
    """What answers. `family` names the model family behind it, for self-preference audits."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="systems")
    name = models.CharField(max_length=200)
    family = models.CharField(max_length=100, blank=True)
    attributes = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["collection", "name"], name="one_system_per_name")]

    def __str__(self) -> str:
        return self.name


class Run(models.Model):
    """One submission of a system, with its rankings or its reports."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="runs")
    system = models.ForeignKey(System, on_delete=models.CASCADE, related_name="runs")
    name = models.CharField(max_length=200, help_text="The tag of TREC files.")
    made_from = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="makings",
        help_text="The run whose passages its reports were written from, or its passages were taken from.",
    )
    attributes = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["collection", "name"], name="one_run_per_name")]

    def __str__(self) -> str:
        return self.name


class Report(models.Model):
    """A system's long answer to a topic."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="reports")
    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, related_name="reports")
    text = models.TextField()
    text_sha256 = models.CharField(max_length=64, editable=False)
    attributes = models.JSONField(default=dict, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "topic"], name="one_report_per_run_and_topic")]

    def __str__(self) -> str:
        return f"{self.run} on {self.topic}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save with the text's hash. Raises TextChanged if the stored text is another."""
        self.text_sha256 = text_hash(self.text)
        refuse_a_changed_text(self)
        super().save(*args, **kwargs)


class RankedPassage(models.Model):
    """One line of a ranking. Its passage is named by docno, for its text may not be held here."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="ranking")
    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, related_name="ranking")
    passage_id = models.CharField(max_length=300)
    rank = models.PositiveIntegerField()
    score = models.FloatField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "topic", "passage_id"], name="a_run_ranks_a_passage_once")
        ]

    def __str__(self) -> str:
        return f"{self.passage_id} at {self.rank}"


def refuse_a_changed_text(row: Passage | Report) -> None:
    """Raise TextChanged if the row is stored with another text."""
    if row.pk is None:
        return
    stored = type(row)._default_manager.filter(pk=row.pk).values_list("text_sha256", flat=True).first()
    if stored and stored != row.text_sha256:
        raise TextChanged(f"The text of {row} does not change after import.")
