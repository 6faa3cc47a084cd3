"""Where texts of documents come from that a collection names by id alone, and what came of fetching them."""

from __future__ import annotations

from django.db import models

from collection.models.texts import Collection


class DocumentSource(models.Model):
    """The source of a collection's missing texts, and how far fetching them all is.

    `sealed` is the key for an HTTP server, encrypted. `generation` counts how often a worker was asked: one that was
    given up for another changes nothing any more. What was tried since `started_at` is not tried again.
    """

    class Kind(models.TextChoices):
        IR_DATASETS = "ir_datasets", "ir_datasets"
        HTTP = "http", "HTTP server"
        FOLDER = "folder", "folder on the server"

    class State(models.TextChoices):
        IDLE = "idle", "not started"
        FETCHING = "fetching", "fetching"
        PAUSED = "paused", "paused"
        DONE = "done", "finished"

    collection = models.OneToOneField(Collection, on_delete=models.CASCADE, related_name="document_source")
    kind = models.CharField(max_length=11, choices=Kind)
    address = models.CharField(max_length=500, help_text="The id of a dataset, an address with {id}, or a folder.")
    text_field = models.CharField(max_length=200, blank=True)
    title_field = models.CharField(max_length=200, blank=True)
    sealed = models.TextField(blank=True, editable=False)
    depth = models.PositiveIntegerField(default=10, help_text="How many passages of each ranking are fetched.")
    state = models.CharField(max_length=8, choices=State, default=State.IDLE)
    generation = models.PositiveIntegerField(default=0)
    started_at = models.DateTimeField(null=True, blank=True)
    heard_of_at = models.DateTimeField(
        null=True, blank=True, help_text="When it was asked for, or a worker last said something."
    )
    problem = models.TextField(blank=True, help_text="Why it paused by itself.")

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.address}"


class DocumentFetch(models.Model):
    """What came of fetching one document: the origin of its text, and what went wrong the last time, if anything.

    `sha256` is of the bytes that came, for documents of ir_datasets of the text; the text's own is its passage's.
    """

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="document_fetches")
    passage_id = models.CharField(max_length=300)
    source = models.CharField(max_length=600, blank=True, help_text="Where its text came from; empty: none came.")
    sha256 = models.CharField(max_length=64, blank=True)
    fetched_at = models.DateTimeField(null=True, blank=True)
    tried_at = models.DateTimeField()
    problem = models.TextField(blank=True)

    class Meta:
        ordering = ["collection_id", "passage_id"]
        constraints = [models.UniqueConstraint(fields=["collection", "passage_id"], name="one_fetch_of_a_document")]

    def __str__(self) -> str:
        return self.passage_id


class SourceTurn(models.Model):
    """Whose turn it is to ask a source: one worker at a time. `held_until` lies ahead as long as its holder lives."""

    source = models.CharField(max_length=300, unique=True, help_text="A server, a folder or a package.")
    holder = models.CharField(max_length=32, blank=True)
    held_until = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return self.source
