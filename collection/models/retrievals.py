"""Runs that are made here: what was asked for, how far it is, and what came of it."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from collection.models.texts import Collection, Run


class RetrievalQuerySet(models.QuerySet["Retrieval"]):
    def at_work(self) -> RetrievalQuerySet:
        """Those that a worker was asked for and that are not over."""
        return self.filter(state=Retrieval.State.AT_WORK)


class Retrieval(models.Model):
    """One ranking of a collection's passages for its topics, which becomes a run.

    `generation` counts how often a worker was asked: one that was given up for another changes nothing any more.
    `outcome` counts what was ranked, and what could not be.
    """

    class Method(models.TextChoices):
        BM25 = "bm25", "BM25"
        DENSE = "dense", "dense"

    class State(models.TextChoices):
        AT_WORK = "at work", "at work"
        DONE = "done", "finished"
        FAILED = "failed", "failed"
        STOPPED = "stopped", "stopped"

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="retrievals")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    method = models.CharField(max_length=5, choices=Method)
    run_name = models.CharField(max_length=200)
    options = models.JSONField(default=dict)
    run = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="+")
    state = models.CharField(max_length=7, choices=State, default=State.AT_WORK)
    generation = models.PositiveIntegerField(default=1)
    n_begun = models.PositiveIntegerField(default=0, help_text="How often a worker began.")
    n_done = models.PositiveBigIntegerField(default=0, help_text="Passages that were read.")
    n_all = models.PositiveBigIntegerField(default=0)
    outcome = models.JSONField(default=dict)
    problem = models.TextField(blank=True, help_text="Why nothing came of it.")
    asked_at = models.DateTimeField()
    heard_of_at = models.DateTimeField(help_text="When it was asked for, or a worker last said something.")
    ended_at = models.DateTimeField(null=True)

    objects = RetrievalQuerySet.as_manager()

    class Meta:
        ordering = ["-asked_at", "-pk"]

    def __str__(self) -> str:
        return self.run_name
