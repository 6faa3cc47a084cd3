"""Nugget banks: versions of what a good answer to each topic holds, with the nuggets' answers and references.

What is judged is the RubricElement, whose text never changes: an edited nugget is another element, which replaces it.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from collection.models.texts import Collection, RubricElement


class VersionChanged(Exception):
    """Somebody tried to change a version of a bank, which figures may rest on."""


class NuggetBank(models.Model):
    """A named bank of a collection. What it holds stands in its versions; the newest counts."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="nugget_banks")
    name = models.SlugField(max_length=100)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["collection", "name"], name="one_nugget_bank_per_name")]

    def __str__(self) -> str:
        return self.name


class BankVersion(models.Model):
    """A bank as it was at one time, of all its topics. It is never changed.

    `attributes`: `format` names the files that it came in with, `topics` has what such a file says of a topic besides.
    """

    bank = models.ForeignKey(NuggetBank, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField(help_text="Counted from 1 within the bank.")
    made_at = models.DateTimeField()
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    note = models.CharField(max_length=500, blank=True)
    attributes = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["bank_id", "-number"]
        constraints = [models.UniqueConstraint(fields=["bank", "number"], name="one_bank_version_per_number")]

    def __str__(self) -> str:
        return f"version {self.number} of {self.bank}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Store a new version. Raises VersionChanged for one that is stored."""
        if self.pk is not None:
            raise VersionChanged(f"Version {self.number} does not change. Make another one.")
        super().save(*args, **kwargs)


class BankEntry(models.Model):
    """A nugget in a version of a bank, with its importance and weight there; below `parent`, a sub-nugget."""

    version = models.ForeignKey(BankVersion, on_delete=models.CASCADE, related_name="entries")
    element = models.ForeignKey(RubricElement, on_delete=models.CASCADE, related_name="bank_entries")
    parent = models.ForeignKey("self", null=True, blank=True, on_delete=models.CASCADE, related_name="sub_entries")
    position = models.PositiveIntegerField(help_text="Counted from 0 within the version and topic.")
    importance = models.CharField(max_length=5, choices=RubricElement.Importance, blank=True)
    weight = models.FloatField(null=True, blank=True)
    attributes = models.JSONField(default=dict, blank=True, help_text="What the file says of it besides.")

    class Meta:
        ordering = ["version_id", "element__topic_id", "position"]
        verbose_name_plural = "bank entries"
        constraints = [
            models.UniqueConstraint(fields=["version", "element"], name="a_nugget_is_in_a_version_once"),
        ]

    def __str__(self) -> str:
        return str(self.element)


class NuggetAnswer(models.Model):
    """An answer to the question that a nugget is: a right one, or a wrong one that no report should give."""

    element = models.ForeignKey(RubricElement, on_delete=models.CASCADE, related_name="answers")
    position = models.PositiveIntegerField(help_text="Counted from 0 within the nugget.")
    text = models.TextField()
    importance = models.CharField(max_length=5, choices=RubricElement.Importance, blank=True)
    right = models.BooleanField(default=True)
    creator = models.JSONField(null=True, blank=True, help_text="Who made it, as its file says.")
    attributes = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["element_id", "position"]
        constraints = [models.UniqueConstraint(fields=["element", "position"], name="one_nugget_answer_per_position")]

    def __str__(self) -> str:
        return self.text


class NuggetReference(models.Model):
    """Where a document says what a nugget, or one of its answers, says. The document's text may not be held here.

    `start` and `end` count code points, end-exclusive; `encoding` names what its file counted. Where a file counts
    something else and the text is not held here, its offsets stand in the `attributes` as they came.
    """

    class Encoding(models.TextChoices):
        CODE_POINTS = "", "code points"
        UTF8 = "utf-8", "bytes of UTF-8"
        UTF16 = "utf-16", "units of UTF-16"

    element = models.ForeignKey(RubricElement, on_delete=models.CASCADE, related_name="references")
    answer = models.ForeignKey(NuggetAnswer, null=True, blank=True, on_delete=models.CASCADE, related_name="references")
    position = models.PositiveIntegerField(help_text="Counted from 0 within the nugget, over all its answers.")
    docno = models.CharField(max_length=300)
    start = models.PositiveIntegerField(null=True, blank=True)
    end = models.PositiveIntegerField(null=True, blank=True)
    quote = models.TextField(blank=True)
    encoding = models.CharField(max_length=6, choices=Encoding, blank=True)
    quality = models.JSONField(null=True, blank=True)
    creator = models.JSONField(null=True, blank=True)
    attributes = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["element_id", "position"]
        constraints = [
            models.CheckConstraint(
                condition=Q(start__isnull=True, end__isnull=True) | Q(start__lte=F("end")),
                name="a_nugget_reference_ends_behind_its_start",
            ),
            models.UniqueConstraint(fields=["element", "position"], name="one_nugget_reference_per_position"),
        ]

    def __str__(self) -> str:
        return self.quote or self.docno
